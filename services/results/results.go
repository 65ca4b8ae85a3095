// Package results is the service that keeps accounts, prisms and results, applies the Lens and writes the formats.
package results

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/credential/identity"
	"github.com/prism-results/prism/services/results/operator"
)

// Config says where results are stored: in Postgres if DatabaseURL or the file of a URL is set, in several databases if DatabasesFile is, else
// in a file in DataDir.
type Config struct {
	DatabaseURL     string
	DatabaseSecrets DatabaseSecrets
	DatabasesFile   string
	DataDir         string
	// Serves is set for a process that answers calls. Of such processes DataDir has one at a time; operator commands may run beside it.
	Serves bool
	// MaxConns bounds the connections to Postgres, which several databases share; 16 if 0.
	MaxConns int
	// SynchronousCommit is the setting synchronous_commit of the connections. If empty, the server's own setting counts, but
	// at least "on".
	SynchronousCommit string
	// Layout is how the rows of accounts lie in Postgres: one, or citus; one if empty.
	Layout string
	// AwaitMigrations waits until the command migrate has brought the tables of Postgres up to date, instead of doing so.
	// The command may connect as another role.
	AwaitMigrations bool
	// FilesURL says where the content of files is kept: s3://<bucket>… or file://<folder>. If it is empty, content is in Postgres,
	// or in a folder in DataDir.
	FilesURL string

	url    credential.Source                   // of a database of DatabasesFile, whose URL there may change
	direct func() string                       // the direct URL that DatabasesFile has now; "": none
	terms  func() (accepting bool, weight int) // of a database of DatabasesFile; nil: all new accounts are made in the only one
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

	renewals *credential.Renewals // of the process, whose databases share them
	file     *openedFile          // of several databases; nil without one
	home     *database            // nil of home itself, and with one database
}

// Service is contract.Results, contract.Console, contract.Deliveries and contract.Declarations over databases, and runs what goes on beside the
// calls. What is of no account yet is home's, whose store has accounts made in all of the databases.
type Service struct {
	contract.Results
	contract.Console
	contract.Deliveries
	contract.Declarations
	placed placement
	log    *slog.Logger
}

// Open opens the store. It connects to Postgres when a call first needs it; it opens a file, or creates it.
func Open(ctx context.Context, cfg Config, d Deps) (*Service, error) {
	if err := cfg.checkFile(); err != nil {
		return nil, err
	}
	d.renewals = credential.NewRenewals(d.Metrics, "postgres", identity.Kinds()...)
	if cfg.DatabasesFile != "" {
		return openDatabasesFile(ctx, cfg, d)
	}
	db, err := openDatabase(ctx, homeName, cfg, d)
	if err != nil {
		return nil, err
	}
	if err := db.serve(db.store, 1); err != nil {
		db.Close()
		return nil, err
	}
	return newService(onlyIn(db), d), nil
}

func newService(p placement, d Deps) *Service {
	c, home := newCalls(p), p.home().service
	return &Service{Results: c, Console: home, Deliveries: c, Declarations: home, placed: p, log: d.Log}
}

// Migrate brings the tables of home up to date, or waits until the command migrate has. While the database is down it waits, until ctx ends.
func (s *Service) Migrate(ctx context.Context) error {
	if err := s.placed.home().Migrate(ctx); err != nil {
		return err
	}
	if err := s.placed.begin(ctx); err != nil {
		return err
	}
	return s.placed.check(ctx)
}

// upToDate is Migrate for a command, which waits for no database. One that is away or behind and is not home refuses its own accounts.
func (s *Service) upToDate(ctx context.Context) error {
	var others sync.WaitGroup
	for _, db := range s.placed.all()[1:] {
		others.Go(func() { db.migrated.Store(db.upToDate(ctx) == nil) })
	}
	err := s.placed.home().upToDate(ctx)
	others.Wait()
	if err != nil {
		return err
	}
	return s.placed.begin(ctx)
}

// Run works beside the calls of each database until ctx ends. It migrates the databases that are not home, and has each serve its accounts
// from then on.
func (s *Service) Run(ctx context.Context) error {
	var others sync.WaitGroup
	defer others.Wait()
	others.Go(func() { s.placed.run(ctx) })
	for _, db := range s.placed.all()[1:] {
		others.Go(func() {
			if err := db.Migrate(ctx); err != nil {
				s.log.ErrorContext(ctx, "a database cannot be used, and its accounts are refused", "database", db.name, "error", err)
				return
			}
			db.migrated.Store(true)
			_ = db.Run(ctx) // which is always nil
		})
	}
	return s.placed.home().Run(ctx)
}

// Ready checks that a database answers and can be written (spec: unwritable-store, full-disk). Of several, any one will do: its accounts are
// served.
func (s *Service) Ready(ctx context.Context) error {
	databases := s.placed.all()
	checked := make(chan error, len(databases))
	for _, db := range databases {
		go func() { checked <- db.Ready(ctx) }()
	}
	var failed []error
	for range databases {
		err := <-checked
		if err == nil {
			return nil
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// Close closes the databases.
func (s *Service) Close() {
	for _, db := range s.placed.all() {
		db.Close()
	}
}

// Operator runs operator commands on the accounts of all databases.
func (s *Service) Operator() *operator.Operator {
	all := operator.Databases{Placed: s.placed.counts, Move: s.placed.move}
	for _, db := range s.placed.all() {
		all.All = append(all.All, db.forOperator())
	}
	return operator.New(s.placed.home().service, all)
}

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
	if c.NeedsTables() {
		if err := s.upToDate(ctx); err != nil {
			return err
		}
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
