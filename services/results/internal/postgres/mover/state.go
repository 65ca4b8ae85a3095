package mover

import (
	"context"
	"fmt"
)

// State is what a server and the role of the mover allow.
type State struct {
	WALLevel string
	// Direct is set if no pooler is between, Replicates if the role may replicate, Subscribes if it may make subscriptions, Silences if it may set
	// session_replication_role, Owns if it may make triggers and publications of the tables.
	Direct, Replicates, Subscribes, Silences, Owns bool
	// Slots are those that are free.
	Slots int
}

// selectState asks for it. The roles of clouds that may do the same have other names.
const selectState = `WITH me AS (
	SELECT r.*, EXISTS (SELECT FROM pg_roles g WHERE g.rolname IN ('rds_superuser', 'cloudsqlsuperuser', 'azure_pg_admin')
		AND pg_has_role(r.oid, g.oid, 'MEMBER')) AS of_cloud FROM pg_roles r WHERE r.rolname = current_user
)
SELECT current_setting('wal_level'), pg_backend_pid(),
	me.rolsuper OR me.rolreplication OR EXISTS (
		SELECT FROM pg_roles g WHERE g.rolname = 'rds_replication' AND pg_has_role(me.oid, g.oid, 'MEMBER')),
	me.rolsuper OR me.of_cloud OR EXISTS (
		SELECT FROM pg_roles g WHERE g.rolname = 'pg_create_subscription' AND pg_has_role(me.oid, g.oid, 'MEMBER')),
	me.rolsuper OR me.of_cloud OR has_parameter_privilege(me.oid, 'session_replication_role', 'SET'),
	has_database_privilege(me.oid, current_database(), 'CREATE') AND coalesce((
		SELECT pg_has_role(me.oid, c.relowner, 'USAGE') FROM pg_class c WHERE c.oid = to_regclass('results')), true),
	current_setting('max_replication_slots')::int - (SELECT count(*) FROM pg_replication_slots)::int
FROM me`

// ReadState asks a database for its state.
func ReadState(ctx context.Context, db Database) (s State, err error) {
	conn, err := db.connect(ctx)
	if err != nil {
		return s, fmt.Errorf("connecting to %s: %w", db.Name, err)
	}
	defer end(ctx, conn)
	var backend uint32
	err = conn.QueryRow(ctx, selectState).Scan(&s.WALLevel, &backend, &s.Replicates, &s.Subscribes, &s.Silences, &s.Owns, &s.Slots)
	s.Direct = backend == conn.PgConn().PID() // a pooler tells numbers of its own
	if err != nil {
		err = fmt.Errorf("asking %s what it allows: %w", db.Name, err)
	}
	return s, err
}

// check reads whether both sides of a move allow it, before anything is changed.
func (m *move) check(ctx context.Context) error {
	for _, db := range []Database{m.source, m.target} {
		s, err := ReadState(ctx, db)
		if err != nil {
			return err
		}
		if s.WALLevel != "logical" || !s.Direct || !s.Replicates || !s.Subscribes || !s.Silences || !s.Owns {
			return fmt.Errorf("%s does not allow moves: prism databases check says what to do", db.Name)
		}
	}
	return nil
}
