// Package deletion deletes results: one at once, and many in the background, those that calls have asked to delete, and those that are
// older than the retention of their prism. Each job is a row of the store, and each part of a job is a transaction, so a restart loses nothing
// and any replica continues (spec: deletion-goes-on).
//
//	due ── Take: leased ── DeletePart … DeletePart ─┬─ end of the walk ──▶ gone, or due again later
//	 ▲                                              └─ turn is over ──▶ Return ──┐
//	 └──────────────── the lease ends, after an error or a crash ◀───────────────┘
package deletion

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Store deletes results: one by its id at once, and many by jobs, which a worker takes part by part. A job is a row, so that
// any replica continues it after a restart (spec: deletion-goes-on).
type Store interface {
	// DeleteResult deletes a result, and so frees its idempotency key: store.ErrNotFound. A result that it retried stays retried by it
	// (spec: result-delete).
	DeleteResult(ctx context.Context, account prism.AccountID, id prism.ResultID, by store.By) error
	// SetRetention sets after how many days the results of a prism are deleted; 0 keeps them: store.ErrNotFound. After it returns, no
	// result is deleted by the former retention (spec: retention-set).
	SetRetention(ctx context.Context, account prism.AccountID, id prism.PrismID, days int32, by store.By) error
	// CountDeletion counts what a job would delete among the next CountPart results that it walks, and sets d.Reached to the last
	// of them. It reports the end of the walk.
	CountDeletion(ctx context.Context, d *Job) (matches int64, ended bool, err error)
	// AddDeletion stores a job: store.ErrTooManyDeletions if the account has MaxDeletions of them, without those of retention. slug is the
	// slug of its prism, and counted is how many results the job deletes.
	AddDeletion(ctx context.Context, d Job, slug string, counted int64, by store.By) error
	// TakeDeletion leases the job that is due and was worked on the longest ago, until a time: store.ErrNotFound if there is none. Jobs of
	// the accounts last come behind those of all others. No other worker takes the job until then.
	TakeDeletion(ctx context.Context, now, until time.Time, last []prism.AccountID) (Job, error)
	// DeletePart deletes the matches among the next DeletePart results that a job walks, or that its search has found, and sets
	// d.Reached to the last of them.
	// It renews the lease of the job. At the end of the walk the job ends, or is due again later, and DeletePart reports it; by is
	// for the audit entry of a pass of retention. If another caller has changed the job, it changes nothing and returns
	// store.ErrNotFound.
	DeletePart(ctx context.Context, d *Job, until time.Time, by store.By) (deleted int, ended bool, err error)
	// ReturnDeletion ends the lease of a job.
	ReturnDeletion(ctx context.Context, d Job, now time.Time) error
	// DueDeletions is how many jobs are due, and since when the first of them is; the zero time if there is none.
	DueDeletions(ctx context.Context, now time.Time) (jobs int64, since time.Time, err error)
}

// Job is a row: to delete the results of a prism that match a filter and were saved before a call, or in passes those that
// are older than the prism's retention.
type Job struct {
	Account prism.AccountID
	ID      prism.UUID // of the entry of the audit; for retention that of the prism
	Prism   prism.PrismID
	// Days is the retention; 0 for the job of a call.
	Days   int32
	Ref    *string
	Status prism.Status
	// SavedBefore bounds the time of saving; zero for retention.
	SavedBefore time.Time
	// Before is the bound that the caller gave; zero: none. It is not stored: SavedBefore is at most Before.
	Before time.Time
	// Search is the words and conditions of the call, as JSON; "": none. Found are the next results that they find, which
	// DeletePart needs and does not store.
	Search string
	Found  FoundPart
	// By names what the call selects by, for the audit. It is not stored.
	By []string
	// DueAt is when the pass was due.
	DueAt time.Time
	// Reached is the last id of the pass that was walked.
	Reached prism.UUID
}

// FoundPart is the results of a part of a search, oldest first: up to DeletePart ids, and up to which id it has looked.
type FoundPart struct {
	IDs  []prism.ResultID
	Upto prism.UUID
	End  bool // nothing is behind it
}

const (
	// MaxDeletions bounds the deletions of an account that calls have asked for and that are under way (spec: deletions-under-way).
	MaxDeletions = 1000
	// DeletePart bounds how many results a deleting statement walks: it takes a few milliseconds.
	DeletePart = 500
	// DeletePartFull takes its place while the disk is full, as the bytes of deleted results are overwritten, which takes space first.
	DeletePartFull = 10
	// CountPart bounds how many results a counting statement walks.
	CountPart = 10_000
	// MaxCounted bounds what a call counts.
	MaxCounted = 1_000_000
	// DeletionAge is the least age of a result that a job deletes. The gateway repeats a save for up to 10 s: a repeat must not
	// save again what was deleted in between (spec: deletion-age).
	DeletionAge = time.Minute
	// RetentionPause is the time between two passes of retention.
	RetentionPause = 15 * time.Minute
	// day is a day of retention, whatever a calendar says.
	day = 24 * time.Hour
)

// Bound bounds the time of saving of what the current pass deletes.
func (d Job) Bound() time.Time {
	if d.Days > 0 {
		return d.DueAt.Add(-time.Duration(d.Days) * day)
	}
	if due := d.DueAt.Add(-DeletionAge); due.Before(d.SavedBefore) {
		return due
	}
	return d.SavedBefore
}

// End bounds the ids of the current pass. Retention has no need to look far: results whose ids are later than their time of
// saving, because clocks disagreed, are deleted by a later pass.
func (d Job) End() prism.UUID {
	if d.Days > 0 {
		return prism.FirstUUID(d.Bound().Add(time.Minute))
	}
	return prism.FirstUUID(d.SavedBefore.Add(store.MaxIDAge))
}

// Next is the pass that follows the current one, and false if that was the last.
func (d Job) Next(now time.Time) (Job, bool) {
	switch bound := d.Bound(); {
	case d.Days > 0:
		d.DueAt, d.Reached = now.Add(RetentionPause), prism.UUID{}
	case bound.Before(d.SavedBefore):
		// The next pass deletes what was too young for this one. Ids and times of saving differ by up to store.MaxIDAge.
		d.DueAt, d.Reached = d.SavedBefore.Add(DeletionAge), prism.FirstUUID(bound.Add(-store.MaxIDAge))
	default:
		return d, false
	}
	return d, true
}
