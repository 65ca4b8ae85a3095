// Package results is the service that keeps accounts, prisms and results, applies the Lens and writes the formats.
package results

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/results/internal/background"
	"github.com/prism-results/prism/services/results/internal/dbclock"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/distribution"
	"github.com/prism-results/prism/services/results/internal/drift"
	"github.com/prism-results/prism/services/results/internal/instrumented"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/reading"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/service"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/webhooks"
	"github.com/prism-results/prism/services/results/operator"
)

// Config says where results are stored: in Postgres if DatabaseURL or the file of a URL is set, else in a file in DataDir.
type Config struct {
	DatabaseURL     string
	DatabaseSecrets DatabaseSecrets
	DataDir         string
	// Serves is set for a process that answers calls. Of such processes DataDir has one at a time; operator commands may run beside it.
	Serves bool
	// MaxConns bounds the connections to Postgres; 16 if 0.
	MaxConns int
	// SynchronousCommit is the setting synchronous_commit of the connections. If empty, the server's own setting counts, but
	// at least "on".
	SynchronousCommit string
	// AwaitMigrations waits until the command migrate has brought the tables of Postgres up to date, instead of doing so.
	// The command may connect as another role.
	AwaitMigrations bool
	// FilesURL says where the content of files is kept: s3://<bucket>… or file://<folder>. If it is empty, content is in Postgres,
	// or in a folder in DataDir.
	FilesURL string
}

// file is the embedded store in DataDir, files the folder of the content of files.
const (
	file  = "prism.db"
	files = "files"
)

// Deps are optional, except Log.
type Deps struct {
	Metrics prometheus.Registerer
	Log     *slog.Logger
	Tracer  trace.TracerProvider
	// Now is the clock of everything that is stored; the database's unless given.
	Now func() time.Time
}

// Service is contract.Results, contract.Console, contract.Deliveries and contract.Declarations over a store, and runs what goes on beside the calls.
type Service struct {
	contract.Results
	contract.Console
	contract.Deliveries
	contract.Declarations
	store     sqlstore.Statements
	service   *service.Service
	deletions *deletion.Worker
	readings  *reading.Worker
	tending   *runs.Tender
	drift     *drift.Worker
	index     *search.Indexer
	counting  *distribution.Worker
	webhooks  *webhooks.Worker
	migrate   func(context.Context) error
	migrating prometheus.Gauge
	clock     *dbclock.Clock                          // nil: the file has the clock of this process
	warnings  func(context.Context) ([]string, error) // nil: there are none
	unlock    func()                                  // releases DataDir
	log       *slog.Logger
}

// Open opens the store. It connects to Postgres when a call first needs it; it opens a file, or creates it.
func Open(ctx context.Context, cfg Config, d Deps) (*Service, error) {
	s := &Service{log: d.Log, unlock: func() {}, migrating: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "prism_postgres_migrating",
		Help: "1 while a start waits for Postgres or brings its tables up to date.",
	})}
	if err := s.open(ctx, cfg, d); err != nil {
		s.unlock()
		return nil, err
	}
	if d.Metrics != nil {
		s.store = sqlstore.New(instrumented.New(s.store.Database, d.Metrics))
	}
	now := time.Now
	if s.clock != nil {
		now = s.clock.Now
	}
	if d.Now != nil {
		now = d.Now
	}
	contents, err := cfg.blobs(s.store, d.Log)
	if err != nil {
		s.Close()
		return nil, err
	}
	newID := service.OrderedIDs(now)
	memory := debug.SetMemoryLimit(-1) // which sets nothing
	s.tending = runs.NewTender(runs.TenderDeps{Store: s.store, Now: now, Log: d.Log})
	s.service = service.New(service.Deps{
		Store: s.store, Now: now, NewKey: newKey, NewToken: newToken, NewID: newID, Blobs: contents, LeaseEnded: s.tending.LeaseEnded,
		Memory: memory,
	})
	s.Results, s.Console, s.Deliveries, s.Declarations = s.service, s.service, s.service, s.service
	s.deletions = deletion.New(deletion.Deps{Store: s.store, Now: now, By: s.service.By, Find: s.service.FindDeletion, Log: d.Log})
	s.readings = reading.New(reading.Deps{
		Store: s.store, Blobs: contents, Now: now, NewID: newID, By: s.service.By, Log: d.Log,
		Readers: reading.Readers(memory),
	})
	s.drift = drift.New(drift.Deps{Store: s.store, Now: now, Log: d.Log})
	s.index = search.NewIndexer(s.store, now, d.Log)
	s.counting = distribution.NewWorker(s.store, d.Log)
	s.webhooks = webhooks.NewWorker(webhooks.WorkerDeps{
		Store: s.store, Events: s.store, Sender: s.service.Sender(), Now: now, NewID: newID, Log: d.Log,
	})
	if d.Metrics == nil {
		return s, nil
	}
	if err := errors.Join(
		s.service.Measure(d.Metrics), s.deletions.Measure(d.Metrics), s.readings.Measure(d.Metrics), s.tending.Measure(d.Metrics), s.drift.Measure(d.Metrics),
		s.index.Measure(d.Metrics), s.counting.Measure(d.Metrics), s.service.Sender().MeasureSending(d.Metrics), s.webhooks.Measure(d.Metrics),
	); err != nil {
		return nil, err
	}
	return s, d.Metrics.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "prism_store_writable",
		Help: "0 while calls are refused because the store cannot be written.",
	}, func() float64 {
		if s.service.Writable() != nil {
			return 0
		}
		return 1
	}))
}

