// Package postgres keeps results in Postgres, or in what speaks like it.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/postgres/pgdb"
)

// The defaults of Config.
const (
	DefaultMaxConns      = 16
	DefaultAcquireWait   = 1500 * time.Millisecond
	DefaultStatementWait = 10 * time.Second
)

// connectTimeout bounds one connection's making.
const connectTimeout = 5 * time.Second

// attempts bound how often a statement is sent that Postgres refused to run beside another one, or that lost a race to a
// row which it could not see yet. Each attempt follows another's success, so the bound is met by none but a fault.
const attempts = 8

// Config is where and how much.
type Config struct {
	// URL in any form that libpq takes. Parameters of pgx's pool in it yield to the fields below.
	URL string
	// MaxConns bounds the connections; DefaultMaxConns when 0.
	MaxConns int
	// AcquireWait bounds how long a call waits for a connection, made or free; DefaultAcquireWait when 0, less than callers
	// wait (contract.ResultsWait). Past it the call fails with store.ErrUnavailable, and has done nothing. A connection that
	// was idle for a second is tried first, so a server that hangs is found here.
	AcquireWait time.Duration
	// StatementWait bounds each statement, whatever time its caller has; DefaultStatementWait when 0. A server that took a
	// statement and went silent would hold its caller and a connection for ever.
	StatementWait time.Duration
}

// Deps may be left empty.
type Deps struct {
	// Tracer makes a span for each statement, with its text and never with its parameters; nil makes none.
	Tracer trace.TracerProvider
}

// Store is a store.Store in Postgres.
type Store struct {
	pool           *pgxpool.Pool
	acquireWait    time.Duration
	statementWait  time.Duration
	lookups, saves *pipelines
}

var _ store.Store = (*Store)(nil)

// Open makes a store without connecting: a database that is away at the start is no worse than one that goes away later.
func Open(ctx context.Context, cfg Config, d Deps) (*Store, error) {
	config, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err) // pgx takes the password out
	}
	config.MaxConns = int32(cmp.Or(cfg.MaxConns, DefaultMaxConns)) //nolint:gosec // an operator's number of connections
	if _, named := config.ConnConfig.RuntimeParams["application_name"]; !named {
		config.ConnConfig.RuntimeParams["application_name"] = "prism-results"
	}
	if d.Tracer != nil {
		config.ConnConfig.Tracer = otelpgx.NewTracer(otelpgx.WithTracerProvider(d.Tracer))
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		// The pool goes on connecting when nobody waits any more. Its next attempt may reach a server that answers.
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	s := &Store{
		pool: pool, acquireWait: cmp.Or(cfg.AcquireWait, DefaultAcquireWait),
		statementWait: cmp.Or(cfg.StatementWait, DefaultStatementWait),
	}
	s.lookups, s.saves = s.pipelines(lookupTurns, false), s.pipelines(saveTurns, true)
	return s, nil
}

// Ping tells whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	return s.read(ctx, "ping", func(ctx context.Context, conn *pgxpool.Conn) error { return conn.Ping(ctx) })
}

// Close closes the connections once they are given back.
func (s *Store) Close() { s.pool.Close() }

// roundTrip is one statement, run with what do gives it.
type roundTrip = func(ctx context.Context, conn *pgxpool.Conn) error

// do runs fn with a connection, and again when Postgres refused to run it beside another statement.
func (s *Store) do(ctx context.Context, operation string, fn roundTrip) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return unavailable(operation, err)
	}
	defer conn.Release()
	for attempt := 1; ; attempt++ {
		err := s.bounded(ctx, conn, fn)
		if !refused(err) || attempt == attempts || ctx.Err() != nil {
			return translate(operation, err)
		}
	}
}

func (s *Store) bounded(ctx context.Context, conn *pgxpool.Conn, fn roundTrip) error {
	ctx, cancel := context.WithTimeout(ctx, s.statementWait)
	defer cancel()
	return fn(ctx, conn)
}

// read is do for a statement that changes nothing: when its answer was lost, nothing has happened.
func (s *Store) read(ctx context.Context, operation string, fn roundTrip) error {
	return harmless(operation, s.do(ctx, operation, fn))
}

// harmless is the error of a statement that changes nothing.
func harmless(operation string, err error) error {
	if lost(err) && !errors.Is(err, store.ErrUnavailable) {
		return unavailable(operation, err)
	}
	return err
}

// acquire is apart from running a statement, for an error of it tells that nothing has happened.
func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.acquireWait)
	defer cancel()
	return s.pool.Acquire(ctx)
}

func (s *Store) pipelines(most int, saves bool) *pipelines {
	return &pipelines{
		acquire:     func(ctx context.Context) (pipe, error) { return s.pool.Acquire(ctx) },
		acquireWait: s.acquireWait, statementWait: s.statementWait, most: most, saves: saves,
	}
}

// query runs one of the generated queries, by do or by read.
func query[T any](
	ctx context.Context, run func(context.Context, string, roundTrip) error, operation string,
	fn func(ctx context.Context, q *pgdb.Queries) (T, error),
) (result T, err error) {
	err = run(ctx, operation, func(ctx context.Context, conn *pgxpool.Conn) error {
		result, err = fn(ctx, pgdb.New(conn))
		return err
	})
	return result, err
}
