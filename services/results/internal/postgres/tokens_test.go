package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/store"
)

// tokenLife is so short that a test needs many tokens.
const tokenLife = 4 * time.Second

// Postgres accepts a token at the opening of a connection, until the token ends or there is a newer one. Calls go on, and no connection
// outlives its token.
//
// spec: tokens-are-renewed
func TestTokensEndUnderLoad(t *testing.T) {
	t.Parallel()
	p := newPasswords(t)
	var given atomic.Int64
	tokens := credential.NewTokens(func(ctx context.Context) (token credential.Ending[string], err error) {
		n := given.Add(1)
		token.Value, token.End = fmt.Sprintf("token-%d", n), time.Now().Add(tokenLife)
		admin, err := pgx.Connect(ctx, p.server.URL("postgres")) // also after the end of the test
		if err != nil {
			return token, err
		}
		defer func() { _ = admin.Close(ctx) }()
		_, err = admin.Exec(ctx, fmt.Sprintf("ALTER ROLE prism PASSWORD '%s' VALID UNTIL '%s'", token.Value, token.End.Format(time.RFC3339Nano)))
		return token, err
	}, nil, slog.New(slog.DiscardHandler))
	auth := postgres.Auth{Tokens: &tokens}
	if err := auth.Migrate(t.Context(), p.url.String()); err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Open(t.Context(), postgres.Config{URL: p.url.String(), Auth: auth, AcquireWait: time.Minute}, postgres.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	calls := load(t, s)
	oldest := func() float64 {
		return values[float64](t, p.server.URL("postgres"),
			"SELECT coalesce(max(extract(epoch FROM clock_timestamp() - backend_start)), 0)::float8 FROM pg_stat_activity WHERE usename = 'prism'")[0]
	}
	until(t, "four tokens", func() bool {
		calls(10)
		// A server that is slow makes a connection older, but not twice as old as its token.
		if age := oldest(); age > 2*tokenLife.Seconds() {
			t.Errorf("a connection is %.1f s old", age)
		}
		return given.Load() >= 4 || t.Failed()
	})
}

// spec: tokens-are-renewed
func TestConnectionsWithoutCallsEndBeforeTheirTokens(t *testing.T) {
	t.Parallel()
	p := newPasswords(t)
	p.set("token")
	tokens := credential.NewTokens(func(context.Context) (credential.Ending[string], error) {
		return credential.Ending[string]{Value: "token", End: time.Now().Add(tokenLife)}, nil
	}, nil, slog.New(slog.DiscardHandler))
	s, err := postgres.Open(t.Context(), postgres.Config{URL: p.url.String(), Auth: postgres.Auth{Tokens: &tokens}, AcquireWait: time.Minute}, postgres.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of the connection", func() bool {
		return values[int](t, p.server.URL("postgres"), "SELECT count(*)::int FROM pg_stat_activity WHERE usename = 'prism'")[0] == 0
	})
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// spec: tokens-are-renewed
func TestACallFailsWithoutAToken(t *testing.T) {
	t.Parallel()
	p := newPasswords(t)
	tokens := credential.NewTokens(func(context.Context) (token credential.Ending[string], err error) {
		return token, errors.New("there is no identity")
	}, nil, slog.New(slog.DiscardHandler))
	s, err := postgres.Open(t.Context(), postgres.Config{URL: p.url.String(), Auth: postgres.Auth{Tokens: &tokens}}, postgres.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Ping(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

// spec: tokens-are-renewed
func TestTokensNeedTLS(t *testing.T) {
	t.Parallel()
	for url, refused := range map[string]bool{
		"postgres://u@db.example.com/d?sslmode=disable":           true,
		"postgres://u@db.example.com/d":                           false, // prefer, of which only TLS is left
		"postgres://u@db.example.com/d?sslmode=verify-full":       false,
		"postgres://u@127.0.0.1/d?sslmode=disable":                false,
		"postgres://u@/d?host=/run/postgresql":                    false,
		"postgres://u@localhost,db.example.com/d?sslmode=disable": true,
	} {
		if err := postgres.CheckTLS(url); errors.Is(err, postgres.ErrPlain) != refused || err != nil && !refused {
			t.Errorf("%s: got %v", url, err)
		}
	}
}

func TestATokenOfAWSIsForOneServer(t *testing.T) {
	t.Parallel()
	if address, user, err := postgres.Endpoint("postgres://u@db.example.com/d"); err != nil || address != "db.example.com:5432" || user != "u" {
		t.Errorf("got %s, %s, %v", address, user, err)
	}
	if _, _, err := postgres.Endpoint("postgres://u@a.example.com,b.example.com/d"); err == nil {
		t.Error("two servers are taken")
	}
}
