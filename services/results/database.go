package results

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/results/internal/background"
	"github.com/prism-results/prism/services/results/internal/dbclock"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/distribution"
	"github.com/prism-results/prism/services/results/internal/drift"
	"github.com/prism-results/prism/services/results/internal/instrumented"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/postgres/mover"
	"github.com/prism-results/prism/services/results/internal/reading"
	"github.com/prism-results/prism/services/results/internal/revocations"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/service"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/webhooks"
	"github.com/prism-results/prism/services/results/operator"
)

// homeName is the name of the database of a Prism that has one.
const homeName = "home"

// database is a database and everything that its accounts share: connections, the clock, the places of operations, the breaker of writes, what
// is cached, the queues of work beside the calls, and metrics, which have the name of the database as a label. A process keeps nothing of the
// kind outside of it.
type database struct {
	name      string
	config    Config
	deps      Deps // with metrics of this database
	store     sqlstore.Statements
	own       sqldb.Database // has what is of no account; one of several is followed by store from it to where accounts have moved
	service   *service.Service
	workers   []worker
	migrate   func(context.Context) error
	migrating prometheus.Gauge
	migrated  atomic.Bool           // of a database that is not home
	revoking  *revocations.Database // nil in home, and with one database
	// distribute distributes the tables over nodes; nil: they are not to be.
	distribute func(context.Context) error
	// learn and repair are of one of several: the directory is to know its accounts.
	learn  func(context.Context) error
	repair func(context.Context) (directory.Learned, error)

	clock    *dbclock.Clock                          // nil: the file has the clock of this process
	warnings func(context.Context) ([]string, error) // nil: there are none
	state    func(context.Context) (postgres.State, error)
	direct   func() (url string, err error)       // for moves of accounts; nil of a file
	moveLog  func(context.Context) (int64, error) // likewise
	terms    func() (accepting bool, weight int)
	unlock   func() // releases DataDir
	log      *slog.Logger
}

// worker works beside the calls until ctx ends.
type worker interface {
	Run(ctx context.Context)
	Measure(to prometheus.Registerer) error
}

// openDatabase opens a database with a name, which serve is called on then. It connects to Postgres when a call first needs it; it opens a
// file, or creates it.
func openDatabase(ctx context.Context, name string, cfg Config, d Deps) (*database, error) {
	d.Metrics = prometheus.WrapRegistererWith(prometheus.Labels{"database": name}, d.Metrics)
	db := &database{name: name, config: cfg, deps: d, log: d.Log, unlock: func() {}, migrating: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "prism_postgres_migrating",
		Help: "1 while a start waits for Postgres or brings its tables up to date.",
	})}
	if db.terms = cfg.terms; db.terms == nil {
		db.terms = func() (bool, int) { return true, 1 }
	}
	open := db.openFile
	if cfg.inPostgres() {
		open = db.openPostgres
	}
	if err := open(ctx, cfg, d); err != nil {
		db.unlock()
		return nil, err
	}
	db.store = sqlstore.New(instrumented.New(db.store.Database, d.Metrics))
	if d.home != nil {
		now := db.now(d)
		db.revoking = revocations.New(db.store.Database, revocations.Deps{
			Home: revocations.Home{Database: d.home.own}, Name: name, Now: now, NewID: service.OrderedIDs(now), Log: d.Log,
		})
		db.store = sqlstore.New(db.revoking)
	}
	db.own = db.store.Database
	return db, nil
}

func (db *database) openPostgres(ctx context.Context, cfg Config, d Deps) error {
	url, auth, err := cfg.postgres(d.renewals, d.Log)
	if err != nil {
		return err
	}
	pg, err := postgres.Open(ctx, postgres.Config{
		URL: url, Auth: auth, MaxConns: cfg.MaxConns, SynchronousCommit: cfg.SynchronousCommit, Layout: postgres.Layout(cfg.Layout),
	}, postgres.Deps{Tracer: d.Tracer})
	if err != nil {
		return fmt.Errorf("PRISM_DATABASE_URL: %w (for example PRISM_DATABASE_URL=postgres://prism:password@127.0.0.1:5432/prism)", err)
	}
	db.store, db.migrate, db.warnings, db.clock = pg.Statements, pg.Migrated, pg.Warnings, dbclock.New(pg.Time, d.Log)
	db.state, db.moveLog = pg.State, pg.MoveLog
	db.direct = func() (string, error) { return cfg.directURL(url, auth) }
	if cfg.Layout == string(postgres.Citus) {
		db.distribute = func(ctx context.Context) error { return auth.Distribute(ctx, url) }
	}
	if !cfg.AwaitMigrations {
		db.migrate = func(ctx context.Context) error { return auth.Migrate(ctx, url) }
	}
	return errors.Join(pg.Measure(d.Metrics), d.Metrics.Register(db.migrating))
}

