package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the file to the newest schema. Processes may race: each migration is applied once.
func Migrate(ctx context.Context, path string) error {
	s, err := Open(path)
	if err != nil {
		return err
	}
	defer s.Close()
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("sqlite: migrate: %w", err)
	}
	listed, err := fs.ReadDir(files, ".")
	if err != nil {
		return fmt.Errorf("sqlite: migrate: %w", err)
	}
	// goose reads which migrations are applied before it begins a migration's transaction, and has no lock for SQLite. A
	// process that loses the race for a migration has its transaction rolled back, and finds the migration applied on the
	// next attempt; a broken migration fails every attempt. One more attempt is for goose's own table.
	for range len(listed) + 2 {
		if err = apply(ctx, s.writer, files); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("sqlite: migrate: %w", err)
	}
	return nil
}

func apply(ctx context.Context, db *sql.DB, files fs.FS) error {
	// The global registry may hold migrations of other packages.
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	if _, err := p.Up(ctx); err != nil {
		return err
	}
	return nil
}
