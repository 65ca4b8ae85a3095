package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/internal/storedjson"
	"github.com/prism-results/prism/services/results/internal/store/sqlite/litedb"
)

// The operations whose unique constraints translate tells apart.
const (
	createAccount = "create account"
	createPrism   = "create prism"
)

// CreatePrism implements store.Definitions.
func (s *Store) CreatePrism(ctx context.Context, account prism.AccountID, p prism.Prism) error {
	lens, err := storedjson.Marshal(p.Lens)
	if err != nil {
		return err
	}
	definition, err := storedjson.Marshal(p.Latest.Definition)
	if err != nil {
		return err
	}
	return s.write(ctx, createPrism, func(ctx context.Context, q *litedb.Queries, _ *sql.Tx) error {
		err := q.CreatePrism(ctx, litedb.CreatePrismParams{
			AccountID: account.UUID[:], ID: p.ID.UUID[:], Slug: p.Slug, Name: p.Name, Lens: lens,
			LatestVersion: int64(p.Latest.Number), CreatedAt: p.CreatedAt.UnixMilli(), ArchivedAt: optionalMillis(p.ArchivedAt),
		})
		if err != nil {
			return err
		}
		return q.CreateVersion(ctx, litedb.CreateVersionParams{
			AccountID: account.UUID[:], PrismID: p.ID.UUID[:], Number: int64(p.Latest.Number), Definition: definition,
			CreatedAt: p.Latest.CreatedAt.UnixMilli(),
		})
	})
}

// Prism implements store.Definitions.
func (s *Store) Prism(ctx context.Context, account prism.AccountID, ref prism.Ref) (prism.Prism, error) {
	if ref.Slug != "" {
		row, err := s.reads.PrismBySlug(ctx, litedb.PrismBySlugParams{AccountID: account.UUID[:], Slug: ref.Slug})
		if err != nil {
			return prism.Prism{}, translate("prism", err)
		}
		return prismOf(litedb.ListPrismsRow(row))
	}
	row, err := s.reads.PrismByID(ctx, litedb.PrismByIDParams{AccountID: account.UUID[:], ID: ref.ID.UUID[:]})
	if err != nil {
		return prism.Prism{}, translate("prism", err)
	}
	return prismOf(litedb.ListPrismsRow(row))
}

// ListPrisms implements store.Definitions.
func (s *Store) ListPrisms(
	ctx context.Context, account prism.AccountID, archived bool, page store.Page,
) ([]prism.Prism, error) {
	before, wanted := page.Before(), int64(0)
	if archived {
		wanted = 1
	}
	rows, err := s.reads.ListPrisms(ctx, litedb.ListPrismsParams{
		AccountID: account.UUID[:], Archived: wanted, Before: before[:], Max: int64(page.Limit),
	})
	if err != nil {
		return nil, translate("list prisms", err)
	}
	prisms := make([]prism.Prism, len(rows))
	for i, row := range rows {
		if prisms[i], err = prismOf(row); err != nil {
			return nil, err
		}
	}
	return prisms, nil
}

// Version implements store.Definitions.
func (s *Store) Version(
	ctx context.Context, account prism.AccountID, id prism.PrismID, number int32,
) (prism.Version, error) {
	row, err := s.reads.Version(ctx, litedb.VersionParams{
		AccountID: account.UUID[:], PrismID: id.UUID[:], Number: int64(number),
	})
	if err != nil {
		return prism.Version{}, translate("version", err)
	}
	return versionOf(row.Number, row.Definition, row.CreatedAt)
}

// AddVersion implements store.Definitions.
func (s *Store) AddVersion(
	ctx context.Context, account prism.AccountID, id prism.PrismID, v prism.Version, l prism.Lens,
) error {
	definition, err := storedjson.Marshal(v.Definition)
	if err != nil {
		return err
	}
	return s.change(ctx, "add version", account, id, v.Number-1, v.Number, l, func(ctx context.Context, q *litedb.Queries) error {
		return q.CreateVersion(ctx, litedb.CreateVersionParams{
			AccountID: account.UUID[:], PrismID: id.UUID[:], Number: int64(v.Number), Definition: definition,
			CreatedAt: v.CreatedAt.UnixMilli(),
		})
	})
}

// PutLens implements store.Definitions.
func (s *Store) PutLens(
	ctx context.Context, account prism.AccountID, id prism.PrismID, latest int32, l prism.Lens,
) error {
	return s.change(ctx, "put lens", account, id, latest, latest, l, func(context.Context, *litedb.Queries) error { return nil })
}

// change replaces the Lens of a prism that is not archived, changes its latest version from one number to another, and
// calls also in the same transaction.
func (s *Store) change(
	ctx context.Context, operation string, account prism.AccountID, id prism.PrismID, from, to int32, l prism.Lens,
	also func(context.Context, *litedb.Queries) error,
) error {
	lens, err := storedjson.Marshal(l)
	if err != nil {
		return err
	}
	return s.write(ctx, operation, func(ctx context.Context, q *litedb.Queries, _ *sql.Tx) error {
		state, err := q.PrismState(ctx, litedb.PrismStateParams{AccountID: account.UUID[:], ID: id.UUID[:]})
		switch {
		case err != nil:
			return err
		case state.ArchivedAt != nil:
			return store.ErrArchived
		case state.LatestVersion != int64(from):
			return store.ErrStale
		}
		err = q.SetLatest(ctx, litedb.SetLatestParams{
			AccountID: account.UUID[:], ID: id.UUID[:], LatestVersion: int64(to), Lens: lens,
		})
		if err != nil {
			return err
		}
		return also(ctx, q)
	})
}

// SetArchived implements store.Definitions.
func (s *Store) SetArchived(ctx context.Context, account prism.AccountID, id prism.PrismID, at *time.Time) error {
	return s.write(ctx, "set archived", func(ctx context.Context, q *litedb.Queries, _ *sql.Tx) error {
		var (
			found int64
			err   error
		)
		if at == nil {
			found, err = q.Unarchive(ctx, litedb.UnarchiveParams{AccountID: account.UUID[:], ID: id.UUID[:]})
		} else {
			found, err = q.Archive(ctx, litedb.ArchiveParams{
				AccountID: account.UUID[:], ID: id.UUID[:], At: at.UnixMilli(),
			})
		}
		if err == nil && found == 0 {
			return store.ErrNotFound
		}
		return err
	})
}

func prismOf(row litedb.ListPrismsRow) (prism.Prism, error) {
	lens, err := storedjson.Unmarshal[prism.Lens](row.Lens)
	if err != nil {
		return prism.Prism{}, err
	}
	latest, err := versionOf(row.Number, row.Definition, row.VersionCreatedAt)
	if err != nil {
		return prism.Prism{}, err
	}
	return prism.Prism{
		ID: prism.PrismID{UUID: uuidOf(row.ID)}, Slug: row.Slug, Name: row.Name, ArchivedAt: optionalTimeOf(row.ArchivedAt),
		CreatedAt: timeOf(row.CreatedAt), Lens: lens, Latest: latest,
	}, nil
}

func versionOf(number int64, definition []byte, createdAt int64) (prism.Version, error) {
	d, err := storedjson.Unmarshal[prism.Definition](definition)
	if err != nil {
		return prism.Version{}, err
	}
	//nolint:gosec // it was written from an int32
	return prism.Version{Number: int32(number), Definition: d, CreatedAt: timeOf(createdAt)}, nil
}
