package sqlstore

import (
	"context"
	"iter"
	"slices"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	labelledIDs = `-- name: LabelledIDs :many
SELECT l.result_id FROM labels l
WHERE l.account_id = $1 AND l.prism_id = $2 AND l.question = $3 AND l.result_id > $4 ORDER BY l.result_id DESC`
	newestIDs = `-- name: NewestIDs :many
SELECT r.id FROM results r WHERE r.account_id = $1 AND r.prism_id = $2 AND r.id > $3 ORDER BY r.id DESC LIMIT $4`

	unlabelled = `-- name: Unlabelled :many
SELECT r.id, r.version, r.answers FROM results r`
	queuedResults = `-- name: QueuedResults :many
SELECT ` + Fixed + Input + ` FROM results r`
)

// RandomQueue implements store.Labels. It reads only ids, from an index, and keeps the first ones by position.
func (s Store) RandomQueue(
	ctx context.Context, account prism.AccountID, q store.Queue, from, after prism.UUID, limit int,
) (entries []store.QueueEntry, err error) {
	var labelled []prism.UUID
	args := []any{account.UUID, q.Prism.UUID, q.Question, from}
	if err := s.Run(ctx, Statement{"labelled_ids", labelledIDs, args, true}, all(&labelled, (*Row).UUID)); err != nil {
		return nil, err
	}
	args = []any{account.UUID, q.Prism.UUID, from, int64(store.QueueResults)}
	err = s.Run(ctx, Statement{"newest_ids", newestIDs, args, true}, func(rows iter.Seq[*Row]) error {
		first := firstEntries{limit: limit}
		labelled := labelled
		for r := range rows {
			id := r.UUID()
			for len(labelled) > 0 && compareIDs(labelled[0], id) > 0 {
				labelled = labelled[1:]
			}
			if len(labelled) > 0 && labelled[0] == id {
				continue
			}
			e := store.QueueEntry{Result: prism.ResultID{UUID: id}}
			if e.Position = store.RandomPosition(e.Result); compareIDs(e.Position, after) > 0 {
				first.add(e)
			}
		}
		entries = first.sorted()
		return nil
	})
	return entries, err
}

// firstEntries keeps the first entries by position, as many as limit. Between two sorts it holds up to twice as many.
type firstEntries struct {
	limit   int
	entries []store.QueueEntry
	full    bool       // there were limit entries or more
	last    prism.UUID // if full, no entry after this position is one of the first
}

func (f *firstEntries) add(e store.QueueEntry) {
	if f.full && compareIDs(e.Position, f.last) > 0 {
		return
	}
	if f.entries = append(f.entries, e); len(f.entries) >= 2*f.limit {
		f.entries = f.sorted()
		f.full, f.last = true, f.entries[f.limit-1].Position
	}
}

func (f *firstEntries) sorted() []store.QueueEntry {
	slices.SortFunc(f.entries, func(a, b store.QueueEntry) int { return compareIDs(a.Position, b.Position) })
	return f.entries[:min(f.limit, len(f.entries))]
}

// queued narrows results r to those of the queue.
func (l *list) queued(query string, account prism.AccountID, q store.Queue) {
	l.where(query, account, store.Filter{Prism: q.Prism, Version: q.Version, Status: prism.OK})
	l.add(" AND NOT EXISTS (SELECT 1 FROM labels l WHERE l.account_id = ", account.UUID)
	l.add(" AND l.prism_id = ", q.Prism.UUID)
	l.add(" AND l.result_id = r.id AND l.question = ", q.Question)
	l.text.WriteString(")")
}

// Unlabelled implements store.Labels.
func (s Store) Unlabelled(
	ctx context.Context, account prism.AccountID, q store.Queue, page store.Page,
) (found []store.Unlabelled, err error) {
	l := list{Statement: Statement{Operation: "unlabelled", ReadOnly: true}}
	l.queued(unlabelled, account, q)
	l.page(page, "<", "DESC")
	err = s.Run(ctx, l.statement(), all(&found, func(r *Row) store.Unlabelled {
		return store.Unlabelled{Result: prism.ResultID{UUID: r.UUID()}, Version: r.Int32(), Answers: r.Bytes()}
	}))
	return found, err
}

// QueuedResults implements store.Labels.
func (s Store) QueuedResults(
	ctx context.Context, account prism.AccountID, q store.Queue, ids []prism.ResultID,
) (results []prism.Result, err error) {
	err = eachPart(uuids(ids), func(part []any) error {
		l := list{Statement: Statement{Operation: "queued_results", ReadOnly: true}}
		l.queued(queuedResults, account, q)
		l.in(" AND r.id IN (", part)
		var found []prism.Result
		err := s.Run(ctx, l.statement(), all(&found, func(r *Row) prism.Result { return r.Result(q.Prism, store.WithInput) }))
		results = append(results, found...)
		return err
	})
	return results, err
}
