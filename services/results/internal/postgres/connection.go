package postgres

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/prism-results/prism/pkg/fair"
)

// prepare adds to a parsed URL what the URL leaves out (spec: postgres-failover, postgres-tls).
func prepare(config *pgx.ConnConfig, url string) {
	if config.ConnectTimeout == 0 {
		// The pool keeps connecting when no caller waits any more, so an attempt needs a bound of its own.
		config.ConnectTimeout = connectTimeout
	}
	if config.ValidateConnect == nil && !strings.Contains(url, "target_session_attrs") {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	requireTLS(&config.Config)
}

// requireTLS removes the attempts to connect to another machine in plain text, which the driver adds for the sslmodes prefer
// and allow. With sslmode=disable every attempt is in plain text, and stays.
func requireTLS(config *pgconn.Config) {
	attempts := append([]*pgconn.FallbackConfig{{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}},
		config.Fallbacks...)
	secure := slices.DeleteFunc(slices.Clone(attempts), func(a *pgconn.FallbackConfig) bool {
		return a.TLSConfig == nil && !isLocal(a.Host) && slices.ContainsFunc(attempts, func(other *pgconn.FallbackConfig) bool {
			return other.TLSConfig != nil && other.Host == a.Host && other.Port == a.Port
		})
	})
	config.Host, config.Port, config.TLSConfig = secure[0].Host, secure[0].Port, secure[0].TLSConfig
	config.Fallbacks = secure[1:]
}

// isLocal reports whether a host is this machine: a loopback address, or the folder of a Unix socket.
func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || ip != nil && ip.IsLoopback()
}

// The statements that set up a connection (spec: postgres-synchronous-commit). raiseCommits leaves a server's stronger setting.
const (
	standbyNames = `SELECT current_setting('synchronous_standby_names')`
	setCommits   = standbyNames + `, set_config('synchronous_commit', $1, false)`
	raiseCommits = standbyNames + `, CASE WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
	THEN set_config('synchronous_commit', 'on', false) END`
)

// configureConnections configures every new connection of a pool, and notes whether Postgres has a synchronous standby.
func configureConnections(synchronousCommit string, replicated *atomic.Bool) func(context.Context, *pgx.ConnConfig) error {
	statement, args := raiseCommits, [][]byte(nil)
	if synchronousCommit != "" {
		statement, args = setCommits, [][]byte{[]byte(synchronousCommit)}
	}
	return func(_ context.Context, c *pgx.ConnConfig) error {
		writing := &atomic.Bool{}
		dial := c.DialFunc
		c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
			if writing.Load() {
				return nil, errNotCancelled
			}
			return dial(ctx, network, address)
		}
		c.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
			conn.CustomData()[writingKey] = writing
			result := conn.ExecParams(ctx, statement, args, nil, nil, nil).Read()
			if result.Err == nil && len(result.Rows) == 1 {
				replicated.Store(len(result.Rows[0][0]) > 0)
			}
			return result.Err
		}
		return nil
	}
}

// writingKey names the flag of a connection that is used for a statement which writes.
const writingKey = "prism writing"

// errNotCancelled is why the driver cannot cancel a statement that writes.
var errNotCancelled = errors.New("a statement that writes is not cancelled")

// writer is a connection whose statement is not cancelled when the wait for it ends (spec: save-is-not-cancelled). A
// transaction that waits for a synchronous standby is committed already: if it is cancelled, Postgres reports success and
// shows rows that the standby does not have. So the driver, which cancels the statement of a connection that it closes, may
// not dial for the cancel request.
type writer struct {
	lent
	writing *atomic.Bool
}

func newWriter(conn lent) writer {
	writing, ok := conn.Conn.Conn().PgConn().CustomData()[writingKey].(*atomic.Bool)
	if !ok {
		writing = &atomic.Bool{}
	}
	writing.Store(true)
	return writer{conn, writing}
}

// Release returns the connection to the pool. A closed connection may still be about to send its cancel request.
func (w writer) Release() {
	if !w.Conn.Conn().IsClosed() {
		w.writing.Store(false)
	}
	w.lent.Release()
}

// Warnings are the settings with which a result that was returned can be lost, or read by others (spec: postgres-warnings).
func (s *Store) Warnings(ctx context.Context) (warnings []string, err error) {
	var fsync, synchronousCommit string
	err = s.database.read(ctx, fair.Preferred, "settings", func(ctx context.Context, conn *pgxpool.Conn) error {
		return conn.QueryRow(ctx, `SELECT current_setting('fsync'), current_setting('synchronous_commit')`).
			Scan(&fsync, &synchronousCommit)
	})
	if err != nil {
		return nil, err
	}
	warnings = losses(fsync, synchronousCommit)
	if s.isPlain() {
		warnings = append(warnings, "the connections to Postgres are not encrypted (sslmode=disable)")
	}
	return warnings, nil
}