func (db *database) openFile(ctx context.Context, cfg Config, _ Deps) error {
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("PRISM_DATA_DIR: %w", err)
	}
	if cfg.Serves {
		release, err := lock(cfg.DataDir)
		if err != nil {
			return fmt.Errorf("PRISM_DATA_DIR: %w", err)
		}
		db.unlock = release
	}
	path := filepath.Join(cfg.DataDir, file)
	// A file needs its tables before it can be opened for use.
	if err := sqlite.Migrate(ctx, path); err != nil {
		return fmt.Errorf("PRISM_DATA_DIR: %w", err)
	}
	lite, err := sqlite.Open(path)
	if err != nil {
		return fmt.Errorf("PRISM_DATA_DIR: %w", err)
	}
	if cfg.Serves {
		if err := lite.KeepReserve(ctx); err != nil {
			lite.Close()
			return fmt.Errorf("PRISM_DATA_DIR: %w", err)
		}
		if lite.Full() {
			db.log.WarnContext(ctx, "the disk of PRISM_DATA_DIR is full: results can be read and deleted, and nothing else is stored")
		}
	}
	db.store, db.migrate = lite.Statements, func(context.Context) error { return nil }
	db.state = func(context.Context) (postgres.State, error) {
		info, err := os.Stat(path)
		if err != nil {
			return postgres.State{}, err
		}
		return postgres.State{Version: "embedded", Bytes: info.Size(), Migration: postgres.NewestMigration}, nil
	}
	return nil
}

// now is the clock of everything that is stored.
func (db *database) now(d Deps) func() time.Time {
	switch {
	case d.Now != nil:
		return d.Now
	case db.clock != nil:
		return db.clock.Now
	}
	return time.Now
}

// serve makes what answers calls, from a store over the database, and what works beside them. Of the memory of the process it takes the part
// of one of so many databases.
func (db *database) serve(calls sqlstore.Store, databases int) error {
	d, now := db.deps, db.now(db.deps)
	contents, err := db.config.blobs(db.store, d.Log)
	if err != nil {
		return err
	}
	newID := service.OrderedIDs(now)
	memory := debug.SetMemoryLimit(-1) / int64(databases) // which sets nothing
	tending := runs.NewTender(runs.TenderDeps{Store: db.store, Now: now, Log: d.Log})
	s := service.New(service.Deps{
		Store: calls, Now: now, NewKey: newKey, NewToken: newToken, NewID: newID, Blobs: contents, LeaseEnded: tending.LeaseEnded,
		Memory: memory, Databases: databases,
	})
	db.service = s
	db.workers = []worker{
		deletion.New(deletion.Deps{Store: db.store, Now: now, By: s.By, Find: s.FindDeletion, Log: d.Log}),
		reading.New(reading.Deps{
			Store: db.store, Blobs: contents, Now: now, NewID: newID, By: s.By, Log: d.Log, Readers: reading.Readers(memory, databases),
		}),
		tending,
		drift.New(drift.Deps{Store: db.store, Now: now, Log: d.Log}),
		search.NewIndexer(db.store, now, d.Log),
		distribution.NewWorker(db.store, d.Log),
		webhooks.NewWorker(webhooks.WorkerDeps{
			Store: db.store, Events: db.store, Sender: s.Sender(), Now: now, NewID: newID, Log: d.Log,
		}),
	}
	if d.file != nil && db.moveLog != nil {
		db.workers = append(db.workers, newMoveLog(db.moveLog, d.Log))
	}
	return db.measure(d.Metrics)
}

