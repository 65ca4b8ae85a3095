package events

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	readEvents = `-- name: ReadEvents :many
SELECT e.seq, e.at, e.type, e.prism_id, e.subject_id, e.detail FROM events e
WHERE e.account_id = $1 AND e.seq > $2 AND e.seq <= $3 ORDER BY e.seq LIMIT $4`
	// readChanges has no status of a result that is not there any more.
	readChanges = `-- name: ReadChangesOfEvents :many
SELECT c.seq, c.at, c.type, c.prism_id, c.result_id, r.status, r.run_id
FROM changes c LEFT JOIN results r ON r.account_id = c.account_id AND r.id = c.result_id
WHERE c.account_id = $1 AND c.seq > $2 AND c.seq <= $3`
	// withoutCreated looks results up in the index of those that failed, which is small.
	withoutCreated = ` AND (c.type <> 1 OR EXISTS (
	SELECT 1 FROM results f WHERE f.account_id = c.account_id AND f.id = c.result_id AND f.status = 'failed'
))`
	inOrder = ` ORDER BY c.seq`

	findPrisms = `-- name: EventPrisms :many
SELECT p.id, p.slug, p.latest_version FROM prisms p WHERE p.account_id = $1 AND p.id IN (`
	findRuns = `-- name: EventRuns :many
SELECT r.id, r.status FROM runs r WHERE r.account_id = $1 AND r.id IN (`
)

// The types of changes that are events.
const (
	created  = 1
	labelled = 3
)

// others is the log of what is no change of a result.
var others = sqldb.NewLog("Events", "events", "event_counts")

// SQL is a Store in a database.
type SQL struct{ sqldb.Database }

// counts are the numbers of changes and others. Others are counted first: a run has not finished before its last result was saved, and both
// get their numbers together (spec: event-order).
func (s SQL) counts(ctx context.Context, operation string, account prism.AccountID) (ofChanges, ofOthers sqldb.LogCounts, err error) {
	ofOthers, err = others.Counts(ctx, s.Run, operation, account)
	if err == nil {
		ofChanges, err = sqldb.ChangesOfResults.Counts(ctx, s.Run, operation, account)
	}
	return ofChanges, ofOthers, err
}

// LatestEvents implements Store. The numbers must be as durable as what they number.
func (s SQL) LatestEvents(ctx context.Context, account prism.AccountID) (Cursor, error) {
	if err := s.FoldAll(ctx); err != nil {
		return Cursor{}, err
	}
	ofChanges, ofOthers, err := s.counts(ctx, "latest_events", account)
	if err == nil {
		err = s.ConfirmAll(ctx, account)
	}
	if err != nil {
		return Cursor{}, err
	}
	return Cursor{Change: ofChanges.Last, Other: ofOthers.Last}, nil
}

// numbered is the events of a number: none, one or two.
type numbered struct {
	seq    int64
	at     time.Time
	events []Event
}

// ReadEvents implements Store, as changes.SQL.ReadChanges does.
func (s SQL) ReadEvents(
	ctx context.Context, account prism.AccountID, after Cursor, limit int, created bool,
) (events []Event, next Cursor, err error) {
	ofChanges, ofOthers, err := s.counts(ctx, "read_events", account)
	if err != nil {
		return nil, next, err
	}
	var change, other error
	after.Change, change = ofChanges.Behind(after.Change)
	after.Other, other = ofOthers.Behind(after.Other)
	if err := errors.Join(change, other); err != nil {
		return nil, next, err
	}
	if after == (Cursor{Change: ofChanges.Last, Other: ofOthers.Last}) {
		return nil, after, nil
	}
	var pageOfChanges, pageOfOthers []numbered
	if after.Other < ofOthers.Last {
		st := sqldb.Query("read_events", readEvents, account.UUID, after.Other, ofOthers.Last, int64(limit))
		if err := s.Run(ctx, st, sqldb.ReadRows(&pageOfOthers, readOther)); err != nil {
			return nil, next, err
		}
	}
	lastChange := min(after.Change+int64(limit), ofChanges.Last) // numbers have no gaps
	if after.Change < lastChange {
		text := readChanges + inOrder
		if !created {
			text = readChanges + withoutCreated + inOrder
		}
		st := sqldb.Query("read_events", text, account.UUID, after.Change, lastChange)
		if err := s.Run(ctx, st, sqldb.ReadRows(&pageOfChanges, readChange)); err != nil {
			return nil, next, err
		}
		pageOfChanges = append(pageOfChanges, numbered{seq: lastChange}) // so that the page ends behind those that were left out
	}
	changesNow, othersNow, err := s.counts(ctx, "read_events", account)
	if err == nil && (changesNow.Removed > after.Change || othersNow.Removed > after.Other) {
		err = store.ErrChangesRemoved
	}
	if err == nil {
		err = s.ConfirmAll(ctx, account)
	}
	if err != nil {
		return nil, next, err
	}
	events, next = merge(after, pageOfChanges, pageOfOthers, lastChange < ofChanges.Last, len(pageOfOthers) == limit)
	return events, next, nil
}