func (s *Service) open(ctx context.Context, cfg Config, d Deps) error {
	if cfg.inPostgres() {
		url, auth, err := cfg.postgres(d.Log)
		if err != nil {
			return err
		}
		pg, err := postgres.Open(ctx, postgres.Config{
			URL: url, Auth: auth, MaxConns: cfg.MaxConns, SynchronousCommit: cfg.SynchronousCommit,
		}, postgres.Deps{Tracer: d.Tracer})
		if err != nil {
			return fmt.Errorf("PRISM_DATABASE_URL: %w (for example PRISM_DATABASE_URL=postgres://prism:password@127.0.0.1:5432/prism)", err)
		}
		s.store, s.migrate, s.warnings, s.clock = pg.Statements, pg.Migrated, pg.Warnings, dbclock.New(pg.Time, d.Log)
		if !cfg.AwaitMigrations {
			s.migrate = func(ctx context.Context) error { return auth.Migrate(ctx, url) }
		}
		if d.Metrics == nil {
			return nil
		}
		return errors.Join(pg.Measure(d.Metrics), d.Metrics.Register(s.migrating))
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("PRISM_DATA_DIR: %w", err)
	}
	if cfg.Serves {
		release, err := lock(cfg.DataDir)
		if err != nil {
			return fmt.Errorf("PRISM_DATA_DIR: %w", err)
		}
		s.unlock = release
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
			s.log.WarnContext(ctx, "the disk of PRISM_DATA_DIR is full: results can be read and deleted, and nothing else is stored")
		}
	}
	s.store, s.migrate = lite.Statements, func(context.Context) error { return nil }
	return nil
}

func newKey() (keys.Secret, error) {
	k, err := apikey.New(rand.Reader)
	return keys.Secret{Text: k.Reveal(), Prefix: k.Prefix(), Digest: k.Digest()}, err
}

func newToken() (string, error) { return apikey.NewToken(rand.Reader) }

// Migrate brings the tables up to date, or waits until the command migrate has. While the database is down it waits, until
// ctx ends.
func (s *Service) Migrate(ctx context.Context) error {
	s.migrating.Set(1)
	defer s.migrating.Set(0)
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := s.migrated(ctx)
		if !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrOutdated) {
			if err == nil {
				s.warn(ctx)
			}
			return err
		}
		s.log.WarnContext(ctx, "waiting for the database", "error", err)
		if !background.Pause(ctx, pause) {
			return errors.Join(ctx.Err(), err)
		}
	}
}

// migrated is migrate, and then reads the time of the database: what is stored from now on has it.
func (s *Service) migrated(ctx context.Context) error {
	err := s.migrate(ctx)
	if err == nil && s.clock != nil {
		s.clock.Read(ctx)
	}
	return err
}

// Run stores when API keys were last used, deletes results that are to be deleted, reads files, tends runs, counts the answers of
// watched prisms, and of all for distributions, finds out which event is for which webhook, and follows the clock of the database, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	var beside sync.WaitGroup
	defer beside.Wait()
	if s.clock != nil {
		beside.Go(func() { s.clock.Run(ctx) })
	}
	beside.Go(func() { s.deletions.Run(ctx) })
	beside.Go(func() { s.readings.Run(ctx) })
	beside.Go(func() { s.tending.Run(ctx) })
	beside.Go(func() { s.drift.Run(ctx) })
	beside.Go(func() { s.index.Run(ctx) })
	beside.Go(func() { s.counting.Run(ctx) })
	beside.Go(func() { s.webhooks.Run(ctx) })
	if err := s.service.Run(ctx); err != nil {
		// The service stops anyway; a few times of last use are lost.
		s.log.WarnContext(ctx, "the times of last use of API keys were not stored", "error", err)
	}
	return nil
}

// Ready checks that the database answers and can be written (spec: unwritable-store, full-disk).
func (s *Service) Ready(ctx context.Context) error {
	if err := s.service.Writable(); err != nil {
		reason := "the database cannot be written"
		if errors.Is(err, store.ErrFull) {
			reason = "the disk is full: free space, or delete results; until then nothing else is stored"
		}
		return &httpkit.ReasonError{Text: reason, Err: err}
	}
	return s.store.Ping(ctx)
}

// warn logs the settings of the database with which results that were returned can be lost.
func (s *Service) warn(ctx context.Context) {
	if s.warnings == nil {
		return
	}
	warnings, err := s.warnings(ctx)
	for _, warning := range warnings {
		s.log.WarnContext(ctx, warning)
	}
	if err != nil {
		s.log.WarnContext(ctx, "the settings of Postgres are not known", "error", err)
	}
}

// Close closes the store.
func (s *Service) Close() {
	s.store.Close()
	s.unlock()
}

// Operator runs operator commands on the store.
func (s *Service) Operator() *operator.Operator { return operator.New(s.service) }

// Operate opens the store, migrates it or checks that it is migrated, and runs an operator command on it. Only the command
// migrate creates a store.
func Operate(ctx context.Context, cfg Config, c operator.Command, stdout io.Writer) error {
	cfg.MaxConns, cfg.Serves = 2, false // a command makes one call after the other
	if c.Name == "migrate" {
		cfg.AwaitMigrations = false
	} else if err := stored(cfg); err != nil {
		return err
	}
	s, err := Open(ctx, cfg, Deps{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.migrated(ctx); err != nil {
		return err
	}
	out := operator.Output{Writer: stdout, Dir: os.TempDir()}
	if !cfg.inPostgres() {
		out.Dir = cfg.DataDir
	}
	return s.Operator().Run(ctx, c, out)
}

// stored is an error if the embedded store does not exist yet.
func stored(cfg Config) error {
	if cfg.inPostgres() {
		return nil
	}
	_, err := os.Stat(filepath.Join(cfg.DataDir, file))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no store in the folder %q: set PRISM_DATA_DIR to the folder of a Prism that was started before, or create a store with serve or migrate", cfg.DataDir)
	}
	return err
}