// measure registers the metrics of what serve made.
func (db *database) measure(to prometheus.Registerer) error {
	errs := []error{db.service.Measure(to), db.service.Sender().MeasureSending(to)}
	for _, w := range db.workers {
		errs = append(errs, w.Measure(to))
	}
	return errors.Join(append(errs, to.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "prism_store_writable",
		Help: "0 while calls are refused because the store cannot be written.",
	}, func() float64 {
		if db.service.Writable() != nil {
			return 0
		}
		return 1
	})))...)
}

func newKey() (keys.Secret, error) {
	k, err := apikey.New(rand.Reader)
	return keys.Secret{Text: k.Reveal(), Prefix: k.Prefix(), Digest: k.Digest()}, err
}

func newToken() (string, error) { return apikey.NewToken(rand.Reader) }

// Migrate brings the tables up to date, or waits until the command migrate has. A database that is not home then revokes what home has recorded,
// and has the directory know its accounts: one of both may have been restored. While the database or home is down it waits, until ctx ends.
func (db *database) Migrate(ctx context.Context) error {
	db.migrating.Set(1)
	defer db.migrating.Set(0)
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := db.upToDate(ctx)
		if err == nil && db.revoking != nil {
			if err = db.revoking.Apply(ctx); err == nil {
				err = db.learn(ctx)
			}
		}
		if !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrOutdated) {
			if err == nil {
				db.warn(ctx)
			}
			return err
		}
		db.log.WarnContext(ctx, "waiting for the database", "error", err)
		if !background.Pause(ctx, pause) {
			return errors.Join(ctx.Err(), err)
		}
	}
}

// upToDate is migrate, and then reads the time of the database: what is stored from now on has it.
func (db *database) upToDate(ctx context.Context) error {
	err := db.migrate(ctx)
	if err == nil && db.clock != nil {
		db.clock.Read(ctx)
	}
	return err
}

// Run stores when API keys were last used, deletes results that are to be deleted, reads files, tends runs, counts the answers of
// watched prisms, and of all for distributions, finds out which event is for which webhook, and follows the clock of the database, until ctx ends.
func (db *database) Run(ctx context.Context) error {
	var beside sync.WaitGroup
	defer beside.Wait()
	if db.clock != nil {
		beside.Go(func() { db.clock.Run(ctx) })
	}
	if db.revoking != nil {
		beside.Go(func() { db.revoking.Follow(ctx) })
	}
	for _, w := range db.workers {
		beside.Go(func() { w.Run(ctx) })
	}
	if err := db.service.Run(ctx); err != nil {
		// The service stops anyway; a few times of last use are lost.
		db.log.WarnContext(ctx, "the times of last use of API keys were not stored", "error", err)
	}
	return nil
}

// Ready checks that the database answers and can be written (spec: unwritable-store, full-disk).
func (db *database) Ready(ctx context.Context) error {
	if err := db.service.Writable(); err != nil {
		reason := "the database cannot be written"
		if errors.Is(err, store.ErrFull) {
			reason = "the disk is full: free space, or delete results; until then nothing else is stored"
		}
		return &httpkit.ReasonError{Text: reason, Err: err}
	}
	return db.store.Ping(ctx)
}

// forOperator is the database as commands see it.
func (db *database) forOperator() operator.Database {
	accepting, weight := db.terms()
	d := operator.Database{
		Name: db.name, Accepting: accepting, Weight: weight,
		State: db.state, Migrate: db.upToDate, Distribute: db.distribute, Accounts: db.store.ListAccounts, Recent: db.store.CountRecent, Repair: db.repair,
	}
	if db.direct != nil {
		d.Moves = func(ctx context.Context) (mover.State, error) { return mover.ReadState(ctx, db.forMoves()) }
	}
	return d
}

// warn logs the settings of the database with which results that were returned can be lost.
func (db *database) warn(ctx context.Context) {
	if db.warnings == nil {
		return
	}
	warnings, err := db.warnings(ctx)
	for _, warning := range warnings {
		db.log.WarnContext(ctx, warning)
	}
	if err != nil {
		db.log.WarnContext(ctx, "the settings of Postgres are not known", "error", err)
	}
}

// Close closes the store.
func (db *database) Close() {
	db.store.Close()
	db.unlock()
}
