package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"path/filepath"
	"strconv"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver of goose

	"github.com/prism-results/prism/services/results/internal/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the file to the newest schema, or returns store.ErrPredates if no migration leads from it. Processes may race: each
// migration is applied once. The release before works on the newest schema (spec: newer-schema).
func Migrate(ctx context.Context, path string) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("sqlite: migrate: %w", err)
	}
	return migrateTo(ctx, path, files, math.MaxInt64)
}

// migrateTo applies the migrations of files up to a number.
func migrateTo(ctx context.Context, path string, files fs.FS, number int64) error {
	room := newRoom(path)
	return room.open(func() error { return migrateOnce(ctx, path, files, number) })
}

func migrateOnce(ctx context.Context, path string, files fs.FS, number int64) (err error) {
	if err := create(path); err != nil {
		return err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("sqlite: migrate: %w", err)
	}
	q := url.Values{
		"_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)}, "_foreign_keys": {"on"}, "_journal_mode": {"wal"},
		"_synchronous": {"full"}, "_txlock": {"immediate"}, "_dqs": {"false"},
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: q.Encode()}).String())
	if err != nil {
		return fmt.Errorf("sqlite: migrate: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	listed, err := fs.ReadDir(files, ".")
	if err != nil {
		return fmt.Errorf("sqlite: migrate: %w", err)
	}
	// goose reads which migrations are applied before it begins a migration's transaction, and has no lock for SQLite. A
	// process that loses the race for a migration has its transaction rolled back, and finds the migration applied on the
	// next attempt; a broken migration fails every attempt. One more attempt is for goose's own table.
	for range len(listed) + 2 {
		err = apply(ctx, db, files, number)
		if err == nil || ctx.Err() != nil || errors.Is(err, store.ErrPredates) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("sqlite: migrate: %w", err)
	}
	return nil
}

func apply(ctx context.Context, db *sql.DB, files fs.FS, number int64) error {
	last, err := lastApplied(ctx, db)
	if err != nil {
		return err
	}
	if err := store.CheckBaseline(last); err != nil {
		return err
	}
	// The global registry may hold migrations of other packages.
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = p.UpTo(ctx, number)
	return err
}

// lastApplied is the number of the last migration that was applied, or 0 if there is none.
func lastApplied(ctx context.Context, db *sql.DB) (number int64, err error) {
	var migrated bool
	const exists = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'goose_db_version')"
	if err := db.QueryRowContext(ctx, exists).Scan(&migrated); err != nil || !migrated {
		return 0, err
	}
	const last = "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied"
	err = db.QueryRowContext(ctx, last).Scan(&number)
	return number, err
}
