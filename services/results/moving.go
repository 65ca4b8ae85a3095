package results

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/services/results/internal/background"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/postgres/mover"
	"github.com/prism-results/prism/services/results/operator"
)

// errTokens is why a database has no direct URL of its own accord.
var errTokens = errors.New("a move needs direct_url or direct_url_file in PRISM_DATABASES_FILE: another database cannot connect with tokens of this workload")

// directURL is how moves connect to the database of a URL: by the direct URL that the file has now, else by the URL with its password.
func (c Config) directURL(url string, auth postgres.Auth) (string, error) {
	if c.direct != nil {
		if own := c.direct(); own != "" {
			return own, nil
		}
	}
	switch {
	case auth.Tokens != nil:
		return "", errTokens
	case auth.URL != nil:
		url = auth.URL.Secret()
	}
	if auth.Password != nil {
		return mover.WithPassword(url, auth.Password.Secret())
	}
	return url, nil
}

// forMoves is the database as a mover uses it.
func (db *database) forMoves() mover.Database { return mover.Database{Name: db.name, URL: db.direct} }

// move moves an account, or takes its move back.
func (p *several) move(ctx context.Context, m operator.Move) error {
	d := mover.Deps{Home: p.home().forMoves(), Learned: cmp.Or(m.Learned, mover.LearnedAfter), Tell: m.Tell}
	for _, db := range p.databases {
		if db.direct == nil {
			return errNotMoved
		}
		d.Databases = append(d.Databases, db.forMoves())
	}
	if m.TakeBack {
		return mover.TakeBack(ctx, d, m.Account)
	}
	return mover.Move(ctx, d, m.Account, m.To)
}

// errNotMoved is why nothing is moved.
var errNotMoved = errors.New("there is one database: PRISM_DATABASES_FILE names several, between which accounts move")

func (p alone) move(context.Context, operator.Move) error { return errNotMoved }

// moveLog measures how much of its log a database keeps for moves that may stand still, which fills its disk.
type moveLog struct {
	read  func(context.Context) (int64, error)
	log   *slog.Logger
	bytes prometheus.Gauge
}

// moveLogInterval is how often moveLog looks.
const moveLogInterval = 30 * time.Second

func newMoveLog(read func(context.Context) (int64, error), log *slog.Logger) *moveLog {
	return &moveLog{read, log, prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "prism_move_log_bytes",
		Help: "Bytes of the log that Postgres keeps for moves of accounts out of the database.",
	})}
}

// Measure implements worker.
func (m *moveLog) Measure(to prometheus.Registerer) error { return to.Register(m.bytes) }

// Run implements worker.
func (m *moveLog) Run(ctx context.Context) {
	background.Work{
		Name: "reading how much of the log moves keep",
		Do: func(ctx context.Context) (time.Duration, error) {
			bytes, err := m.read(ctx)
			if err == nil {
				m.bytes.Set(float64(bytes))
			}
			return moveLogInterval, err
		},
		AfterFailure: moveLogInterval,
		Log:          m.log,
	}.Run(ctx)
}
