package events

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// countEvents and countChanges are the numbers of the last one and of the last one that was removed. Events are counted first: a run has
	// not finished before its last result was saved, and both get their numbers together (spec: event-order).
	countEvents = `-- name: CountEvents :one
SELECT seq, removed FROM event_counts WHERE account_id = $1`
	countChanges = `-- name: CountChangesOfEvents :one
SELECT seq, removed FROM change_counts WHERE account_id = $1`

	readEvents = `-- name: ReadEvents :many
SELECT e.seq, e.at, e.type, e.prism_id, e.subject_id, e.detail FROM events e
WHERE e.account_id = $1 AND e.seq > $2 AND e.seq <= $3 ORDER BY e.seq LIMIT $4`
	// readChanges has no status of a result that is not there any more.
	readChanges = `-- name: ReadChangesOfEvents :many
SELECT c.seq, c.at, c.type, c.prism_id, c.result_id, r.status, r.run_id
FROM changes c LEFT JOIN results r ON r.account_id = c.account_id AND r.id = c.result_id
WHERE c.account_id = $1 AND c.seq > $2 AND c.seq <= $3 ORDER BY c.seq LIMIT $4`

	// oldEvents finds an account whose first event is from before $1, and not its last: the numbers of an account have no gaps.
	oldEvents = `-- name: OldEvents :one
SELECT c.account_id, c.seq, c.removed FROM event_counts c JOIN events x ON x.account_id = c.account_id AND x.seq = c.removed + 1
WHERE c.removed + 1 < c.seq AND x.at < $1 LIMIT 1`
	lastOld      = `SELECT max(seq) FROM events WHERE account_id = $1 AND seq > $2 AND seq <= $3 AND at < $4`
	removeEvents = `DELETE FROM events WHERE account_id = $1 AND seq > $2 AND seq <= $3`

	findPrisms = `-- name: EventPrisms :many
SELECT p.id, p.slug, p.latest_version FROM prisms p WHERE p.account_id = $1 AND p.id IN (`
	findRuns = `-- name: EventRuns :many
SELECT r.id, r.status FROM runs r WHERE r.account_id = $1 AND r.id IN (`

	tellEvent = `INSERT INTO event_tail (account_id, at, type, prism_id, subject_id, detail) VALUES ($1, $2, $3, $4, $5, $6)`
)

// The types of changes that are events.
const (
	created  = 1
	labelled = 3
)

// SQL is a Store in a database.
type SQL struct{ sqldb.Database }

// Tell tells of an event, but of a result, in the transaction of run, which makes it happen.
func Tell(ctx context.Context, run sqldb.Run, account prism.AccountID, e Event) error {
	detail, err := sqldb.Encode(e.Detail)
	if err != nil {
		return err
	}
	subject := e.Run.UUID
	if !e.Key.IsZero() {
		subject = e.Key.UUID
	}
	return run(ctx, sqldb.Statement{Text: tellEvent, Args: []any{
		account.UUID, e.At, string(e.Type), optional(e.Prism.UUID), optional(subject), detail,
	}}, sqldb.NoRow)
}

func optional(id prism.UUID) *prism.UUID {
	if id.IsZero() {
		return nil
	}
	return &id
}

// counts are the numbers of the last event or change of an account, and of the last one that was removed.
type counts struct{ last, removed int64 }

// checkAfter tells whether what is behind a number is there.
func (c counts) checkAfter(after int64) error {
	switch {
	case after < c.removed:
		return store.ErrChangesRemoved
	case after > c.last:
		return store.ErrNoSuchChange
	}
	return nil
}

func (s SQL) counts(ctx context.Context, operation string, account prism.AccountID) (changes, others counts, err error) {
	for _, c := range []struct {
		text string
		into *counts
	}{{countEvents, &others}, {countChanges, &changes}} {
		err := s.Run(ctx, sqldb.Query(operation, c.text, account.UUID), sqldb.ReadRow(c.into, func(r *sqldb.Row) counts {
			return counts{r.Int(), r.Int()}
		}))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return changes, others, err
		}
	}
	return changes, others, nil
}

// LatestEvents implements Store. The numbers must be as durable as what they number.
func (s SQL) LatestEvents(ctx context.Context, account prism.AccountID) (Cursor, error) {
	changes, others, err := s.counts(ctx, "latest_events", account)
	if err == nil {
		err = s.ConfirmAll(ctx, account)
	}
	if err != nil {
		return Cursor{}, err
	}
	return Cursor{Change: changes.last, Other: others.last}, nil
}

// numbered is the events of a number: none, one or two.
type numbered struct {
	seq    int64
	at     time.Time
	events []Event
}

