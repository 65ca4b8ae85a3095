package postgres

import (
	"context"
	"database/sql"
)

// addLimits is migration 6: limits of accounts (spec: account-limits). Only accounts with limits have a row; 0 is no limit.
// The foreign key locks accounts for a moment, so the table is made as columns are.
func addLimits(ctx context.Context, db *sql.DB) error {
	return alter(ctx, db, `CREATE TABLE IF NOT EXISTS account_limits (
    account_id          uuid    NOT NULL,
    requests_per_second integer NOT NULL,
    concurrency         integer NOT NULL,
    results_per_day     integer NOT NULL,
    CONSTRAINT account_limits_pkey PRIMARY KEY (account_id),
    CONSTRAINT account_limits_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT account_limits_check CHECK (requests_per_second >= 0 AND concurrency >= 0 AND results_per_day >= 0)
)`)
}

// dropLimits undoes addLimits.
func dropLimits(ctx context.Context, db *sql.DB) error {
	return alter(ctx, db, "DROP TABLE IF EXISTS account_limits")
}
