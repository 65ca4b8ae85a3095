package prisms

import (
	"context"
	"errors"
	"math"
	"reflect"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// SQL keeps them in a database.
type SQL struct{ sqldb.Database }

const (
	createPrism = `INSERT INTO prisms (account_id, id, slug, name, lens, latest_version, created_at, archived_at, versions_hash, ad_hoc)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, false)`

	// There is nothing to take out of the index.
	createUnsearchable = `INSERT INTO index_prisms (account_id, prism_id, searchable) VALUES ($1, $2, false)`

	createVersion = `INSERT INTO versions (account_id, prism_id, number, definition, created_at)
VALUES ($1, $2, $3, $4, $5)`

	selectPrisms = `
SELECT p.id, p.slug, p.name, p.lens, p.created_at, p.archived_at, p.versions_hash, p.pins, p.retention_days, p.ad_hoc,
	EXISTS (SELECT 1 FROM index_prisms i WHERE i.account_id = p.account_id AND i.prism_id = p.id AND NOT i.searchable),
	v.number, v.definition, v.created_at
FROM prisms p
JOIN versions v ON v.account_id = p.account_id AND v.prism_id = p.id AND v.number = p.latest_version
WHERE p.account_id = $1 AND `

	prismBySlug = selectPrisms + `p.slug = $2`
	prismByID   = selectPrisms + `p.id = $2`

	listAllPrisms = `-- name: ListPrisms :many` + selectPrisms + `p.id < $2 AND p.ad_hoc = $4
ORDER BY p.id DESC
LIMIT $3`
	listPrisms = `-- name: ListPrisms :many` + selectPrisms + `p.id < $2 AND p.ad_hoc = $4 AND (p.archived_at IS NOT NULL) = $5
ORDER BY p.id DESC
LIMIT $3`

	selectVersions = `SELECT number, definition, created_at FROM versions WHERE account_id = $1 AND prism_id = $2 AND number `
	selectVersion  = selectVersions + `= $3`
	listVersions   = `-- name: ListVersions :many
` + selectVersions + `<= $3
ORDER BY number DESC
LIMIT $4`

	changePrism = `UPDATE prisms SET latest_version = $4, lens = $5, versions_hash = coalesce($6, versions_hash)
WHERE account_id = $1 AND id = $2 AND latest_version = $3 AND archived_at IS NULL
RETURNING slug`

	isArchived = `SELECT archived_at IS NOT NULL FROM prisms WHERE account_id = $1 AND id = $2`

	// LockPrism locks the row of a prism until the transaction ends.
	LockPrism = `UPDATE prisms SET archived_at = archived_at WHERE account_id = $1 AND id = $2
RETURNING archived_at, slug, name`
	setArchivedAt = `UPDATE prisms SET archived_at = $3 WHERE account_id = $1 AND id = $2`
	setName       = `UPDATE prisms SET name = $3 WHERE account_id = $1 AND id = $2`

	// insertRetention is a row of deletions whose id is that of the prism. Its columns ref, status, saved_before and search are null.
	insertRetention = `INSERT INTO deletions (account_id, id, prism_id, days, due_at, reached, deleted, leased_until)
VALUES ($1, $2, $3, $4, $5, $6, 0, $5)`
)

// CreatePrism implements Store.
func (s SQL) CreatePrism(ctx context.Context, account prism.AccountID, p prism.Prism, by store.By) error {
	columns, err := sqldb.Encode(p.Lens)
	if err != nil {
		return err
	}
	return s.Transaction(ctx, sqldb.OperationCreatePrism, func(run sqldb.Run) error {
		if err := s.shareResults(ctx, run, account, p.Latest.Examples); err != nil {
			return err
		}
		args := []any{
			account.UUID, p.ID.UUID, p.Slug, p.Name, columns, p.Latest.Number, p.CreatedAt, p.ArchivedAt, p.VersionsHash,
		}
		if err := run(ctx, sqldb.Statement{Text: createPrism, Args: args}, sqldb.NoRow); err != nil {
			return err
		}
		if p.Unsearchable {
			if err := run(ctx, sqldb.Statement{Text: createUnsearchable, Args: args[:2]}, sqldb.NoRow); err != nil {
				return err
			}
		}
		if err := InsertVersion(ctx, run, account, p.ID, p.Latest); err != nil {
			return err
		}
		return Record(ctx, run, account, by, store.PrismCreate, p.ID, p.Slug, versionDetail{p.Latest.Number})
	})
}

// InsertVersion stores a version of a prism.
func InsertVersion(ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.PrismID, v prism.Version) error {
	definition, err := sqldb.Encode(v.Definition)
	if err != nil {
		return err
	}
	args := []any{account.UUID, id.UUID, v.Number, definition, v.CreatedAt}
	if err := run(ctx, sqldb.Statement{Text: createVersion, Args: args}, sqldb.NoRow); err != nil {
		return err
	}
	return insertExamples(ctx, run, account, id, v)
}

// BeginRetention has results of a prism deleted when they are older than days, from the time at on. The prism has no retention before.
func BeginRetention(ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.PrismID, days int32, at time.Time) error {
	args := []any{account.UUID, id.UUID, id.UUID, days, at, prism.UUID{}}
	return run(ctx, sqldb.Statement{Text: insertRetention, Args: args}, sqldb.NoRow)
}

// Prism implements Store.
func (s SQL) Prism(ctx context.Context, account prism.AccountID, ref prism.Ref) (p prism.Prism, err error) {
	text, arg := prismBySlug, any(ref.Slug)
	if ref.Slug == "" {
		text, arg = prismByID, ref.ID.UUID
	}
	err = s.Run(ctx, sqldb.Query("prism", text, account.UUID, arg), sqldb.ReadRow(&p, readPrism))
	return p, err
}

// ListPrisms implements Store.
func (s SQL) ListPrisms(
	ctx context.Context, account prism.AccountID, which Which, page store.Page,
) (prisms []prism.Prism, more bool, err error) {
	text, args := listAllPrisms, []any{account.UUID, page.Before(), int64(page.Limit) + 1, which&AdHoc != 0}
	if which &^= AdHoc; which != All {
		text, args = listPrisms, append(args, which == Archived)
	}
	return sqldb.ReadPage(ctx, s.Database, sqldb.Query("list_prisms", text, args...), page.Limit, readPrism, "lens", "definition")
}

// ListVersions implements Store.
func (s SQL) ListVersions(
	ctx context.Context, account prism.AccountID, id prism.PrismID, below int32, limit int,
) (versions []prism.Version, more bool, err error) {
	newest := below - 1
	if below == 0 {
		newest = math.MaxInt32
	}
	args := []any{account.UUID, id.UUID, newest, int64(limit) + 1}
	return sqldb.ReadPage(ctx, s.Database, sqldb.Query("list_versions", listVersions, args...), limit, readVersion, "definition")
}

// Version implements Store.
func (s SQL) Version(
	ctx context.Context, account prism.AccountID, id prism.PrismID, number int32,
) (v prism.Version, err error) {
	args := []any{account.UUID, id.UUID, number}
	err = s.Run(ctx, sqldb.Query("version", selectVersion, args...), sqldb.ReadRow(&v, readVersion))
	return v, err
}

// AddVersion implements Store.
func (s SQL) AddVersion(ctx context.Context, account prism.AccountID, p prism.Prism, was *prism.Prism, by store.By) error {
	return s.Transaction(ctx, "add_version", func(run sqldb.Run) error {
		if err := s.shareResults(ctx, run, account, p.Latest.Examples); err != nil {
			return err
		}
		if err := unchanged(ctx, run, account, was); err != nil {
			return err
		}
		number := p.Latest.Number
		slug, err := change(ctx, run, account, p.ID, number-1, number, p.Lens, &p.VersionsHash)
		if err != nil {
			return err
		}
		if err := InsertVersion(ctx, run, account, p.ID, p.Latest); err != nil {
			return err
		}
		return Record(ctx, run, account, by, store.VersionCreate, p.ID, slug, versionDetail{number})
	})
}

// PutLens implements Store.
func (s SQL) PutLens(
	ctx context.Context, account prism.AccountID, id prism.PrismID, latest int32, l prism.Lens, was *prism.Prism, by store.By,
) error {
	return s.Transaction(ctx, "put_lens", func(run sqldb.Run) error {
		if err := unchanged(ctx, run, account, was); err != nil {
			return err
		}
		slug, err := change(ctx, run, account, id, latest, latest, l, nil)
		if err != nil {
			return err
		}
		return Record(ctx, run, account, by, store.LensReplace, id, slug, versionDetail{latest})
	})
}

// unchanged locks a prism until the transaction ends, and returns store.ErrStale if the prism differs from was. Without was, it
// does nothing.
func unchanged(ctx context.Context, run sqldb.Run, account prism.AccountID, was *prism.Prism) error {
	if was == nil {
		return nil
	}
	args := []any{account.UUID, was.ID.UUID}
	if err := run(ctx, sqldb.Statement{Text: LockPrism, Args: args}, sqldb.SomeRow); err != nil {
		return err
	}
	var now prism.Prism
	err := run(ctx, sqldb.Statement{Text: prismByID, Args: args}, sqldb.ReadRow(&now, readPrism))
	if err == nil && !reflect.DeepEqual(now, *was) {
		err = store.ErrStale
	}
	return err
}

// change replaces the Lens of a prism that is not archived, and changes its latest version from one number to another, and
// the hash of its versions unless that is nil. It returns the slug.
func change(
	ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.PrismID, from, to int32, l prism.Lens, versionsHash *int64,
) (slug string, err error) {
	columns, err := sqldb.Encode(l)
	if err != nil {
		return "", err
	}
	args := []any{account.UUID, id.UUID, from, to, columns, versionsHash}
	err = run(ctx, sqldb.Statement{Text: changePrism, Args: args}, sqldb.ReadRow(&slug, (*sqldb.Row).Text))
	if !errors.Is(err, store.ErrNotFound) {
		return slug, err
	}
	// Find out why nothing was changed. If the reason no longer holds, ErrStale makes the caller try again.
	var archived bool
	err = run(ctx, sqldb.Statement{Text: isArchived, Args: args[:2]}, sqldb.ReadRow(&archived, (*sqldb.Row).Bool))
	switch {
	case err != nil:
		return "", err
	case archived:
		return "", store.ErrArchived
	default:
		return "", store.ErrStale
	}
}

// Rename implements Store.
func (s SQL) Rename(ctx context.Context, account prism.AccountID, id prism.PrismID, name string, by store.By) error {
	return s.Transaction(ctx, "rename_prism", func(run sqldb.Run) error {
		var p prism.Prism
		args := []any{account.UUID, id.UUID}
		err := run(ctx, sqldb.Statement{Text: LockPrism, Args: args}, sqldb.ReadRow(&p, ReadLockedPrism))
		switch {
		case err != nil:
			return err
		case p.ArchivedAt != nil:
			return store.ErrArchived
		case p.Name == name:
			return nil
		}
		if err := run(ctx, sqldb.Statement{Text: setName, Args: append(args, name)}, sqldb.NoRow); err != nil {
			return err
		}
		return Record(ctx, run, account, by, store.PrismRename, id, p.Slug, sqldb.NoDetail{})
	})
}

// ReadLockedPrism reads what lockPrism returns.
func ReadLockedPrism(r *sqldb.Row) prism.Prism {
	return prism.Prism{ArchivedAt: r.OptionalTime(), Slug: r.Text(), Name: r.Text()}
}

// SetArchived implements Store.
func (s SQL) SetArchived(
	ctx context.Context, account prism.AccountID, id prism.PrismID, archived bool, by store.By,
) (at *time.Time, err error) {
	err = s.Transaction(ctx, "set_archived", func(run sqldb.Run) error {
		var p prism.Prism
		args := []any{account.UUID, id.UUID}
		err := run(ctx, sqldb.Statement{Text: LockPrism, Args: args}, sqldb.ReadRow(&p, ReadLockedPrism))
		at = p.ArchivedAt
		if err != nil || (at != nil) == archived {
			return err
		}
		action := store.PrismUnarchive
		at = nil
		if archived {
			action, at = store.PrismArchive, &by.At
		}
		if err := run(ctx, sqldb.Statement{Text: setArchivedAt, Args: append(args, at)}, sqldb.NoRow); err != nil {
			return err
		}
		return Record(ctx, run, account, by, action, id, p.Slug, sqldb.NoDetail{})
	})
	return at, err
}

func readPrism(r *sqldb.Row) prism.Prism {
	return prism.Prism{
		ID: prism.PrismID{UUID: r.UUID()}, Slug: r.Text(), Name: r.Text(), Lens: sqldb.Decode[prism.Lens](r), CreatedAt: r.Time(),
		ArchivedAt: r.OptionalTime(), VersionsHash: r.Int(), Pins: r.PinsID(), RetentionDays: r.Int32(),
		AdHoc: r.Bool(), Unsearchable: r.Bool(), Latest: readVersion(r),
	}
}

func readVersion(r *sqldb.Row) prism.Version {
	return prism.Version{Number: r.Int32(), Definition: sqldb.Decode[prism.Definition](r), CreatedAt: r.Time()}
}

// The details of entries (spec: audit-actions). They hold no text of a definition, no value and no key
// (spec: audit-holds-no-values).
type (
	versionDetail struct {
		Version int32 `json:"version"`
	}
)

// LockLive locks the row of a prism that is not archived until the transaction ends, and returns its slug.
func LockLive(ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.PrismID) (slug string, err error) {
	var p prism.Prism
	err = run(ctx, sqldb.Statement{Text: LockPrism, Args: []any{account.UUID, id.UUID}}, sqldb.ReadRow(&p, ReadLockedPrism))
	if err == nil && p.ArchivedAt != nil {
		err = store.ErrArchived
	}
	return p.Slug, err
}
