package results

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// An ad-hoc prism is there while it has results (spec: adhoc-kept). Its row stays, so that usage and changes know the slug:
//
//	(no row) ── a result is saved ──▶ there ── the last result is deleted ──▶ ended: archived, without a version
//	                                    ▲                                       │
//	                                    └────────── a result is saved ──────────┘
//
// A save shares the row, and a deletion locks it before it deletes: a save comes before the deletion, which then finds its result, or
// after the deletion, and makes the prism anew.
const (
	countAdHoc = `-- name: CountAdHoc :one
SELECT count(*) FROM (SELECT 1 FROM prisms WHERE account_id = $1 AND ad_hoc AND archived_at IS NULL LIMIT $2) AS counted`

	// shareAdHoc is completed by Sharing.
	shareAdHoc  = `SELECT r.id, r.archived_at IS NULL FROM prisms r WHERE r.account_id = $1 AND r.slug = $2`
	insertAdHoc = `INSERT INTO prisms (account_id, id, slug, name, lens, latest_version, created_at, versions_hash, retention_days, ad_hoc)
VALUES ($1, $2, $3, '', $4, 1, $5, $6, $7, true)
ON CONFLICT (account_id, slug) DO NOTHING
RETURNING id`
	reviveAdHoc = `UPDATE prisms SET archived_at = NULL, lens = $3, created_at = $4, versions_hash = $5, retention_days = $6
WHERE account_id = $1 AND id = $2 AND ad_hoc AND archived_at IS NOT NULL
RETURNING id`
	isMember = `SELECT EXISTS (SELECT 1 FROM members WHERE account_id = $1 AND id = $2)`
)

// makingTries bounds how often a save looks for its prism, which another transaction made or ended meanwhile.
const makingTries = 8

// AdHocFull implements Store.
func (s SQL) AdHocFull(ctx context.Context, account prism.AccountID, most int64) (bool, error) {
	var found int64
	err := s.Run(ctx, sqldb.Query("count_ad_hoc", countAdHoc, account.UUID, most), sqldb.ReadRow(&found, (*sqldb.Row).Int))
	return found == most, err
}

// SaveAdHoc implements Store.
func (s SQL) SaveAdHoc(
	ctx context.Context, account prism.AccountID, p prism.Prism, most int64, r prism.Result, by store.By,
) (saved store.Saved, err error) {
	err = s.Transaction(ctx, "save_ad_hoc", func(run sqldb.Run) error {
		of, err := s.makeAdHoc(ctx, run, account, p, most, by)
		if err != nil {
			return err
		}
		r.Prism = of
		rows := sqldb.Rows{Account: account}
		rows.Add(r, nil, nil, nil)
		if err := s.InsertRows(ctx, run, rows); err != nil {
			return err
		}
		find := sqldb.Statement{Text: sqldb.SavedResult, Args: []any{account.UUID, r.ID.UUID}}
		err = run(ctx, find, sqldb.ReadRow(&saved, func(row *sqldb.Row) store.Saved { return row.Saved(store.WithInput) }))
		if errors.Is(err, store.ErrNotFound) { // a unique constraint forbids it, and that of ids does not
			err = contract.ErrKeyTaken
		}
		return err
	})
	if err != nil {
		return store.Saved{}, err
	}
	return saved, nil
}

// makeAdHoc makes an ad-hoc prism unless it is there, and keeps it there until the transaction ends.
func (s SQL) makeAdHoc(
	ctx context.Context, run sqldb.Run, account prism.AccountID, p prism.Prism, limit int64, by store.By,
) (id prism.PrismID, err error) {
	columns, err := sqldb.Encode(p.Lens)
	if err != nil {
		return id, err
	}
	for range makingTries {
		isThere := false
		share := sqldb.Statement{Text: shareAdHoc + s.Sharing(), Args: []any{account.UUID, p.Slug}}
		err = run(ctx, share, sqldb.ReadRow(&id, func(row *sqldb.Row) prism.PrismID {
			id := prism.PrismID{UUID: row.UUID()}
			isThere = row.Bool()
			return id
		}))
		if err == nil && isThere {
			return id, nil
		}
		values := []any{columns, p.CreatedAt, p.VersionsHash, p.RetentionDays}
		text, args := reviveAdHoc, append([]any{account.UUID, id.UUID}, values...)
		if errors.Is(err, store.ErrNotFound) {
			id, text, args = p.ID, insertAdHoc, append([]any{account.UUID, p.ID.UUID, p.Slug}, values...)
		} else if err != nil {
			return id, err
		}
		if err := keys.Room(ctx, run, account, countAdHoc, limit, store.ErrTooManyAdHoc); err != nil {
			return id, err
		}
		err = run(ctx, sqldb.Statement{Text: text, Args: args}, sqldb.SomeRow)
		if errors.Is(err, store.ErrNotFound) {
			continue // another transaction has made it
		}
		if err == nil {
			err = s.completeAdHoc(ctx, run, account, id, p, by)
		}
		return id, err
	}
	return id, store.ErrUnavailable
}

// completeAdHoc stores what belongs to a prism that was made: its version, its retention and the entry of the audit.
func (s SQL) completeAdHoc(
	ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.PrismID, p prism.Prism, by store.By,
) error {
	if err := prisms.InsertVersion(ctx, run, account, id, p.Latest); err != nil {
		return err
	}
	if err := prisms.BeginRetention(ctx, run, account, id, p.RetentionDays, by.At); err != nil {
		return err
	}
	member := false
	find := sqldb.Statement{Text: isMember, Args: []any{account.UUID, by.Actor.Key.UUID}}
	if err := run(ctx, find, sqldb.ReadRow(&member, (*sqldb.Row).Bool)); err != nil {
		return err
	}
	if member { // who calls by a session
		by.Actor.Kind = store.MemberActor
	}
	return prisms.Record(ctx, run, account, by, store.PrismCreate, id, p.Slug, adHocDetail{Version: 1})
}

// adHocDetail is the detail of the entry.
type adHocDetail struct {
	Version int32 `json:"version"`
}
