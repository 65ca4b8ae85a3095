package postgres

import (
	"context"
	"database/sql"
)

// addVersionsHash is migration 4. A prism names the versions that it has by a hash, so that a definition in memory is not
// used for the version of another history (spec: cached-definition).
//
// Calls go on meanwhile: the column does not make Postgres write the rows. The previous release leaves the hash as it is when
// it adds a version. If the database is then restored, and the previous release adds another version of the same number, a
// process that runs on may use the definition of the lost version.
func addVersionsHash(ctx context.Context, db *sql.DB) error {
	return alter(ctx, db, "ALTER TABLE prisms ADD COLUMN IF NOT EXISTS versions_hash bigint NOT NULL DEFAULT 0")
}

// dropVersionsHash undoes addVersionsHash.
func dropVersionsHash(ctx context.Context, db *sql.DB) error {
	return alter(ctx, db, "ALTER TABLE prisms DROP COLUMN IF EXISTS versions_hash")
}
