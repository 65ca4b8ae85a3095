// Package postgres implements store.Store in Postgres, or in a database that speaks its protocol.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
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
}

// Deps are optional.
type Deps struct {
	// Tracer makes a span for each statement, with its text and without its parameters.
	Tracer trace.TracerProvider
}

// Store is a store.Store in Postgres.
type Store struct {
	pool           *pgxpool.Pool
	acquireWait    time.Duration
	statementWait  time.Duration
	lookups, saves *batches
}

var _ store.Store = (*Store)(nil)

// Open creates a store and connects to nothing: a database that is down now may be up when it is needed.
func Open(ctx context.Context, cfg Config, d Deps) (*Store, error) {
	config, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err) // pgx takes the password out
	}
	config.MaxConns = int32(cmp.Or(cfg.MaxConns, DefaultMaxConns)) //nolint:gosec // an operator's number of connections
	if _, named := config.ConnConfig.RuntimeParams["application_name"]; !named {
		config.ConnConfig.RuntimeParams["application_name"] = "prism-results"
	}
	var tracer pgx.QueryTracer
	if d.Tracer != nil {
		tracer = otelpgx.NewTracer(otelpgx.WithTracerProvider(d.Tracer))
		config.ConnConfig.Tracer = tracer
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		// The pool keeps connecting when no caller waits any more, so an attempt needs a bound of its own.
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
	s.lookups, s.saves = s.batches(tracer, false), s.batches(tracer, true)
	return s, nil
}

// Ping checks that the database answers.
func (s *Store) Ping(ctx context.Context) error {
	return s.read(ctx, "ping", func(ctx context.Context, conn *pgxpool.Conn) error { return conn.Ping(ctx) })
}

// Close closes the connections, and waits for those in use.
func (s *Store) Close() { s.pool.Close() }

// roundTrip executes a statement on a connection.
type roundTrip = func(ctx context.Context, conn *pgxpool.Conn) error

// do calls fn with a connection, and again if Postgres refused to run the statement concurrently with another one.
func (s *Store) do(ctx context.Context, operation string, fn roundTrip) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return unavailable(operation, err) // nothing was sent
	}
	defer conn.Release()
	for attempt := 1; ; attempt++ {
		err := s.bounded(ctx, conn, fn)
		if !isRefused(err) || attempt == attempts || ctx.Err() != nil {
			return translate(operation, err)
		}
	}
}

func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.acquireWait)
	defer cancel()
	return s.pool.Acquire(ctx)
}

func (s *Store) bounded(ctx context.Context, conn *pgxpool.Conn, fn roundTrip) error {
	ctx, cancel := context.WithTimeout(ctx, s.statementWait)
	defer cancel()
	return fn(ctx, conn)
}

// read is do for a statement that changes nothing.
func (s *Store) read(ctx context.Context, operation string, fn roundTrip) error {
	return readError(operation, s.do(ctx, operation, fn))
}

// readError is the error of a statement that changes nothing: if its outcome is unknown, nothing has changed.
func readError(operation string, err error) error {
	if isUnknown(err) && !errors.Is(err, store.ErrUnavailable) {
		return unavailable(operation, err)
	}
	return err
}

func (s *Store) batches(tracer pgx.QueryTracer, saves bool) *batches {
	return &batches{
		acquire:     func(ctx context.Context) (connection, error) { return s.pool.Acquire(ctx) },
		acquireWait: s.acquireWait, statementWait: s.statementWait, tracer: tracer, saves: saves,
	}
}

// query executes one of the generated queries, by s.do or by s.read.
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
