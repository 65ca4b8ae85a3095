package sqlite

// For tests that stop between migrations, or within one.
var (
	MigrateTo  = migrateTo
	Migrations = migrations
)
