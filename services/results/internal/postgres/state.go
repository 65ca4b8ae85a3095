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
}

// selectState asks for all but the migration.
const selectState = `SELECT current_setting('server_version'), current_setting('server_version_num')::int,
	pg_database_size(current_database()), clock_timestamp(), current_setting('fsync'), current_setting('synchronous_commit')`

// State asks the server for the state of the database.
func (s *Store) State(ctx context.Context) (st State, err error) {
	err = s.database.read(ctx, fair.Preferred, "state", func(ctx context.Context, conn *pgxpool.Conn) error {
		var fsync, synchronousCommit string
		var at time.Time
		began := time.Now()
		err := conn.QueryRow(ctx, selectState).Scan(&st.Version, &st.Number, &st.Bytes, &at, &fsync, &synchronousCommit)
		if err != nil {
			return err
		}
		st.Took = time.Since(began)
		st.Ahead = at.Sub(began.Add(st.Took / 2))
		st.Losses = losses(fsync, synchronousCommit)
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

// selectMoveLog is how much of the log the slots of moves keep (package mover), however long they stand still.
const selectMoveLog = `SELECT coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)::bigint FROM pg_replication_slots
WHERE database = current_database() AND slot_name LIKE 'prism\_move\_%'`

// MoveLog is how many bytes of its log the server keeps for moves of accounts out of the database: until they go on, or are taken back, they grow.
func (s *Store) MoveLog(ctx context.Context) (bytes int64, err error) {
	err = s.database.read(ctx, fair.Preferred, "move_log", func(ctx context.Context, conn *pgxpool.Conn) error {
		return conn.QueryRow(ctx, selectMoveLog).Scan(&bytes)
	})
	return bytes, err
}
