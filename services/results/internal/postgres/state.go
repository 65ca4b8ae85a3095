package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/prism-results/prism/pkg/fair"
)

// NewestMigration is the number of the last migration of this program.
const NewestMigration = newestMigration

// LeastVersion is the oldest server that Prism is tested with, and of which moves of accounts need row filters, as server_version_num.
const LeastVersion = 150000

// State is what a server tells of a database.
type State struct {
	Version string // such as 16.4
	Number  int    // the version as server_version_num; 0 of the embedded store
	Bytes   int64  // of the database on disk
	// Ahead is how far the database's clock is ahead of this process's, give or take half of the time that asking took.
	Ahead, Took time.Duration
	Migration   int64    // the number of the last migration that was applied
	Losses      []string // the settings with which a result that was returned can be lost (spec: postgres-warnings)
	Plain       bool     // connections to another machine are not encrypted
	WALLevel    string
	Replicates  bool // the role may replicate
	Direct      bool // no pooler is between
}

// selectState asks for all but the migration. The role of RDS that may replicate does not have the attribute.
const selectState = `SELECT current_setting('server_version'), current_setting('server_version_num')::int,
	pg_database_size(current_database()), clock_timestamp(), current_setting('fsync'), current_setting('synchronous_commit'),
	current_setting('wal_level'), pg_backend_pid(),
	coalesce((SELECT r.rolsuper OR r.rolreplication OR EXISTS (
		SELECT 1 FROM pg_roles g WHERE g.rolname = 'rds_replication' AND pg_has_role(r.oid, g.oid, 'MEMBER')
	) FROM pg_roles r WHERE r.rolname = current_user), false)`

// State asks the server for the state of the database.
func (s *Store) State(ctx context.Context) (st State, err error) {
	err = s.database.read(ctx, fair.Preferred, "state", func(ctx context.Context, conn *pgxpool.Conn) error {
		var fsync, synchronousCommit string
		var at time.Time
		var backend uint32
		began := time.Now()
		err := conn.QueryRow(ctx, selectState).Scan(&st.Version, &st.Number, &st.Bytes, &at, &fsync, &synchronousCommit, &st.WALLevel,
			&backend, &st.Replicates)
		if err != nil {
			return err
		}
		st.Took = time.Since(began)
		st.Ahead = at.Sub(began.Add(st.Took / 2))
		st.Losses = losses(fsync, synchronousCommit)
		st.Direct = backend == conn.Conn().PgConn().PID() // a pooler tells numbers of its own
		st.Migration, err = lastApplied(conn.QueryRow(ctx, selectLastApplied))
		return err
	})
	st.Plain = s.isPlain()
	return st, err
}

// isPlain reports whether connections to another machine are not encrypted.
func (s *Store) isPlain() bool {
	c := s.database.pool.Config().ConnConfig
	return c.TLSConfig == nil && !isLocal(c.Host)
}

// losses are the settings with which a result that was returned can be lost.
func losses(fsync, synchronousCommit string) (all []string) {
	if fsync == "off" {
		all = append(all, "Postgres has fsync = off: a crash of its machine loses saved results and can damage the database")
	}
	if slices.Contains([]string{"off", "local", "remote_write"}, synchronousCommit) {
		all = append(all, "Postgres has synchronous_commit = "+synchronousCommit+": a crash or a failover can lose saved results")
	}
	return all
}
