package deletion

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/distribution"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// SQL keeps jobs in a database, and deletes.
type SQL struct{ sqldb.Database }

const (
	lockDeleted  = `SELECT r.prism_id FROM results r WHERE r.account_id = $1 AND r.id = $2`
	deleteResult = `DELETE FROM results WHERE account_id = $1 AND id = $2`

	lockRetention   = `UPDATE prisms SET retention_days = retention_days WHERE account_id = $1 AND id = $2 RETURNING slug, retention_days`
	setRetention    = `UPDATE prisms SET retention_days = $3 WHERE account_id = $1 AND id = $2`
	removeRetention = `DELETE FROM deletions WHERE account_id = $1 AND id = $2 RETURNING deleted`

	insertDeletion = `INSERT INTO deletions (account_id, id, prism_id, ref, status, saved_before, due_at, reached, deleted, leased_until, search, search_due_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9, $10, $11)`

	// dueAt is when a job is due. The release before does not know the jobs that search, and would delete too much: for that release
	// they are due at neverDue.
	dueAt = `coalesce(search_due_at, due_at)`

	countDeletions = `-- name: CountDeletions :one
SELECT count(*) FROM (SELECT 1 FROM deletions WHERE account_id = $1 AND days IS NULL LIMIT $2) AS of_calls`

	// takeDeletion and takenDeletion are the statement before and after the accounts whose jobs come last.
	takeDeletion = `-- name: TakeDeletion :one
UPDATE deletions SET leased_until = $2
WHERE (account_id, id) = (
	SELECT account_id, id FROM deletions WHERE (due_at <= $1 OR search_due_at <= $1) AND leased_until <= $1
		AND account_id` + sqldb.StaysHere + `
	ORDER BY `
	takenDeletion = `leased_until, due_at LIMIT 1
) AND leased_until <= $1
RETURNING account_id, id, prism_id, days, ref, status, saved_before, ` + dueAt + `, reached, search`

	// The conditions on due_at and reached hold unless somebody else has changed the job since it was read.
	whereUnchanged = `
WHERE account_id = $1 AND id = $2 AND ` + dueAt + ` = $3 AND reached = $4`
	advanceDeletion = `UPDATE deletions SET reached = $5, deleted = deleted + $6, leased_until = $7` + whereUnchanged + `
RETURNING deleted`
	restartDeletion = `UPDATE deletions SET due_at = CASE WHEN search IS NULL THEN $3 ELSE due_at END,
	search_due_at = CASE WHEN search IS NULL THEN search_due_at ELSE $3 END, reached = $4, deleted = 0
WHERE account_id = $1 AND id = $2`
	removeDeletion = `DELETE FROM deletions WHERE account_id = $1 AND id = $2`
	returnDeletion = `UPDATE deletions SET leased_until = $5` + whereUnchanged

	dueDeletions = `-- name: DueDeletions :one
SELECT count(*), min(` + dueAt + `) FROM deletions WHERE (due_at <= $1 OR search_due_at <= $1) AND account_id` + sqldb.StaysHere

	selectSlug = `SELECT slug FROM prisms WHERE account_id = $1 AND id = $2`

	// These three are completed by walked and matches.
	selectWalked = `-- name: WalkResults :many
SELECT r.id FROM results r`
	countMatches = `-- name: CountMatches :one
SELECT count(*) FROM results r`
	lockMatches = `-- name: LockMatches :many
SELECT r.id FROM results r`
)

// deleteLocked deletes what lockMatches found.
var deleteLocked = `DELETE FROM results WHERE account_id = $1 AND id IN (` + sqldb.Parameters(2, sqldb.PartSize) + `)`

// The details of entries.
type (
	retentionDetail struct {
		Days *int32 `json:"days"`
		// Deleted is how many results the former retention has deleted in the pass that the change ends.
		Deleted int64 `json:"deleted,omitzero"`
	}
	deletionDetail struct {
		By       []string     `json:"by"`
		Before   string       `json:"before,omitzero"`
		Status   prism.Status `json:"status,omitzero"`
		Deleting int64        `json:"deleting"`
	}
	passDetail struct {
		Days    int32  `json:"days"`
		Before  string `json:"before"`
		Deleted int64  `json:"deleted"`
	}
)

