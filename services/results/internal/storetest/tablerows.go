package storetest

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// TableRow is a row of a table, by the columns that the table had when it was created. JSON is a json.RawMessage.
type TableRow struct {
	Table  string
	Values map[string]any
}

// TableRows are rows of every table, for tests of migrations: a row is inserted as soon as its table is there, and must survive all
// later migrations. Rows that others refer to come first.
func TableRows() []TableRow {
	id := func(n byte) prism.UUID { return prism.UUID{0x01, 0x98, 6: 0x70, 8: 0x80, 15: n} }
	type values = map[string]any
	var (
		account, key, prismID, ok, failed, file, run, member, session = id(1), id(2), id(3), id(4), id(5), id(6), id(7), id(8), id(9)

		digest = make([]byte, 32)
		empty  = json.RawMessage(`{ }`) // stays as it is, with the space
		at     = time.Date(2026, 2, 28, 23, 59, 59, 123_000_000, time.UTC)
		later  = at.Add(time.Hour)
	)
	result := func(id prism.UUID, more values) values {
		row := values{
			"account_id": account, "id": id, "prism_id": prismID, "version": 1, "ref": "r", "context": "a\nb", "fields": empty, "took_ms": 7,
			"created_at": at,
		}
		for column, value := range more {
			row[column] = value
		}
		return row
	}
	return []TableRow{
		{"accounts", values{"id": account, "name": "ä account", "created_at": at}},
		{"api_keys", values{
			"id": key, "account_id": account, "digest": digest, "prefix": "prism_abcd", "name": "k", "created_at": at, "revoked_at": later,
		}},
		{"prisms", values{
			"account_id": account, "id": prismID, "slug": "triage", "name": "Triage", "lens": empty, "latest_version": 2, "created_at": at,
			"archived_at": later,
		}},
		{"versions", values{"account_id": account, "prism_id": prismID, "number": 1, "definition": empty, "created_at": at}},
		{"versions", values{"account_id": account, "prism_id": prismID, "number": 2, "definition": empty, "created_at": later}},
		{"results", result(ok, values{"status": "ok", "answers": empty, "idempotency_key": "k", "retry_of": failed})},
		{"results", result(failed, values{"status": "failed", "error": "It failed.", "retried_by": ok})},
		{"audit", values{
			"account_id": account, "id": id(10), "created_at": at, "actor_kind": "key", "actor_id": key, "actor_name": "k", "action": "lens.edit",
			"object_kind": "prism", "object_id": prismID, "object_name": "triage", "detail": empty,
		}},
		{"account_limits", values{"account_id": account, "requests_per_second": 3, "concurrency": 4, "results_per_day": 0}},
		{"usage", values{
			"account_id": account, "day": 3, "prism_id": prismID, "model": "m", "key_id": key, "currency": "EUR", "results": 2, "failed": 1,
			"input_tokens": 5, "output_tokens": 6, "cost": 7, "cost_rest": 8,
		}},
		{"usage_tail", values{"account_id": account, "day": 4, "prism_id": prismID, "status": "ok", "cost": 9}},
		{"stored_bytes", values{"account_id": id(60), "bytes": 5}},
		{"stored_bytes_tail", values{"account_id": id(60), "bytes": 6}},
		{"tail", values{"account_id": account, "prism_id": prismID, "result_id": ok, "type": 4, "at": at, "bytes": -7}},
		{"changes", values{"account_id": account, "seq": 1, "at": at, "type": 1, "prism_id": prismID, "result_id": ok}},
		{"event_tail", values{"account_id": account, "prism_id": prismID, "subject_id": run, "type": "run.started", "at": at, "detail": empty}},
		{"events", values{"account_id": account, "seq": 1, "at": at, "type": "key.expiring", "subject_id": key, "detail": empty}},
		{"drift_alarms", values{"account_id": account, "prism_id": prismID, "version": 1, "question": "q", "option": ""}},
		{"declared_accounts", values{"account_id": account, "object": id(62)}},
		{"expiring_keys", values{"account_id": account, "key_id": key, "expires_at": later}},
		{"result_index", values{"account_id": account, "result_id": ok, "version": 1, "terms": "{}", "numbers": []byte{0, 1}}},
		{"index_cursors", values{"account_id": id(61), "seq": 3, "old": ok}},
		{"index_prisms", values{"account_id": account, "prism_id": prismID, "searchable": true, "old": ok}},
		{"example_results", values{"account_id": account, "result_id": ok, "prism_id": prismID, "version": 1}},
		{"deletions", values{
			"account_id": account, "id": id(11), "prism_id": prismID, "ref": "r", "saved_before": at, "due_at": later, "reached": ok,
			"deleted": 5, "leased_until": at,
		}},
		{"files", values{
			"account_id": account, "id": file, "name": "f.csv", "format": "csv", "bytes": 9, "sha256": digest, "status": "ready", "error": "",
			"row_count": 3, "chunks": 1, "layout": empty, "copy_id": id(12), "copy_bytes": 9, "created_at": at, "expires_at": later,
			"hashed": 1, "hash_state": []byte{0, 1}, "completed_at": at, "readings": 1,
		}},
		{"file_parts", values{"account_id": account, "file_id": file, "number": 1, "bytes": 9, "sha256": digest}},
		{"file_chunks", values{
			"account_id": account, "file_id": file, "number": 0, "first_row": 1, "row_count": 3, "position": 0, "bytes": 9, "line": 2,
		}},
		{"file_contents", values{"account_id": account, "file_id": file, "name": "part-00001", "content": []byte{0, 0xff, '\n'}}},
		{"runs", values{
			"account_id": account, "id": run, "prism_id": prismID, "version": 1, "file_id": file, "name": "r", "mapping": empty,
			"status": "running", "reason": "", "key_id": key, "idempotency_key": "k", "pause_at": 0.2, "rows_per_second": 0.0, "concurrency": 8,
			"row_count": 3, "chunks": 1, "attempt": 1, "created_at": at, "leased_at": at, "watched_from": at,
		}},
		{"run_chunks", values{
			"account_id": account, "run_id": run, "number": 0, "first_row": 1, "row_count": 3, "attempt": 1, "states": "pof", "pending": 1,
			"ok": 1, "failed": 1, "invalid": 0, "cancelled": 0, "outcomes": "1of", "saved_at": at, "token": id(13), "leased_until": later,
			"granted": 3, "input_tokens": 5, "output_tokens": 6, "cost": 7, "cost_rest": 8, "currency": "EUR",
		}},
		{"members", values{
			"account_id": account, "id": member, "name": "M", "email": "m@example.com", "role": "editor", "operator": false, "issuer": "i",
			"subject": "s", "signed_in_by": "openid", "created_at": at, "last_seen_at": later,
		}},
		{"sign_in_links", values{"digest": digest, "account_id": account, "member_id": member, "expires_at": later}},
		{"sessions", values{"id": session, "digest": digest, "seen_at": at, "expires_at": later, "ends_at": later}},
		{"session_members", values{"session_id": session, "account_id": account, "member_id": member, "signed_in_at": at}},
		{"views", values{
			"account_id": account, "id": id(70), "prism_id": prismID, "name": "v", "shows": empty, "is_default": true, "created_at": at,
		}},
		{"comments", values{
			"account_id": account, "result_id": ok, "id": id(71), "author_kind": "key", "author_id": key, "text": "c", "created_at": at,
		}},
		{"assignments", values{"account_id": account, "result_id": ok, "member_id": member}},
		{"webhooks", values{
			"account_id": account, "id": id(72), "url": "https://hooks.example", "settings": empty, "secret": digest, "previous_secret": digest,
			"previous_until": later, "created_at": at, "deleted": false, "enabled": true, "disabled_reason": "", "generation": 1, "change": 2,
			"other": 3, "last_id": id(73), "waiting": 1, "due_at": at, "token": id(74), "healthy": true, "aside_first": false, "leftover": false,
		}},
		{"deliveries", values{
			"account_id": account, "webhook_id": id(72), "id": id(73), "event": empty, "state": 1, "aside": true, "tries": 3, "tried": empty,
			"due_at": at, "remove_at": later,
		}},
		{"claim_grants", values{"account_id": account, "claim_name": "groups", "claim_value": "staff", "granted_at": at}},
		{"retries", values{"account_id": account, "prism_id": prismID, "id": id(14), "key_id": key, "leased_at": at}},
		{"retry_chunks", values{
			"account_id": account, "retry_id": id(14), "number": 0, "version": 1, "ids": failed[:], "states": "p", "pending": 1,
		}},
		{"labels", values{
			"account_id": account, "prism_id": prismID, "result_id": ok, "question": "urgent", "version": 1, "value": "yes", "sample": "random",
			"annotator": "a", "origin": "call", "key_id": key, "labelled_at": at, "hash": -3,
		}},
		{"calibrations", values{
			"account_id": account, "prism_id": prismID, "version": 1, "id": id(15), "question": "urgent", "fit": empty, "measures": empty,
			"created_at": at,
		}},
		{"calibration_pins", values{
			"account_id": account, "prism_id": prismID, "pins_id": id(16), "version": 1, "question": "urgent", "calibration_id": id(15),
		}},
		{"drift_watches", values{"account_id": account, "prism_id": prismID, "watched_at": at, "reached": ok, "due_at": later}},
		{"drift_versions", values{
			"account_id": account, "prism_id": prismID, "version": 1, "first_results": 2, "first_from": at, "first_to": later,
		}},
		{"drift_counts", values{
			"account_id": account, "prism_id": prismID, "span": 3600, "at": at, "version": 1, "results": 2, "counts": []byte{1, 0},
		}},
		{"distribution", values{
			"account_id": account, "prism_id": prismID, "question": "urgent", "at": at, "version": 1, "counts": []byte{1, 0},
		}},
		{"distribution_cursors", values{"account_id": account, "seq": 3, "walk": ok}},
		{"distribution_seen", values{"account_id": account, "result_id": ok}},
		{"distribution_labels", values{"account_id": account, "result_id": ok, "question": "urgent", "is_right": 1}},
		{"directory_accounts", values{"account_id": account, "name": "ä account", "database": "b", "epoch": 1, "made": true}},
		{"directory_identities", values{"issuer": "i", "subject": "s", "account_id": account}},
		{"ending_sessions", values{
			"account_id": account, "session_id": session, "member_id": member, "digest": digest, "ended_at": at, "entry_id": id(76),
		}},
		{"directory_keys", values{"digest": digest, "account_id": account}},
		{"revocation_numbers", values{"database": "b", "seq": 3}},
		{"revocations", values{"database": "b", "seq": 3, "id": id(75), "key_id": key, "revoked_at": at, "kept_until": later}},
		{"revocation_mark", values{"only_row": true, "seq": 3, "id": id(75)}},
		{"moved_accounts", values{"account_id": account, "database": "b", "epoch": 2, "moved_at": at}},
		{"arriving_rows", values{"account_id": account, "number": 1, "epoch": 2, "table_name": "accounts", "row": empty}},
		{"moves", values{"account_id": account, "source": "a", "target": "b", "epoch": 2, "step": "copy", "started_at": at, "switched_at": later}},
	}
}

// KillAt tells whether a migration with so many statements is killed at this one, the first of which is 0: at each one in `make chaos`,
// otherwise at some.
func KillAt(at, statements int) bool {
	return os.Getenv("CHAOS") != "" || at == statements || at%32 == statements%32
}

// SameLines compares the contents of two databases.
func SameLines(t *testing.T, got, want []string) {
	t.Helper()
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("the database has: %s", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("the database lacks: %s", line)
		}
	}
	if !t.Failed() && len(got) != len(want) {
		t.Errorf("the database has %d lines, want %d", len(got), len(want))
	}
}
