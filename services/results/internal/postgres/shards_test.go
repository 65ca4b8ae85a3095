package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// spec: citus-layout
func TestAShardsConstraintIsKnownByItsMessage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		refusal             pgconn.PgError
		table, column, want string
	}{
		{pgconn.PgError{ConstraintName: "prisms_slug_key"}, "prisms", "slug", "prisms_slug_key"},
		{pgconn.PgError{Message: `duplicate key value violates unique constraint "prisms_slug_key_102008"`}, "prisms", "slug", "prisms_slug_key_102008"},
		{pgconn.PgError{Message: `duplicate key value violates unique constraint "accounts_name_key_102009"`}, "accounts", "name", "accounts_name_key_102009"},
	} {
		if got := constraint(&tt.refusal); got != tt.want || !isOn(&tt.refusal, tt.table, tt.column) || isOn(&tt.refusal, tt.table, "id") {
			t.Errorf("%+v is of %q", tt.refusal, got)
		}
	}
}

// spec: citus-layout
func TestALookUpOnNodesHasTheAccountOfItsKeyAsAParameter(t *testing.T) {
	t.Parallel()
	const text = `SELECT k.account_id FROM api_keys k LEFT JOIN results r ON r.account_id = k.account_id AND r.id = $2 WHERE k.digest = $1`
	const want = `SELECT CAST($3 AS uuid) FROM api_keys k LEFT JOIN results r ON r.account_id = CAST($3 AS uuid) AND r.id = $2 WHERE k.digest = $1` +
		` AND k.account_id = CAST($3 AS uuid)`
	if got := withAccount(text, 3); got != want {
		t.Errorf("got %s", got)
	}
}
