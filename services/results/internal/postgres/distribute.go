package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// Layout is how the rows of accounts lie in a database.
type Layout string

const (
	// One has them in the tables of one Postgres.
	One Layout = "one"
	// Citus has them on nodes of Citus, those of an account together.
	Citus Layout = "citus"
)

// referenceTables are on every node: what finds an account, and what all of its statements may join.
var referenceTables = []string{
	"goose_db_version", "accounts", "account_limits", "api_keys", "members", "claim_grants", "sign_in_links", "sessions", "session_members",
	"declared_accounts", "directory_accounts", "directory_keys", "directory_identities", "ending_sessions",
	"revocation_numbers", "revocations", "revocation_mark", "moved_accounts",
}

const selectUndistributed = `SELECT c.relname FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
	AND NOT EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.oid AND (d.partmethod = 'h' OR d.repmodel = 't'))
ORDER BY c.relname`

// errNoCitus: the server, or this database of it, is no coordinator of Citus.
var errNoCitus = errors.New("the database does not have the extension citus: create it on every node, and add the workers with citus_add_node")

// Distribute distributes the tables of a migrated database over the nodes of Citus, at the URL of its coordinator. It can be repeated, and has to
// be after each migration: tables that are distributed stay as they are (spec: citus-layout).
func (a Auth) Distribute(ctx context.Context, url string) (err error) {
	const operation = "distribute"
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("postgres: %w", err) // pgx takes the password out
	}
	prepare(config, url)
	db := stdlib.OpenDB(*config, stdlib.OptionBeforeConnect(a.before(nil)))
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := a.try(ctx, func() error { return db.PingContext(ctx) }); err != nil {
		return unavailable(operation, err)
	}
	if err := takeTurn(ctx, db); err != nil {
		return migrationError(operation, err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return migrationError(operation, err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var installed bool
	const extension = "SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')"
	if err := conn.QueryRowContext(ctx, extension).Scan(&installed); err != nil {
		return migrationError(operation, err)
	}
	if !installed {
		return errNoCitus
	}
	return migrationError(operation, distribute(ctx, conn))
}

// distribute distributes the tables that are not, the referenced ones first, and makes what a distributed database has in its own way.
func distribute(ctx context.Context, conn *sql.Conn) error {
	left, err := undistributed(ctx, conn)
	if err != nil {
		return err
	}
	// A table with foreign keys to tables on all nodes is changed on one connection after the other.
	statements := []string{"SET citus.enable_unsafe_triggers = on", "SET citus.multi_shard_modify_mode = 'sequential'"}
	for _, name := range referenceTables {
		if slices.Contains(left, name) {
			statements = append(statements, "SELECT create_reference_table('"+name+"')")
		}
	}
	if slices.Contains(left, "prisms") {
		statements = append(statements, dropForeignKey, "SELECT create_distributed_table('prisms', 'account_id')")
	}
	for _, name := range left {
		if name != "prisms" && !slices.Contains(referenceTables, name) {
			statements = append(statements, "SELECT create_distributed_table('"+name+"', 'account_id', colocate_with => 'prisms')")
		}
	}
	for _, statement := range slices.Concat(statements, []string{dropForeignKey, addForeignKey}, ofCitus()) {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// A foreign key between two tables can be made when both are distributed.
const (
	dropForeignKey = `ALTER TABLE versions DROP CONSTRAINT IF EXISTS versions_prism_fkey`
	addForeignKey  = `ALTER TABLE versions ADD CONSTRAINT versions_prism_fkey
	FOREIGN KEY (account_id, prism_id) REFERENCES prisms (account_id, id)`
)

func undistributed(ctx context.Context, conn *sql.Conn) (names []string, err error) {
	rows, err := conn.QueryContext(ctx, selectUndistributed)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// The functions that a distributed database has. Each has its version in its name, so that the release before calls its own. Triggers of
// Citus have shards as their tables: a statement of theirs on another table goes to its shard beside, but may not name the rows of the
// trigger, so rows are handed to it as arrays, account by account.
const (
	citusViews = `CREATE OR REPLACE VIEW change_counts AS
SELECT s.account_id, coalesce((SELECT max(c.seq) FROM changes c WHERE c.account_id = s.account_id), 0) AS seq,
	coalesce((SELECT min(c.seq) FROM changes c WHERE c.account_id = s.account_id) - 1, 0) AS removed
FROM stored_bytes s;
CREATE OR REPLACE VIEW event_counts AS SELECT account_id, max(seq) AS seq, min(seq) - 1 AS removed FROM events GROUP BY account_id`

	removedSize = `coalesce(r.bytes, coalesce(octet_length(r.ref::text), 0)
		+ coalesce(octet_length(r.context::text), 0) + coalesce(octet_length(r.fields::text), 0)
		+ coalesce(octet_length(r.error::text), 0) + coalesce(octet_length(r.answers::text), 0)
		+ coalesce(octet_length(r.call::text), 0) + 256)`

	eachAccount = `LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $t$
DECLARE o record;
BEGIN
	FOR o IN `
	endAccount = ` LOOP
`
)

// citusTrigger is a trigger's function that executes statements for each account of a query on its transition table.
func citusTrigger(name, each string, statements ...string) string {
	text := "CREATE OR REPLACE FUNCTION " + name + "() RETURNS trigger " + eachAccount + each + endAccount
	for _, s := range statements {
		text += s + ";\n"
	}
	return inSchema(text + "END LOOP; RETURN NULL; END $t$")
}

// inSchema replaces % by the current schema.
func inSchema(text string) string {
	return "DO $do$ BEGIN EXECUTE replace($f$" + text + "$f$, '%.', quote_ident(current_schema()) || '.'); END $do$"
}

func ofCitus() []string {
	ids := "SELECT r.account_id, array_agg(r.id) AS ids FROM removed r GROUP BY r.account_id"
	return slices.Concat([]string{
		citusViews,
		citusTrigger("remove_results", "SELECT r.account_id, array_agg(r.prism_id) AS prisms, array_agg(r.id) AS ids, array_agg(-"+removedSize+
			") AS sizes FROM removed r GROUP BY r.account_id",
			`INSERT INTO %.tail (account_id, prism_id, result_id, type, at, bytes)
	SELECT o.account_id, u.prism_id, u.id, 4, now(), u.size FROM unnest(o.prisms, o.ids, o.sizes) AS u (prism_id, id, size)`),
		citusTrigger("unindex_results", ids,
			`DELETE FROM %.result_index WHERE account_id = o.account_id AND result_id = ANY (o.ids)`),
		citusTrigger("remove_comments", ids,
			`DELETE FROM %.comments WHERE account_id = o.account_id AND result_id = ANY (o.ids)`,
			`DELETE FROM %.assignments WHERE account_id = o.account_id AND result_id = ANY (o.ids)`),
		citusTrigger("fold_bytes", "SELECT m.account_id, sum(m.bytes)::bigint AS bytes FROM moved m WHERE m.bytes IS NOT NULL GROUP BY m.account_id",
			`INSERT INTO %.stored_bytes AS s (account_id, bytes) VALUES (o.account_id, o.bytes)
	ON CONFLICT (account_id) DO UPDATE SET bytes = s.bytes + excluded.bytes`),
		foldFunction(),
		distributed("prism_fold_1(uuid, bigint, boolean)"),
		saveFunction(),
		distributed("prism_save_1(" + saveTypes + ")"),
	}, positionOf("tail"), positionOf("event_tail"))
}

// foldedTables are those that a fold reads or writes.
var foldedTables = []string{"event_tail", "events", "tail", "changes", "usage_tail", "usage", "stored_bytes_tail", "stored_bytes"}

// foldFunction folds the shard of an account, in its tables. The first statement waits until the shard, if it is moving, has moved. No account
// moves to another database.
func foldFunction() string {
	quoted, ofShard := make([]string, len(folds)), strings.NewReplacer("-- name: Fold :one\n", "", " WHERE f.account_id"+sqldb.StaysHere, "")
	for i, fold := range folds {
		quoted[i] = "$s$" + ofShard.Replace(fold) + "$s$"
	}
	return inSchema(`CREATE OR REPLACE FUNCTION prism_fold_1(account uuid, most bigint, wait boolean) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $t$
DECLARE
	fold text;
	name text;
	shard bigint := get_shard_id_for_distribution_column('%.tail'::regclass, account);
	moved bigint;
	more boolean := false;
BEGIN
	IF wait THEN
		PERFORM pg_advisory_xact_lock(8102654024067625077 + shard);
	ELSIF NOT pg_try_advisory_xact_lock(8102654024067625077 + shard) THEN
		RETURN false;
	END IF;
	DELETE FROM %.stored_bytes_tail WHERE account_id = account AND bytes IS NULL;
	FOREACH fold IN ARRAY ARRAY[` + strings.Join(quoted, ",\n") + `] LOOP
		FOREACH name IN ARRAY ARRAY['` + strings.Join(foldedTables, "', '") + `'] LOOP
			fold := regexp_replace(fold, '\m' || name || '\M', '%.' || name || '_' || get_shard_id_for_distribution_column(('%.' || name)::regclass, account), 'g');
		END LOOP;
		EXECUTE fold INTO moved USING most;
		more := more OR moved = most;
	END LOOP;
	RETURN more;
END $t$`)
}

// saveTypes are the types of the parameters of insertResult.
//
//nolint:dupword // types
const saveTypes = `uuid, uuid, uuid, integer, text, text, json, text, text, bigint, timestamptz, json, uuid, text, bigint, bigint, bigint, text, json,
	text, integer`

// saveFunction is insertResult on the tables of the account's shard, which takes a fifth of what the statement takes on those of Citus: each of
// its parts would be planned by itself. The first statement waits as that of foldFunction.
func saveFunction() string {
	text := strings.NewReplacer("FROM prisms", "FROM %1$s", "INTO results", "INTO %2$s", "INTO tail", "INTO %3$s").Replace(insertResult)
	return inSchema(`CREATE OR REPLACE FUNCTION prism_save_1(` + saveTypes + `) RETURNS TABLE (
	inserted boolean, id uuid, slug text, pins text, archived boolean, latest_version integer, lens json, versions_hash bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $t$
BEGIN
	DELETE FROM %.stored_bytes_tail WHERE account_id = $1 AND bytes IS NULL;
	RETURN QUERY EXECUTE format($s$` + text + `$s$,
		'%.prisms_' || get_shard_id_for_distribution_column('%.prisms'::regclass, $1),
		'%.results_' || get_shard_id_for_distribution_column('%.results'::regclass, $1),
		'%.tail_' || get_shard_id_for_distribution_column('%.tail'::regclass, $1)
	) USING ` + sqldb.Parameters(1, strings.Count(saveTypes, ",")+1) + `;
END $t$`)
}

// distributed has a function executed on the node of its parameter account.
func distributed(function string) string {
	return "SELECT create_distributed_function('" + function + "', '$1', colocate_with => 'prisms')"
}

// positionOf has the rows of a tail numbered by the node that has their shard.
func positionOf(tail string) []string {
	return []string{
		inSchema(`CREATE OR REPLACE FUNCTION position_in_` + tail + `() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $t$
BEGIN
	NEW.position := nextval('%.` + tail + `_position_seq');
	RETURN NEW;
END $t$`),
		"DROP TRIGGER IF EXISTS position_in_" + tail + " ON " + tail,
		"CREATE TRIGGER position_in_" + tail + " BEFORE INSERT ON " + tail + " FOR EACH ROW EXECUTE FUNCTION position_in_" + tail + "()",
	}
}