// DeleteResult implements Store.
func (s SQL) DeleteResult(ctx context.Context, account prism.AccountID, id prism.ResultID, by store.By) error {
	err := s.Transaction(ctx, "delete_result", func(run sqldb.Run) error {
		var prismID prism.UUID
		args := []any{account.UUID, id.UUID}
		adHoc, err := s.lockAdHocPrism(ctx, run, lockAdHocOf, account, id.UUID)
		if err != nil {
			return err
		}
		if err := run(ctx, sqldb.Statement{Text: lockDeleted + s.Locking(false), Args: args}, sqldb.ReadRow(&prismID, (*sqldb.Row).UUID)); err != nil {
			return err
		}
		if err := (distribution.SQL{Database: s.Database}).Settle(ctx, run, account, []prism.UUID{id.UUID}); err != nil {
			return err
		}
		if err := run(ctx, sqldb.Statement{Text: deleteResult, Args: args}, sqldb.NoRow); err != nil {
			return err
		}
		if err := labels.DeleteOf(ctx, run, account, prism.PrismID{UUID: prismID}, []prism.UUID{id.UUID}); err != nil {
			return err
		}
		if err := (prisms.SQL{Database: s.Database}).EmptyExamples(ctx, run, account, []prism.UUID{id.UUID}, by); err != nil {
			return err
		}
		if adHoc {
			if err := s.endEmptyAdHoc(ctx, run, account, prismID, by); err != nil {
				return err
			}
		}
		object := store.Object{Kind: store.ResultObject, ID: id.UUID}
		return sqldb.Record(ctx, run, account, by, store.ResultDelete, object, sqldb.NoDetail{})
	})
	if errors.Is(err, store.ErrNotFound) {
		// This may be the repeat of a deletion whose response was lost: that deletion must be as durable as its response promised.
		err = cmp.Or(s.Confirm(ctx, account, id), err)
	}
	return err
}

// SetRetention implements Store. It waits for the part that is being deleted; the next part finds that the job has
// changed.
func (s SQL) SetRetention(ctx context.Context, account prism.AccountID, id prism.PrismID, days int32, by store.By) error {
	return s.Transaction(ctx, "set_retention", func(run sqldb.Run) error {
		var (
			slug   string
			before int32
			detail retentionDetail
			args   = []any{account.UUID, id.UUID}
		)
		err := run(ctx, sqldb.Statement{Text: lockRetention, Args: args}, sqldb.ReadRow(&slug, func(r *sqldb.Row) string {
			slug := r.Text()
			before = r.Int32()
			return slug
		}))
		if err != nil || days == before {
			return err
		}
		err = run(ctx, sqldb.Statement{Text: removeRetention, Args: args}, sqldb.ReadRow(&detail.Deleted, (*sqldb.Row).Int))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if days > 0 {
			detail.Days = &days
			if err := prisms.BeginRetention(ctx, run, account, id, days, by.At); err != nil {
				return err
			}
		}
		if err := run(ctx, sqldb.Statement{Text: setRetention, Args: append(args, detail.Days)}, sqldb.NoRow); err != nil {
			return err
		}
		return prisms.Record(ctx, run, account, by, store.PrismRetention, id, slug, detail)
	})
}

// neverDue is later than every time of a deletion.
var neverDue = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// insertJob stores the job of a call in a transaction.
func insertJob(ctx context.Context, run sqldb.Run, d Job) error {
	dueAt, searchDueAt := d.DueAt, (*time.Time)(nil)
	if d.Search != "" {
		dueAt, searchDueAt = neverDue, &d.DueAt
	}
	args := []any{
		d.Account.UUID, d.ID, d.Prism.UUID, d.Ref, sqldb.Nullable(string(d.Status)), d.SavedBefore, dueAt, d.Reached, d.DueAt,
		sqldb.Nullable(d.Search), searchDueAt,
	}
	return run(ctx, sqldb.Statement{Text: insertDeletion, Args: args}, sqldb.NoRow)
}

