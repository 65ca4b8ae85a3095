package labelqueue

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// SQL is a Store in a database.
type SQL struct{ sqldb.Database }

const (
	labelledIDs = `-- name: LabelledIDs :many
SELECT l.result_id FROM labels l
WHERE l.account_id = $1 AND l.prism_id = $2 AND l.question = $3 AND l.result_id BETWEEN $4 AND $5 ORDER BY l.result_id DESC`
	newestIDs = `-- name: NewestIDs :many
SELECT r.id FROM results r WHERE r.account_id = $1 AND r.prism_id = $2 AND r.id > $3 AND r.id < $4 ORDER BY r.id DESC LIMIT $5`

	unlabelled = `-- name: Unlabelled :many
SELECT r.id, r.version, r.answers FROM results r`
	queuedIDs = `-- name: Queued :many
SELECT r.id, r.version, `
	queuedResults = `-- name: QueuedResults :many
SELECT ` + sqldb.Fixed + sqldb.Input + ` FROM results r`
)

// queuePart is how many ids RandomQueue holds at once.
const queuePart = 25_000

// RandomQueue implements Store. It reads only ids, from an index, and keeps the first ones by position.
func (s SQL) RandomQueue(
	ctx context.Context, account prism.AccountID, q Queue, from, after prism.UUID, limit int,
) (entries []Entry, err error) {
	var work fair.Work
	first := firstEntries{limit: limit}
	before := store.Page{}.Before()
	for read := 0; read < MaxResults; read += queuePart {
		var ids, labelled []prism.UUID
		args := []any{account.UUID, q.Prism.UUID, from, before, int64(queuePart)}
		if err := s.Run(ctx, sqldb.Query("newest_ids", newestIDs, args...), sqldb.ReadRows(&ids, (*sqldb.Row).UUID)); err != nil {
			return nil, err
		}
		if len(ids) == 0 {
			break
		}
		before = ids[len(ids)-1]
		args = []any{account.UUID, q.Prism.UUID, q.Question, before, ids[0]}
		if err := s.Run(ctx, sqldb.Query("labelled_ids", labelledIDs, args...), sqldb.ReadRows(&labelled, (*sqldb.Row).UUID)); err != nil {
			return nil, err
		}
		for i, id := range ids {
			if i%256 == 0 {
				work.Step()
			}
			for len(labelled) > 0 && sqldb.CompareIDs(labelled[0], id) > 0 {
				labelled = labelled[1:]
			}
			if len(labelled) > 0 && labelled[0] == id {
				continue
			}
			e := Entry{Result: prism.ResultID{UUID: id}}
			if e.Position = RandomPosition(e.Result); sqldb.CompareIDs(e.Position, after) > 0 {
				first.add(e)
			}
		}
		if len(ids) < queuePart {
			break
		}
	}
	return first.sorted(), nil
}

// firstEntries keeps the first entries by position, as many as limit. Between two sorts it holds up to twice as many.
type firstEntries struct {
	limit   int
	entries []Entry
	full    bool       // there were limit entries or more
	last    prism.UUID // if full, no entry after this position is one of the first
}

func (f *firstEntries) add(e Entry) {
	if f.full && sqldb.CompareIDs(e.Position, f.last) > 0 {
		return
	}
	if f.entries = append(f.entries, e); len(f.entries) >= 2*f.limit {
		f.entries = f.sorted()
		f.full, f.last = true, f.entries[f.limit-1].Position
	}
}

func (f *firstEntries) sorted() []Entry {
	slices.SortFunc(f.entries, func(a, b Entry) int { return sqldb.CompareIDs(a.Position, b.Position) })
	return f.entries[:min(f.limit, len(f.entries))]
}

// whereQueued narrows results r to those of the queue.
func whereQueued(l *sqldb.List, query string, account prism.AccountID, q Queue) {
	l.Results(query, account, store.Filter{Prism: q.Prism, Version: q.Version, Status: prism.OK})
	l.Add(" AND NOT EXISTS (SELECT 1 FROM labels l WHERE l.account_id = ", account.UUID)
	l.Add(" AND l.prism_id = ", q.Prism.UUID)
	l.Add(" AND l.result_id = r.id AND l.question = ", q.Question)
	l.Write(")")
}

// Unlabelled implements Store.
func (s SQL) Unlabelled(
	ctx context.Context, account prism.AccountID, q Queue, page store.Page,
	entry func(Unlabelled) (*Entry, error),
) (entries []Entry, last prism.UUID, err error) {
	l := sqldb.NewList("unlabelled")
	whereQueued(&l, unlabelled, account, q)
	l.Page(page, "<", "DESC")
	var failed error
	err = s.Run(ctx, l.Complete(), func(rows iter.Seq[*sqldb.Row]) error {
		entries, last, failed = nil, prism.UUID{}, nil
		read := 0
		for r := range rows {
			u := Unlabelled{Result: prism.ResultID{UUID: r.UUID()}, Version: r.Int32(), Answers: r.Bytes()}
			var e *Entry
			if e, failed = entry(u); failed != nil {
				return nil
			}
			if e != nil {
				entries = append(entries, *e)
			}
			if read++; read == page.Limit {
				last = u.Result.UUID
			}
		}
		return nil
	})
	return entries, last, cmp.Or(err, failed)
}

// Queued implements Store.
func (s SQL) Queued(
	ctx context.Context, account prism.AccountID, q Queue, ids []prism.ResultID,
) (queued []Queued, err error) {
	query := queuedIDs + s.Size("r.context", "r.fields", "r.answers") + ` FROM results r`
	return queuedOf(ctx, s, sqldb.Statement{Operation: "queued", Text: query}, account, q, ids, func(r *sqldb.Row) Queued {
		return Queued{Result: prism.ResultID{UUID: r.UUID()}, Version: r.Int32(), Bytes: int(r.Int())}
	})
}

// QueuedResults implements Store.
func (s SQL) QueuedResults(
	ctx context.Context, account prism.AccountID, q Queue, ids []prism.ResultID,
) (results []prism.Result, err error) {
	statement := sqldb.Statement{Operation: "queued_results", Text: queuedResults}
	return queuedOf(ctx, s, statement, account, q, ids, func(r *sqldb.Row) prism.Result { return r.Result(q.Prism, store.WithInput) })
}

// queuedOf finds those of some results that are in the queue, by a statement up to its conditions.
func queuedOf[T any](
	ctx context.Context, s SQL, query sqldb.Statement, account prism.AccountID, q Queue, ids []prism.ResultID, read func(*sqldb.Row) T,
) (queued []T, err error) {
	err = sqldb.EachPart(sqldb.UUIDs(ids), func(part []any) error {
		l := sqldb.NewList(query.Operation)
		whereQueued(&l, query.Text, account, q)
		l.In(" AND r.id IN (", part)
		var found []T
		err := s.Run(ctx, l.Complete(), sqldb.ReadRows(&found, read))
		queued = append(queued, found...)
		return err
	})
	return queued, err
}
