package pgtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

const databaseBudget = 2 * time.Minute

// templates are the databases that tests clone. Each is made once, however many tests ask for it at a time.
type templates struct {
	mu       sync.Mutex
	made     map[string]func() error
	sequence int
}

// Template makes the database that Database clones: a new one on which migrate has run. Only the first call with a name
// makes it. migrate closes its connections before it returns, because Postgres clones no database with connections.
func (s *Server) Template(t testing.TB, name string, migrate func(ctx context.Context, url string) error) {
	t.Helper()
	if err := s.MakeTemplate(t.Context(), name, migrate); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
}

// MakeTemplate is Template outside of tests.
func (s *Server) MakeTemplate(ctx context.Context, name string, migrate func(ctx context.Context, url string) error) error {
	s.templates.mu.Lock()
	if s.templates.made == nil {
		s.templates.made = map[string]func() error{}
	}
	once, found := s.templates.made[name]
	if !found {
		// The template outlives the test that happens to be the first to ask for it.
		ctx := context.WithoutCancel(ctx)
		once = sync.OnceValue(func() error { return s.makeTemplate(ctx, name, migrate) })
		s.templates.made[name] = once
	}
	s.templates.mu.Unlock()
	return once()
}

func (s *Server) makeTemplate(ctx context.Context, name string, migrate func(ctx context.Context, url string) error) error {
	ctx, cancel := context.WithTimeout(ctx, databaseBudget)
	defer cancel()
	if err := s.exec(ctx, "CREATE DATABASE "+quote(name)); err != nil {
		return err
	}
	if err := migrate(ctx, s.URL(name)); err != nil {
		return fmt.Errorf("migrate the template %s: %w", name, err)
	}
	// Protects the template from a test that writes to it by mistake.
	return s.exec(ctx, "ALTER DATABASE "+quote(name)+" WITH IS_TEMPLATE true ALLOW_CONNECTIONS false")
}

// Database returns the URL of a fresh database, a clone of the template or empty when template is "". It is dropped, with
// the connections that are left, when the test ends.
func (s *Server) Database(t testing.TB, template string) string {
	t.Helper()
	name, err := s.CreateDatabase(t.Context(), template)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if err := s.DropDatabase(context.WithoutCancel(t.Context()), name); err != nil {
			t.Logf("pgtest: a database is left: %v", err) // a test may have stopped the server
		}
	})
	return s.URL(name)
}

// CreateDatabase makes a database as Database does and returns its name; URL gives its address.
func (s *Server) CreateDatabase(ctx context.Context, template string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, databaseBudget)
	defer cancel()
	s.templates.mu.Lock()
	_, made := s.templates.made[template]
	s.templates.sequence++
	name := fmt.Sprintf("test_%d", s.templates.sequence)
	s.templates.mu.Unlock()
	if template == "" {
		return name, s.exec(ctx, "CREATE DATABASE "+quote(name))
	}
	if !made {
		return "", errors.New("no template " + template + ": call Template first")
	}
	return name, s.exec(ctx, "CREATE DATABASE "+quote(name)+" TEMPLATE "+quote(template))
}

// DropDatabase closes the connections to a database and removes it.
func (s *Server) DropDatabase(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, databaseBudget)
	defer cancel()
	return s.exec(ctx, "DROP DATABASE IF EXISTS "+quote(name)+" WITH (FORCE)")
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
