package mover

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
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

// connect opens a connection.
func (db Database) connect(ctx context.Context) (*pgx.Conn, error) {
	text, err := db.URL()
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(text)
	if err != nil {
		return nil, err // pgx takes the password out
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	for name, value := range parameters() {
		config.RuntimeParams[name] = value
	}
	config.Tracer = db.Tracer
	config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	config.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		return conn.ExecParams(ctx, raiseCommits, nil, nil, nil, nil).Read().Err
	}
	return pgx.ConnectConfig(ctx, config)
}

// errNoURL does not repeat what was given, which may have a password.
var errNoURL = errors.New("the direct URL is no URL of Postgres; for example postgres://owner:password@db.example.com/prism?sslmode=verify-full")

func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errNoURL
	}
	return u, nil
}

// CheckURL reports whether a URL is one for moves, without the URL.
func CheckURL(text string) error {
	if _, err := parseURL(text); err != nil {
		return err
	}
	if _, err := pgx.ParseConfig(text); err != nil {
		return errNoURL
	}
	return nil
}

// WithPassword is a URL of Postgres with another password.
func WithPassword(text, password string) (string, error) {
	u, err := parseURL(text)
	if err != nil {
		return "", err
	}
	u.User = url.UserPassword(u.User.Username(), password)
	return u.String(), nil
}

// ofServers are the parameters of a URL that Postgres knows when it connects to another Postgres.
func ofServers() []string {
	return []string{
		"host", "hostaddr", "port", "dbname", "user", "password", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", "sslsni", "channel_binding",
		"gssencmode", "krbsrvname", "connect_timeout", "target_session_attrs",
	}
}

// connInfo is how another server connects to this one.
func (db Database) connInfo() (string, error) {
	text, err := db.URL()
	if err != nil {
		return "", err
	}
	u, err := parseURL(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", db.Name, err)
	}
	query := url.Values{}
	for name, values := range u.Query() {
		if slices.Contains(ofServers(), name) {
			query[name] = values
		}
	}
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	return u.String(), nil
}
