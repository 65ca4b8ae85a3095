// Package postgres implements sqlstore.Store in Postgres, or in a database that speaks its protocol.
package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/singleflight"

	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/telemetry"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// The defaults of Config.
const (
	DefaultMaxConns      = 16
	DefaultAcquireWait   = 1500 * time.Millisecond
	DefaultStatementWait = 10 * time.Second
)

// connectTimeout bounds the opening of one connection.
const connectTimeout = 5 * time.Second

// attempts bounds how often a statement is sent that Postgres refuses to run concurrently with another one. Each refusal
// means that another statement succeeded, so only a fault reaches the bound.
const attempts = 8

// Config is the address of the database and the limits of its use.
type Config struct {
	// URL in any form that libpq takes. The fields below override pgx's pool parameters in the URL.
	URL string
	// MaxConns bounds the connections; DefaultMaxConns if 0.
	MaxConns int
	// AcquireWait bounds how long a call waits for a connection, new or idle; DefaultAcquireWait if 0, which is less than
	// callers wait (contract.ResultsWait). After it the call fails with store.ErrUnavailable, and has changed nothing. The
	// pool pings a connection that was idle for a second before use, so AcquireWait also bounds the wait for a server that
	// hangs.
	AcquireWait time.Duration
	// StatementWait bounds each statement, even if its caller would wait longer; DefaultStatementWait if 0. Without it, a
	// server that took a statement and then hangs would block the caller and the connection for ever.
	StatementWait time.Duration
	// Auth is where new connections get their credentials instead of the URL. Optional.
	Auth Auth
	// SynchronousCommit is the setting of Postgres for each connection. If empty, the server's own setting counts, but at
	// least "on".
	SynchronousCommit string
	// Layout is how the rows of accounts lie; One if empty.
	Layout Layout
}

// Deps are optional.
type Deps struct {
	// Tracer makes a span for each statement, with its text and without its parameters.
	Tracer trace.TracerProvider
}

// Store is a sqlstore.Store in Postgres.
type Store struct {
	sqlstore.Statements
	database *database
}

// database executes the statements of package sqlstore.
type database struct {
	pool          *pgxpool.Pool
	places        places
	layout        Layout
	auth          Auth
	acquireWait   time.Duration
	statementWait time.Duration
	reads, saves  *batches
	lookUps       sync.Map           // lookUps for each look-up, by its text
	keys          *accountsOfKeys    // nil but for Citus
	savesUnderWay singleflight.Group // by the id of the result
	replicated    atomic.Bool        // Postgres has a synchronous standby
}

// Open creates a store and connects to nothing: a database that is down now may be up when it is needed.
func Open(ctx context.Context, cfg Config, deps Deps) (*Store, error) {
	config, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err) // pgx takes the password out
	}
	config.MaxConns = int32(cmp.Or(cfg.MaxConns, DefaultMaxConns)) //nolint:gosec // an operator's number of connections
	if _, named := config.ConnConfig.RuntimeParams["application_name"]; !named {
		config.ConnConfig.RuntimeParams["application_name"] = "prism-results"
	}
	var tracer pgx.QueryTracer // which also costs where nothing is recorded: 3% of the processor time of a read
	if deps.Tracer != nil && !telemetry.Untraced(deps.Tracer) {
		tracer = otelpgx.NewTracer(otelpgx.WithTracerProvider(deps.Tracer))
		config.ConnConfig.Tracer = tracer
	}
	prepare(config.ConnConfig, cfg.URL)
	d := &database{
		layout: cfg.Layout, auth: cfg.Auth,
		acquireWait: cmp.Or(cfg.AcquireWait, DefaultAcquireWait), statementWait: cmp.Or(cfg.StatementWait, DefaultStatementWait),
	}
	config.BeforeConnect = cfg.Auth.before(configureConnections(cfg.SynchronousCommit, &d.replicated))
	ending := &atomic.Pointer[pgxpool.Pool]{}
	if cfg.Auth.Tokens != nil {
		ending = endConnections(config)
	}
	d.pool, err = pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	ending.Store(d.pool)
	if d.layout == Citus {
		if d.keys, err = newAccountsOfKeys(); err != nil {
			return nil, err
		}
	}
	d.places.Queue = fair.NewQueue(int(config.MaxConns), sqldb.Reserve(int(config.MaxConns)))
	d.reads, d.saves = d.batches(tracer, false), d.batches(tracer, true)
	return &Store{sqlstore.New(d), d}, nil
}

// Ping checks that the database answers, and looks whether there is a synchronous standby now.
func (d *database) Ping(ctx context.Context) error {
	return d.read(ctx, fair.Preferred, "ping", func(ctx context.Context, conn *pgxpool.Conn) error {
		var names string
		err := conn.QueryRow(ctx, standbyNames).Scan(&names)
		if err == nil {
			d.replicated.Store(names != "")
		}
		return err
	})
}

// Time is the time of the database.
func (s *Store) Time(ctx context.Context) (at time.Time, err error) {
	err = s.database.read(ctx, fair.Preferred, "time", func(ctx context.Context, conn *pgxpool.Conn) error {
		return conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&at)
	})
	return at, err
}

// Close closes the connections, and waits for those in use.
func (d *database) Close() { d.pool.Close() }

// roundTrip executes a statement on a connection.
type roundTrip = func(ctx context.Context, conn *pgxpool.Conn) error

