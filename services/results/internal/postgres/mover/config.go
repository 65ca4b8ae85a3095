package mover

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// connectTimeout bounds an attempt to connect.
const connectTimeout = 10 * time.Second

// parameters have rows look the same in both databases, and no server end a statement that takes long.
func parameters() map[string]string {
	return map[string]string{
		"application_name": "prism-mover", "timezone": "UTC", "datestyle": "ISO, MDY", "intervalstyle": "postgres", "bytea_output": "hex",
		"extra_float_digits": "1", "statement_timeout": "0", "lock_timeout": "0", "idle_in_transaction_session_timeout": "0",
	}
}

// raiseCommits has a commit of the mover be as durable as those of calls.
const raiseCommits = `SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')`

// Config is how the mover connects to the Postgres of a URL.
func Config(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the URL of the mover: %w", err) // pgx takes the password out
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	for name, value := range parameters() {
		config.RuntimeParams[name] = value
	}
	config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	config.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		return conn.ExecParams(ctx, raiseCommits, nil, nil, nil, nil).Read().Err
	}
	return config, nil
}