// CountDeletion implements Store.
func (s SQL) CountDeletion(ctx context.Context, d *Job) (matches int64, ended bool, err error) {
	const operation = "count_deletion"
	run := func(ctx context.Context, st sqldb.Statement, read sqldb.Reader) error {
		st.Operation, st.ReadOnly = operation, true
		return s.Run(ctx, st, read)
	}
	upper, ended, err := walk(ctx, run, *d, CountPart)
	if err != nil {
		return 0, false, err
	}
	l := sqldb.List{}
	whereMatches(&l, countMatches, *d, upper, d.SavedBefore)
	err = run(ctx, l.Complete(), sqldb.ReadRow(&matches, (*sqldb.Row).Int))
	d.Reached = upper
	return matches, ended, err
}

// AddDeletion implements Store.
func (s SQL) AddDeletion(ctx context.Context, d Job, slug string, counted int64, by store.By) error {
	detail := deletionDetail{Status: d.Status, Deleting: counted}
	if d.Ref != nil {
		detail.By = append(detail.By, "ref")
	}
	if !d.Before.IsZero() {
		detail.By, detail.Before = append(detail.By, "before"), prism.FormatTime(d.Before)
	}
	if d.Status != "" {
		detail.By = append(detail.By, "status")
	}
	detail.By = append(detail.By, d.By...)
	return s.Transaction(ctx, "add_deletion", func(run sqldb.Run) error {
		if err := keys.Room(ctx, run, d.Account, countDeletions, MaxDeletions, store.ErrTooManyDeletions); err != nil {
			return err
		}
		if err := insertJob(ctx, run, d); err != nil {
			return err
		}
		return prisms.Record(ctx, run, d.Account, by, store.ResultsDelete, d.Prism, slug, detail)
	})
}

// TakeDeletion implements Store. If two workers take at the same time, the second one sees the lease of the first.
func (s SQL) TakeDeletion(ctx context.Context, now, until time.Time, last []prism.AccountID) (d Job, err error) {
	l := sqldb.List{Statement: sqldb.Change("take_deletion", "", now, until)}
	l.Write(takeDeletion)
	if len(last) > 0 {
		accounts := make([]any, len(last))
		for i, account := range last {
			accounts[i] = account.UUID
		}
		l.In("CASE WHEN account_id IN (", accounts)
		l.Write(" THEN 1 ELSE 0 END, ")
	}
	l.Write(takenDeletion)
	err = s.Run(ctx, l.Complete(), sqldb.ReadRow(&d, func(r *sqldb.Row) Job {
		return Job{
			Account: prism.AccountID{UUID: r.UUID()}, ID: r.UUID(), Prism: prism.PrismID{UUID: r.UUID()}, Days: r.Int32(),
			Ref: r.OptionalText(), Status: prism.Status(r.Text()), SavedBefore: r.Time(), DueAt: r.Time(), Reached: r.UUID(), Search: r.Text(),
		}
	}))
	return d, err
}

