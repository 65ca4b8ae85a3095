package sqlite

// For tests that stop between migrations, or within one.
var (
	MigrateTo  = migrateTo
	Migrations = migrations
)

// RarityOf is that of needs which so many of the rows of an index have.
var RarityOf = rarity
