package system

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/test/internal/upstream"
)

// Standalone is all of Prism in one process.
type Standalone struct {
	*Part
	Model *upstream.Model

	postgres *pgtest.Server
	noted    problems
}

// NewStandalone starts a standalone Prism built with the given flags. It keeps its files in dir, or everything in a Postgres.
// Close ends it.
func NewStandalone(ctx context.Context, flags []string, c upstream.Config, dir string, postgres bool) (s *Standalone, err error) {
	s = &Standalone{Model: upstream.New(c)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
			s = nil
		}
	}()
	options := launch.Options{
		ModelURL: s.Model.BaseURL(), Dir: dir, Flags: flags, Env: map[string]string{"PRISM_LOG_LEVEL": "warn"},
	}
	if postgres {
		if s.postgres, err = pgtest.Start(ctx, pgtest.Options{}); err != nil {
			return s, err
		}
		database, err := s.postgres.CreateDatabase(ctx, "")
		if err != nil {
			return s, err
		}
		options.Database = s.postgres.URL(database)
	}
	service, err := options.Standalone(ctx)
	if err != nil {
		return s, err
	}
	s.Part = &Part{Service: service, Name: service.Name, problem: s.noted.add}
	return s, s.Start(ctx)
}

// Problems are the times that the process ended by itself, and output that no process should print.
func (s *Standalone) Problems() []error { return append(s.noted.all(), s.crashed()...) }

// Close ends everything.
func (s *Standalone) Close() error {
	var errs []error
	s.noted.close()
	if s.Part != nil {
		errs = append(errs, s.Kill())
	}
	s.Model.Close()
	if s.postgres != nil {
		errs = append(errs, s.postgres.Close())
	}
	return errors.Join(errs...)
}
