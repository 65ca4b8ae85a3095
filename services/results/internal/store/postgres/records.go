package postgres

import (
	"context"
	"database/sql"
)

// addRecords is migration 7. A result has the call of its model and the API key that made the call (spec: record-members). They
// are null for results that were saved before, or that the previous release saves. The columns do not make Postgres write the rows.
func addRecords(ctx context.Context, db *sql.DB) error {
	return alter(ctx, db, `ALTER TABLE results ADD COLUMN IF NOT EXISTS key_id uuid, ADD COLUMN IF NOT EXISTS model text COLLATE "C",
	ADD COLUMN IF NOT EXISTS input_tokens bigint, ADD COLUMN IF NOT EXISTS output_tokens bigint, ADD COLUMN IF NOT EXISTS cost bigint,
	ADD COLUMN IF NOT EXISTS currency text COLLATE "C", ADD COLUMN IF NOT EXISTS call json`)
}

// dropRecords undoes addRecords.
func dropRecords(ctx context.Context, db *sql.DB) error {
	return alter(ctx, db, `ALTER TABLE results DROP COLUMN IF EXISTS key_id, DROP COLUMN IF EXISTS model,
	DROP COLUMN IF EXISTS input_tokens, DROP COLUMN IF EXISTS output_tokens, DROP COLUMN IF EXISTS cost,
	DROP COLUMN IF EXISTS currency, DROP COLUMN IF EXISTS call`)
}