// merge joins the events of changes and others by their times, as far as both are known: of those that are more than the page, some may be
// older.
func merge(after Cursor, changes, others []numbered, moreChanges, moreOthers bool) (events []Event, next Cursor) {
	next = after
	for {
		switch {
		case len(changes) > 0 && len(changes[0].events) == 0: // keeps nothing behind it until its time: that a result was retried or deleted
			next.Change, next.Told, changes = changes[0].seq, 0, changes[1:]
		case len(changes) > 0 && (len(others) == 0 && !moreOthers || len(others) > 0 && !others[0].at.Before(changes[0].at)):
			ofChange := changes[0].events
			for i := min(int(next.Told), len(ofChange)); i < len(ofChange)-1; i++ {
				next.Told = int64(i) + 1
				ofChange[i].Behind = next
				events = append(events, ofChange[i])
			}
			told := next.Told
			next.Change, next.Told, changes = changes[0].seq, 0, changes[1:]
			if int(told) < len(ofChange) {
				ofChange[len(ofChange)-1].Behind = next
				events = append(events, ofChange[len(ofChange)-1])
			}
		case len(others) > 0 && (len(changes) > 0 || !moreChanges):
			next.Other = others[0].seq
			others[0].events[0].Behind = next
			events, others = append(events, others[0].events[0]), others[1:]
		default:
			return events, next
		}
	}
}

func readOther(r *sqldb.Row) numbered {
	seq := r.Int()
	e := Event{At: r.Time(), Type: api.EventType(r.Text()), Prism: prism.PrismID{UUID: r.UUID()}}
	if subject := r.UUID(); e.Type == api.KeyExpiring {
		e.Key.UUID = subject
	} else {
		e.Run.UUID = subject
	}
	e.EventDetail = sqldb.Decode[store.EventDetail](r)
	return numbered{seq, e.At, []Event{e}}
}

func readChange(r *sqldb.Row) numbered {
	n := numbered{seq: r.Int(), at: r.Time()}
	kind := r.Int32()
	e := Event{
		At: n.at, Prism: prism.PrismID{UUID: r.UUID()}, Result: prism.ResultID{UUID: r.UUID()},
		Status: prism.Status(r.Text()), Run: prism.RunID{UUID: r.UUID()},
	}
	switch kind {
	case created:
		e.Type = api.ResultCreated
		n.events = append(n.events, e)
		if e.Status == prism.Failed {
			e.Type = api.ResultFailed
			n.events = append(n.events, e)
		}
	case labelled:
		e.Type = api.ResultLabelled
		n.events = append(n.events, e)
	}
	return n
}

// RemoveEvents implements Store.
func (s SQL) RemoveEvents(ctx context.Context, before time.Time) (more bool, err error) {
	return others.RemoveBefore(ctx, s.Database, before)
}

// Subjects implements Store.
func (s SQL) Subjects(
	ctx context.Context, account prism.AccountID, prisms []prism.PrismID, runs []prism.RunID,
) (subjects Subjects, err error) {
	subjects = Subjects{Prisms: map[prism.PrismID]Prism{}, Runs: map[prism.RunID]prism.RunStatus{}}
	var ofPrisms, ofRuns []prism.UUID
	for _, id := range prisms {
		ofPrisms = append(ofPrisms, id.UUID)
	}
	for _, id := range runs {
		ofRuns = append(ofRuns, id.UUID)
	}
	type subject struct {
		id prism.UUID
		Prism
		status prism.RunStatus
	}
	st := sqldb.Query("event_prisms", findPrisms+sqldb.Parameters(2, sqldb.PartSize)+")", account.UUID)
	ofAccount, err := sqldb.ReadParts(ctx, s.Run, st, ofPrisms, func(r *sqldb.Row) subject {
		return subject{id: r.UUID(), Prism: Prism{Slug: r.Text(), Latest: r.Int32()}}
	})
	for _, p := range ofAccount {
		subjects.Prisms[prism.PrismID{UUID: p.id}] = p.Prism
	}
	if err != nil {
		return subjects, err
	}
	st = sqldb.Query("event_runs", findRuns+sqldb.Parameters(2, sqldb.PartSize)+")", account.UUID)
	ofAccount, err = sqldb.ReadParts(ctx, s.Run, st, ofRuns, func(r *sqldb.Row) subject {
		return subject{id: r.UUID(), status: prism.RunStatus(r.Text())}
	})
	for _, run := range ofAccount {
		subjects.Runs[prism.RunID{UUID: run.id}] = run.status
	}
	return subjects, err
}