// DeletePart implements Store.
func (s SQL) DeletePart(ctx context.Context, d *Job, until time.Time, by store.By) (deleted int, ended bool, err error) {
	next := *d
	err = s.Transaction(ctx, "delete_part", func(run sqldb.Run) (err error) {
		next = *d
		adHoc, err := s.lockAdHocPrism(ctx, run, lockAdHoc, d.Account, d.Prism.UUID)
		if err != nil {
			return err
		}
		part := DeletePart
		if s.Full() {
			part = DeletePartFull
		}
		if d.Search != "" {
			next.Reached, ended = d.Found.Upto, d.Found.End
		} else if next.Reached, ended, err = walk(ctx, run, *d, part); err != nil {
			return err
		}
		ids, err := s.lockBetween(ctx, run, *d, next.Reached)
		if err != nil {
			return err
		}
		if err := (distribution.SQL{Database: s.Database}).Settle(ctx, run, d.Account, ids); err != nil {
			return err
		}
		if err := sqldb.EachPart(ids, func(part []any) error {
			return run(ctx, sqldb.Statement{Text: deleteLocked, Args: append([]any{d.Account.UUID}, part...)}, sqldb.NoRow)
		}); err != nil {
			return err
		}
		if err := labels.DeleteOf(ctx, run, d.Account, d.Prism, ids); err != nil {
			return err
		}
		if err := (prisms.SQL{Database: s.Database}).EmptyExamples(ctx, run, d.Account, ids, by); err != nil {
			return err
		}
		deleted = len(ids)
		var total int64
		args := []any{d.Account.UUID, d.ID, d.DueAt, d.Reached, next.Reached, int64(deleted), until}
		if err := run(ctx, sqldb.Statement{Text: advanceDeletion, Args: args}, sqldb.ReadRow(&total, (*sqldb.Row).Int)); err != nil || !ended {
			return err
		}
		if err := endPass(ctx, run, &next, total, by); err != nil || !adHoc {
			return err
		}
		return s.endEmptyAdHoc(ctx, run, d.Account, d.Prism.UUID, by)
	})
	if err != nil {
		return 0, false, err
	}
	*d = next
	return deleted, ended, nil
}

// lockBetween locks the results that a job matches up to an id, in the order of their ids.
func (s SQL) lockBetween(ctx context.Context, run sqldb.Run, d Job, upper prism.UUID) (ids []prism.UUID, err error) {
	if d.Search != "" && len(d.Found.IDs) == 0 {
		return nil, nil
	}
	l := sqldb.List{}
	whereMatches(&l, lockMatches, d, upper, d.Bound())
	if d.Search != "" {
		l.In(" AND r.id IN (", sqldb.Padded(sqldb.UUIDs(d.Found.IDs), DeletePart))
	}
	l.Write(" ORDER BY r.id" + s.Locking(false))
	err = run(ctx, l.Complete(), sqldb.ReadRows(&ids, (*sqldb.Row).UUID))
	return ids, err
}

// endPass ends a pass, which has deleted this many results in total.
func endPass(ctx context.Context, run sqldb.Run, d *Job, deleted int64, by store.By) error {
	if d.Days > 0 && deleted > 0 {
		var slug string
		err := run(ctx, sqldb.Statement{Text: selectSlug, Args: []any{d.Account.UUID, d.Prism.UUID}}, sqldb.ReadRow(&slug, (*sqldb.Row).Text))
		if err != nil {
			return err
		}
		detail := passDetail{Days: d.Days, Before: prism.FormatTime(d.Bound()), Deleted: deleted}
		if err := prisms.Record(ctx, run, d.Account, by, store.ResultsDelete, d.Prism, slug, detail); err != nil {
			return err
		}
	}
	next, more := d.Next(by.At)
	*d = next
	if more {
		return run(ctx, sqldb.Statement{Text: restartDeletion, Args: []any{d.Account.UUID, d.ID, d.DueAt, d.Reached}}, sqldb.NoRow)
	}
	return run(ctx, sqldb.Statement{Text: removeDeletion, Args: []any{d.Account.UUID, d.ID}}, sqldb.NoRow)
}

// ReturnDeletion implements Store.
func (s SQL) ReturnDeletion(ctx context.Context, d Job, now time.Time) error {
	args := []any{d.Account.UUID, d.ID, d.DueAt, d.Reached, now}
	return s.Run(ctx, sqldb.Change("return_deletion", returnDeletion, args...), sqldb.NoRow)
}

// DueDeletions implements Store.
func (s SQL) DueDeletions(ctx context.Context, now time.Time) (jobs int64, since time.Time, err error) {
	err = s.Run(ctx, sqldb.Query("due_deletions", dueDeletions, now), sqldb.ReadRow(&jobs, func(r *sqldb.Row) int64 {
		jobs := r.Int()
		since = r.Time()
		return jobs
	}))
	return jobs, since, err
}
