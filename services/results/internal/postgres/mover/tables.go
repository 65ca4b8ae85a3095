package mover

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Way is how the rows of a table come to the target.
type Way int

// The ways.
const (
	// Replicated rows come by logical replication, before the switch. Nothing works on them while their account is in moved_accounts.
	Replicated Way = iota + 1
	// Carried rows are what sign-ins and queues begin with. They come as arriving_rows, which the switch makes rows.
	Carried
)

// ways has each table with rows of accounts that a move takes along, in the order in which the rows of carried ones are made.
var ways = []struct {
	table string
	way   Way
}{
	{"accounts", Carried},
	{"account_limits", Carried},
	{"claim_grants", Carried},
	{"declared_accounts", Carried},
	{"members", Carried},
	{"api_keys", Carried},
	{"expiring_keys", Carried},
	{"files", Carried},
	{"runs", Carried},
	{"retries", Carried},
	{"deletions", Carried},
	{"webhooks", Carried},
	{"drift_watches", Carried},
	{"drift_alarms", Carried},
	{"index_prisms", Carried},
	{"index_cursors", Carried},
	{"distribution_cursors", Carried},
	{"stored_bytes", Carried},
	{"usage_tail", Carried},
	{"tail", Carried},
	{"event_tail", Carried},
	{"stored_bytes_tail", Carried},

	{"assignments", Replicated},
	{"audit", Replicated},
	{"calibration_pins", Replicated},
	{"calibrations", Replicated},
	{"changes", Replicated},
	{"comments", Replicated},
	{"deliveries", Replicated},
	{"distribution", Replicated},
	{"distribution_labels", Replicated},
	{"distribution_seen", Replicated},
	{"drift_counts", Replicated},
	{"drift_versions", Replicated},
	{"events", Replicated},
	{"example_results", Replicated},
	{"file_chunks", Replicated},
	{"file_contents", Replicated},
	{"file_parts", Replicated},
	{"labels", Replicated},
	{"prisms", Replicated},
	{"result_index", Replicated},
	{"results", Replicated},
	{"retry_chunks", Replicated},
	{"run_chunks", Replicated},
	{"usage", Replicated},
	{"versions", Replicated},
	{"views", Replicated},
}

// stay are the tables with rows of accounts that a move leaves: those of home, whose rows are home's wherever the account is, and those of
// moves themselves.
var stay = []string{
	"arriving_rows", "directory_accounts", "directory_identities", "directory_keys", "ending_sessions", "moved_accounts", "moves",
	"session_members", "sign_in_links",
}

// table is a table with what statements about any table need. Its texts are quoted.
type table struct {
	name    string
	way     Way
	account string   // the column of the account
	columns string   // all columns but those that Postgres numbers
	keys    []column // of the primary key, without the account; none: the rows of an account are deleted at once
}

type column struct{ name, kind string }

// selectTables has a row for each table of the schema. The columns of keys and their types are lists.
const selectTables = `SELECT c.relname,
	(SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
	WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity = '' AND a.attgenerated = ''),
	coalesce(array_agg(quote_ident(k.attname) ORDER BY k.attnum) FILTER (WHERE k.attname <> 'account_id'), '{}'),
	coalesce(array_agg(format_type(k.atttypid, k.atttypmod) ORDER BY k.attnum) FILTER (WHERE k.attname <> 'account_id'), '{}')
FROM pg_class c
LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
LEFT JOIN pg_attribute k ON k.attrelid = c.oid AND k.attnum = ANY (i.indkey)
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname = ANY ($1)
GROUP BY c.oid, c.relname`

// readTables reads of a database what statements about the tables of a move need.
func readTables(ctx context.Context, conn *pgx.Conn) ([]table, error) {
	names := make([]string, 0, len(ways))
	for _, w := range ways {
		names = append(names, w.table)
	}
	rows, err := conn.Query(ctx, selectTables, names)
	if err != nil {
		return nil, fmt.Errorf("reading the tables: %w", err)
	}
	scanned, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (table, error) {
		t := table{account: "account_id"}
		var keys, kinds []string
		if err := row.Scan(&t.name, &t.columns, &keys, &kinds); err != nil {
			return t, err
		}
		for i := range keys {
			t.keys = append(t.keys, column{keys[i], kinds[i]})
		}
		return t, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the tables: %w", err)
	}
	all := make([]table, 0, len(ways))
	for _, w := range ways {
		i := slices.IndexFunc(scanned, func(t table) bool { return t.name == w.table })
		if i < 0 {
			return nil, fmt.Errorf("the database has no table %s", w.table)
		}
		t := scanned[i]
		if t.way = w.way; t.name == "accounts" {
			t.account, t.keys = "id", nil
		}
		all = append(all, t)
	}
	return all, nil
}

// only are the tables whose rows come in a way.
func only(all []table, way Way) []table {
	return slices.DeleteFunc(slices.Clone(all), func(t table) bool { return t.way != way })
}

// keyList is the columns of the key, as names or as placeholders of texts from a number on.
func (t table) keyList(placeholdersFrom int) string {
	var list []string
	for i, k := range t.keys {
		if placeholdersFrom > 0 {
			list = append(list, fmt.Sprintf("$%d::text::%s", placeholdersFrom+i, k.kind))
		} else {
			list = append(list, k.name)
		}
	}
	return strings.Join(list, ", ")
}
