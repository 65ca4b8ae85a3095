package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/internal/storedjson"
	"github.com/prism-results/prism/services/results/internal/store/postgres/pgdb"
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
	return s.do(ctx, "create prism", func(ctx context.Context, conn *pgxpool.Conn) error {
		return pgdb.New(conn).CreatePrism(ctx, pgdb.CreatePrismParams{
			AccountID: account.UUID, ID: p.ID.UUID, Slug: p.Slug, Name: p.Name, Lens: lens, Number: p.Latest.Number,
			CreatedAt: p.CreatedAt, ArchivedAt: p.ArchivedAt, Definition: definition, VersionCreatedAt: p.Latest.CreatedAt,
		})
	})
}

// Prism implements store.Definitions.
func (s *Store) Prism(ctx context.Context, account prism.AccountID, ref prism.Ref) (prism.Prism, error) {
	row, err := query(ctx, s.read, "prism", func(ctx context.Context, q *pgdb.Queries) (pgdb.ListPrismsRow, error) {
		if ref.Slug != "" {
			row, err := q.PrismBySlug(ctx, pgdb.PrismBySlugParams{AccountID: account.UUID, Slug: ref.Slug})
			return pgdb.ListPrismsRow(row), err
		}
		row, err := q.PrismByID(ctx, pgdb.PrismByIDParams{AccountID: account.UUID, ID: ref.ID.UUID})
		return pgdb.ListPrismsRow(row), err
	})
	if err != nil {
		return prism.Prism{}, err
	}
	return prismOf(row)
}

// ListPrisms implements store.Definitions.
func (s *Store) ListPrisms(
	ctx context.Context, account prism.AccountID, archived bool, page store.Page,
) ([]prism.Prism, error) {
	rows, err := query(ctx, s.read, "list prisms", func(ctx context.Context, q *pgdb.Queries) ([]pgdb.ListPrismsRow, error) {
		return q.ListPrisms(ctx, pgdb.ListPrismsParams{
			AccountID: account.UUID, Archived: archived, Before: page.Before(),
			Max: int32(page.Limit), //nolint:gosec // 100 at most
		})
	})
	if err != nil {
		return nil, err
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
	row, err := query(ctx, s.read, "version", func(ctx context.Context, q *pgdb.Queries) (pgdb.VersionRow, error) {
		return q.Version(ctx, pgdb.VersionParams{AccountID: account.UUID, PrismID: id.UUID, Number: number})
	})
	if err != nil {
		return prism.Version{}, err
	}
	return versionOf(row.Number, row.Definition, row.CreatedAt)
}

// AddVersion implements store.Definitions.
func (s *Store) AddVersion(
	ctx context.Context, account prism.AccountID, id prism.PrismID, v prism.Version, l prism.Lens,
) error {
	lens, err := storedjson.Marshal(l)
	if err != nil {
		return err
	}
	definition, err := storedjson.Marshal(v.Definition)
	if err != nil {
		return err
	}
	met, err := query(ctx, s.do, "add version", func(ctx context.Context, q *pgdb.Queries) (pgdb.AddVersionRow, error) {
		return q.AddVersion(ctx, pgdb.AddVersionParams{
			AccountID: account.UUID, ID: id.UUID, Number: v.Number, Lens: lens, Definition: definition, CreatedAt: v.CreatedAt,
		})
	})
	if err != nil {
		return err
	}
	return changeError(met.Archived, met.Current)
}

// PutLens implements store.Definitions.
func (s *Store) PutLens(
	ctx context.Context, account prism.AccountID, id prism.PrismID, latest int32, l prism.Lens,
) error {
	lens, err := storedjson.Marshal(l)
	if err != nil {
		return err
	}
	met, err := query(ctx, s.do, "put lens", func(ctx context.Context, q *pgdb.Queries) (pgdb.PutLensRow, error) {
		return q.PutLens(ctx, pgdb.PutLensParams{AccountID: account.UUID, ID: id.UUID, LatestVersion: latest, Lens: lens})
	})
	if err != nil {
		return err
	}
	return changeError(met.Archived, met.Current)
}

// changeError is the error of a change to a prism in this state.
func changeError(archived, current bool) error {
	switch {
	case archived:
		return store.ErrArchived
	case !current:
		return store.ErrStale
	default:
		return nil
	}
}

// SetArchived implements store.Definitions.
func (s *Store) SetArchived(ctx context.Context, account prism.AccountID, id prism.PrismID, at *time.Time) error {
	found, err := query(ctx, s.do, "set archived", func(ctx context.Context, q *pgdb.Queries) (int64, error) {
		if at == nil {
			return q.Unarchive(ctx, pgdb.UnarchiveParams{AccountID: account.UUID, ID: id.UUID})
		}
		return q.Archive(ctx, pgdb.ArchiveParams{AccountID: account.UUID, ID: id.UUID, At: *at})
	})
	if err == nil && found == 0 {
		return store.ErrNotFound
	}
	return err
}

func prismOf(row pgdb.ListPrismsRow) (prism.Prism, error) {
	lens, err := storedjson.Unmarshal[prism.Lens](row.Lens)
	if err != nil {
		return prism.Prism{}, err
	}
	latest, err := versionOf(row.Number, row.Definition, row.VersionCreatedAt)
	if err != nil {
		return prism.Prism{}, err
	}
	return prism.Prism{
		ID: prism.PrismID{UUID: row.ID}, Slug: row.Slug, Name: row.Name, ArchivedAt: inUTC(row.ArchivedAt),
		CreatedAt: row.CreatedAt.UTC(), Lens: lens, Latest: latest,
	}, nil
}

func versionOf(number int32, definition []byte, createdAt time.Time) (prism.Version, error) {
	d, err := storedjson.Unmarshal[prism.Definition](definition)
	if err != nil {
		return prism.Version{}, err
	}
	return prism.Version{Number: number, Definition: d, CreatedAt: createdAt.UTC()}, nil
}