// do executes a statement that writes: fn is called with a connection, and again if Postgres refused to run the statement
// concurrently with another one.
func (d *database) do(ctx context.Context, class fair.Class, operation string, fn roundTrip) error {
	conn, err := d.acquire(ctx, class)
	if err != nil {
		return unavailable(operation, err) // nothing was sent
	}
	w := newWriter(conn)
	defer w.Release()
	return d.on(ctx, operation, conn.Conn, fn)
}

// on executes a statement on a connection.
func (d *database) on(ctx context.Context, operation string, conn *pgxpool.Conn, fn roundTrip) error {
	for attempt := 1; ; attempt++ {
		err := d.bounded(ctx, conn, fn)
		if isReadOnly(err) {
			d.pool.Reset() // after a failover, all connections are those of a server that is no primary any more
		}
		if !isRefused(err) || attempt == attempts || ctx.Err() != nil {
			return translate(operation, err)
		}
	}
}

// bounded calls fn with a context that ends after statementWait, unless ctx ends before.
func (d *database) bounded(ctx context.Context, conn *pgxpool.Conn, fn roundTrip) error {
	if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > d.statementWait {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.statementWait)
		defer cancel()
	}
	return fn(ctx, conn)
}

// read is do for a statement that changes nothing. The driver cancels the statement when the wait for it ends.
func (d *database) read(ctx context.Context, class fair.Class, operation string, fn roundTrip) error {
	conn, err := d.acquire(ctx, class)
	if err != nil {
		return unavailable(operation, err)
	}
	defer conn.Release()
	return readError(operation, d.on(ctx, operation, conn.Conn, fn))
}

// readError is the error of what changes nothing: if its outcome is unknown, nothing has changed.
func readError(operation string, err error) error {
	if isUnknown(err) && !errors.Is(err, store.ErrUnavailable) {
		return unavailable(operation, err)
	}
	return err
}

func (d *database) batches(tracer pgx.QueryTracer, writes bool) *batches {
	return &batches{
		acquire: func(ctx context.Context) (connection, error) {
			conn, err := d.lend(ctx, "", fair.Preferred)
			if err == nil && writes {
				return newWriter(conn), nil
			}
			return conn, err
		},
		acquireWait: d.acquireWait, statementWait: d.statementWait, tracer: tracer, oneByOne: d.layout == Citus,
	}
}

// Run implements sqldb.Database. Statements of many rows, and changes, leave the reserve to look-ups and saves.
func (d *database) Run(ctx context.Context, s sqldb.Statement, read sqldb.Reader) error {
	run := d.do
	if s.ReadOnly {
		run = d.read
	}
	return run(ctx, fair.Yielding, s.Operation, func(ctx context.Context, conn *pgxpool.Conn) error { return query(ctx, conn, s, read) })
}

// LookUp implements sqldb.Database. Look-ups at the same time share round trips.
func (d *database) LookUp(ctx context.Context, s sqldb.Statement, read func(*sqldb.Row)) error {
	if d.layout == Citus {
		return d.lookUpOnNode(ctx, s, read)
	}
	c := &call{ctx: ctx, statement: s.Text, together: d.lookUpsLike(s), args: s.Args, targets: []any{found(read)}}
	err := d.reads.do(s.Operation, c, func() error { return d.alone(ctx, d.read, s.Operation, c) })
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return readError(s.Operation, err)
}

// alone executes a call by itself, by d.do or d.read.
func (d *database) alone(
	ctx context.Context, run func(context.Context, fair.Class, string, roundTrip) error, operation string, c *call,
) error {
	return run(ctx, fair.Preferred, operation, func(ctx context.Context, conn *pgxpool.Conn) error {
		row := conn.QueryRow(ctx, c.statement, c.args...)
		if c.saves {
			crash.At(crash.InCommit)
		}
		return row.Scan(c.targets...)
	})
}

// Transaction implements sqldb.Database. Without a COMMIT that was sent nothing has changed, however the transaction ended.
func (d *database) Transaction(ctx context.Context, operation string, fn func(sqldb.Run) error) error {
	commits := false
	err := d.do(ctx, fair.Yielding, operation, func(ctx context.Context, conn *pgxpool.Conn) error {
		commits = false
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			// ctx is the caller's with the bound of a statement.
			err := fn(sqldb.NameSteps(func(_ context.Context, s sqldb.Statement, read sqldb.Reader) error {
				return query(ctx, tx, s, read)
			}))
			commits = err == nil
			return err
		})
	})
	if !commits {
		return readError(operation, err)
	}
	return err
}

// touchKeys never moves a time back.
const touchKeys = `UPDATE api_keys k
SET last_used_at = used.at
FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::timestamptz[]) AS at) AS used
WHERE k.id = used.id AND (k.last_used_at IS NULL OR k.last_used_at < used.at)
	AND k.account_id` + sqldb.StaysHere

// TouchKeys implements sqldb.Database.
func (d *database) TouchKeys(ctx context.Context, used map[prism.KeyID]time.Time) error {
	// One order for all replicas makes deadlocks rare; do repeats a statement that was rolled back by one.
	keys := slices.SortedFunc(maps.Keys(used), func(a, b prism.KeyID) int { return bytes.Compare(a.UUID[:], b.UUID[:]) })
	ids, times := make([]prism.UUID, len(keys)), make([]time.Time, len(keys))
	for i, key := range keys {
		ids[i], times[i] = key.UUID, used[key]
	}
	return d.do(ctx, fair.Yielding, "touch keys", func(ctx context.Context, conn *pgxpool.Conn) error {
		_, err := conn.Exec(ctx, touchKeys, ids, times)
		return err
	})
}
