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
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/credential/identity"
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

	renewals *credential.Renewals // of the process, whose databases share them
}

// Service is contract.Results, contract.Console, contract.Deliveries and contract.Declarations over a database, and runs what goes on beside
// the calls.
type Service struct {
	contract.Results
	contract.Console
	contract.Deliveries
	contract.Declarations
	*database
}

// Open opens the store. It connects to Postgres when a call first needs it; it opens a file, or creates it.
func Open(ctx context.Context, cfg Config, d Deps) (*Service, error) {
	d.renewals = credential.NewRenewals(d.Metrics, "postgres", identity.Kinds()...)
	db, err := openDatabase(ctx, homeName, cfg, d)
	if err != nil {
		return nil, err
	}
	c := calls{alone{db}}
	return &Service{Results: c, Console: db.service, Deliveries: c, Declarations: db.service, database: db}, nil
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