// ReadEvents implements Store, as changes.SQL.ReadChanges does.
func (s SQL) ReadEvents(
	ctx context.Context, account prism.AccountID, after Cursor, limit int,
) (events []Event, next Cursor, err error) {
	changes, others, err := s.counts(ctx, "read_events", account)
	if err != nil {
		return nil, next, err
	}
	if after.Change == 0 {
		after.Change = changes.removed
	}
	if after.Other == 0 {
		after.Other = others.removed
	}
	if err := errors.Join(changes.checkAfter(after.Change), others.checkAfter(after.Other)); err != nil {
		return nil, next, err
	}
	if after == (Cursor{Change: changes.last, Other: others.last}) {
		return nil, after, nil
	}
	var ofChanges, ofOthers []numbered
	if after.Other < others.last {
		st := sqldb.Query("read_events", readEvents, account.UUID, after.Other, others.last, int64(limit))
		if err := s.Run(ctx, st, sqldb.ReadRows(&ofOthers, readOther)); err != nil {
			return nil, next, err
		}
	}
	if after.Change < changes.last {
		st := sqldb.Query("read_events", readChanges, account.UUID, after.Change, changes.last, int64(limit))
		if err := s.Run(ctx, st, sqldb.ReadRows(&ofChanges, readChange)); err != nil {
			return nil, next, err
		}
	}
	changesNow, othersNow, err := s.counts(ctx, "read_events", account)
	if err == nil && (changesNow.removed > after.Change || othersNow.removed > after.Other) {
		err = store.ErrChangesRemoved
	}
	if err == nil {
		err = s.ConfirmAll(ctx, account)
	}
	if err != nil {
		return nil, next, err
	}
	events, next = merge(after, ofChanges, ofOthers, limit)
	return events, next, nil
}

// merge joins the events of changes and others by their times, as far as both are known: behind a full page there may be older ones.
func merge(after Cursor, changes, others []numbered, limit int) (events []Event, next Cursor) {
	next = after
	moreChanges, moreOthers := len(changes) == limit, len(others) == limit
	for {
		switch {
		case len(changes) > 0 && (len(others) == 0 && !moreOthers || len(others) > 0 && !others[0].at.Before(changes[0].at)):
			of := changes[0].events
			for i := min(int(next.Told), len(of)); i < len(of)-1; i++ {
				next.Told = int64(i) + 1
				of[i].Behind = next
				events = append(events, of[i])
			}
			told := next.Told
			next.Change, next.Told, changes = changes[0].seq, 0, changes[1:]
			if int(told) < len(of) {
				of[len(of)-1].Behind = next
				events = append(events, of[len(of)-1])
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
	e.Detail = sqldb.Decode[Detail](r)
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
	err = s.Transaction(ctx, "remove_events", func(run sqldb.Run) error {
		more = false
		var (
			account prism.UUID
			c       counts
			last    int64
		)
		err := run(ctx, sqldb.Statement{Text: oldEvents, Args: []any{before}}, sqldb.ReadRow(&account, func(r *sqldb.Row) prism.UUID {
			account := r.UUID()
			c = counts{r.Int(), r.Int()}
			return account
		}))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		more = true
		args := []any{account, c.removed, min(c.last-1, c.removed+removedAtOnce), before}
		if err := run(ctx, sqldb.Statement{Text: lastOld, Args: args}, sqldb.ReadRow(&last, (*sqldb.Row).Int)); err != nil {
			return err
		}
		return run(ctx, sqldb.Statement{Text: removeEvents, Args: []any{account, c.removed, last}}, sqldb.NoRow)
	})
	return more, err
}

// Subjects implements Store.
func (s SQL) Subjects(
	ctx context.Context, account prism.AccountID, prisms []prism.PrismID, runs []prism.RunID,
) (found Subjects, err error) {
	found = Subjects{Prisms: map[prism.PrismID]Prism{}, Runs: map[prism.RunID]prism.RunStatus{}}
	find := func(name, text string, part []any, read func(*sqldb.Row)) error {
		st := sqldb.Query(name, text+sqldb.Parameters(2, len(part))+")", append([]any{account.UUID}, part...)...)
		return s.Run(ctx, st, func(rows iter.Seq[*sqldb.Row]) error {
			for r := range rows {
				read(r)
			}
			return nil
		})
	}
	var ofPrisms, ofRuns []prism.UUID
	for _, id := range prisms {
		ofPrisms = append(ofPrisms, id.UUID)
	}
	for _, id := range runs {
		ofRuns = append(ofRuns, id.UUID)
	}
	err = sqldb.EachPart(ofPrisms, func(part []any) error {
		return find("event_prisms", findPrisms, part, func(r *sqldb.Row) {
			id := prism.PrismID{UUID: r.UUID()}
			found.Prisms[id] = Prism{Slug: r.Text(), Latest: r.Int32()}
		})
	})
	if err != nil {
		return found, err
	}
	err = sqldb.EachPart(ofRuns, func(part []any) error {
		return find("event_runs", findRuns, part, func(r *sqldb.Row) {
			id := prism.RunID{UUID: r.UUID()}
			found.Runs[id] = prism.RunStatus(r.Text())
		})
	})
	return found, err
}
