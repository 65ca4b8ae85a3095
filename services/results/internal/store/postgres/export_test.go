package postgres

// For tests that stop between migrations.
var MigrateTo = migrateTo

const NewestMigration = newestMigration
