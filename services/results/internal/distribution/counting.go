package distribution

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/changes"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	selectCursor = `SELECT seq, walk FROM distribution_cursors WHERE account_id = $1`
	moveCursor   = `UPDATE distribution_cursors SET seq = $2, walk = $3 WHERE account_id = $1`

	nextChanges = `-- name: ChangesToCount :many
SELECT c.result_id, c.type, c.seq FROM changes c WHERE c.account_id = $1 AND c.seq > $2 ORDER BY c.seq LIMIT $3`
	nextOld = `-- name: OldResultsToCount :many
SELECT r.id FROM results r WHERE r.account_id = $1 AND r.id < $2 ORDER BY r.id DESC LIMIT $3`
	// notReached are the changes of results that are not counted yet.
	notReached = `-- name: ChangesNotCounted :many
SELECT c.result_id, c.type FROM changes c
WHERE c.account_id = $1 AND c.seq > $2 AND c.type IN (1, 3) AND c.result_id >= $3 AND c.result_id <= $4
UNION ALL
SELECT t.result_id, t.type FROM tail t WHERE t.account_id = $1 AND t.type IN (1, 3) AND t.result_id >= $3 AND t.result_id <= $4`

	selectSeen = `SELECT result_id FROM distribution_seen WHERE account_id = $1`
	insertSeen = `INSERT INTO distribution_seen (account_id, result_id) VALUES ($1, $2)`
	deleteSeen = `DELETE FROM distribution_seen WHERE account_id = $1 AND result_id >= $2`
	putLabel   = `INSERT INTO distribution_labels (account_id, result_id, question, is_right) VALUES ($1, $2, $3, $4)
ON CONFLICT (account_id, result_id, question) DO UPDATE SET is_right = excluded.is_right`
	deleteLabel = `DELETE FROM distribution_labels WHERE account_id = $1 AND result_id = $2 AND question = $3`
	anyKept     = `SELECT 1 FROM distribution_labels WHERE account_id = $1 AND result_id >= $2 AND result_id <= $3 LIMIT 1`

	whereHour  = ` WHERE account_id = $1 AND prism_id = $2 AND question = $3 AND version = $4 AND at = $5`
	selectHour = `SELECT counts FROM distribution` + whereHour
	insertHour = `INSERT INTO distribution (account_id, prism_id, question, version, at, counts) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (account_id, prism_id, question, at, version) DO NOTHING RETURNING version`
	updateHour = `UPDATE distribution SET counts = $6` + whereHour
)

var (
	ids          = sqldb.Parameters(2, sqldb.PartSize)
	countedOfIDs = `-- name: ResultsToCount :many
SELECT r.id, r.prism_id, r.version, r.created_at, r.answers FROM results r
WHERE r.account_id = $1 AND r.status = 'ok' AND r.id IN (` + ids + `) ORDER BY r.id`
	// labelsOfIDs are the labels of results, and those that are counted, which have no value.
	labelsOfIDs = `-- name: LabelsToCount :many
SELECT l.result_id, l.question, l.value, 0 FROM results r
JOIN labels l ON l.account_id = r.account_id AND l.prism_id = r.prism_id AND l.result_id = r.id
WHERE r.account_id = $1 AND r.id IN (` + ids + `)
UNION ALL
SELECT k.result_id, k.question, NULL, k.is_right FROM distribution_labels k WHERE k.account_id = $1 AND k.result_id IN (` + ids + `)`
	deleteKept = `DELETE FROM distribution_labels WHERE account_id = $1 AND result_id IN (` + ids + `)`
)

// cursor is how far the counting of an account is. Results with ids below walk are still to be walked, but for those in seen, which
// their changes told meanwhile. walk is zero after the last of them.
type cursor struct {
	seq  int64
	walk prism.UUID
	seen map[prism.UUID]bool
}

// walks reports whether a result is left to the walk.
func (c cursor) walks(id prism.UUID) bool { return sqldb.CompareIDs(id, c.walk) < 0 && !c.seen[id] }

// counting counts for an account in a transaction.
type counting struct {
	SQL
	run     sqldb.Run
	account prism.AccountID
	limit   int
}

func (c counting) change(ctx context.Context, text string, args ...any) error {
	return c.run(ctx, sqldb.Statement{Text: text, Args: append([]any{c.account.UUID}, args...)}, sqldb.NoRow)
}

// cursor reads the cursor: store.ErrNotFound if there is none, or if locking skips it.
func (c counting) cursor(ctx context.Context, locking string) (position cursor, err error) {
	st := sqldb.Statement{Text: selectCursor + locking, Args: []any{c.account.UUID}}
	if err := c.run(ctx, st, sqldb.ReadRow(&position, func(r *sqldb.Row) cursor { return cursor{seq: r.Int(), walk: r.UUID()} })); err != nil {
		return position, err
	}
	if position.walk.IsZero() {
		return position, nil
	}
	position.seen = map[prism.UUID]bool{}
	return position, c.run(ctx, sqldb.Statement{Text: selectSeen, Args: []any{c.account.UUID}}, func(rows iter.Seq[*sqldb.Row]) error {
		for r := range rows {
			position.seen[r.UUID()] = true
		}
		return nil
	})
}

// notReached finds which results with ids from first to last have changes behind a cursor. A result that was created is true.
func (c counting) notReached(ctx context.Context, of cursor, first, last prism.UUID) (map[prism.UUID]bool, error) {
	found := map[prism.UUID]bool{}
	st := sqldb.Statement{Text: notReached, Args: []any{c.account.UUID, of.seq, first, last}}
	return found, c.run(ctx, st, func(rows iter.Seq[*sqldb.Row]) error {
		for r := range rows {
			id, typ := r.UUID(), changes.Type(r.Int32())
			found[id] = found[id] || typ == changes.Created
		}
		return nil
	})
}

// Count implements Store. The lock of the cursor has one process at a time count for an account.
func (s SQL) Count(ctx context.Context, account prism.AccountID, limit int) (more bool, err error) {
	err = s.Transaction(ctx, "count_distribution", func(run sqldb.Run) error {
		more = false
		c := counting{s, run, account, limit}
		was, err := c.cursor(ctx, s.Locking(true))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		next := was
		results := map[prism.UUID]bool{} // whether it is fresh
		told, err := c.told(ctx, was, &next, results)
		if err != nil {
			return err
		}
		if more = told == limit; !was.walk.IsZero() {
			if err := c.old(ctx, was, &next, results); err != nil {
				return err
			}
			more = more || !next.walk.IsZero()
		}
		if next.seq == was.seq && next.walk == was.walk {
			return nil
		}
		if err := c.add(ctx, results, s.Sharing()); err != nil {
			return err
		}
		return c.change(ctx, moveCursor, next.seq, next.walk)
	})
	return more, err
}

// told finds the results that the next changes tell of.
func (c counting) told(ctx context.Context, was cursor, next *cursor, results map[prism.UUID]bool) (n int, err error) {
	st := sqldb.Statement{Text: nextChanges, Args: []any{c.account.UUID, was.seq, int64(c.limit)}}
	err = c.run(ctx, st, func(rows iter.Seq[*sqldb.Row]) error {
		n = 0
		for r := range rows {
			id, typ, seq := r.UUID(), changes.Type(r.Int32()), r.Int()
			n, next.seq = n+1, seq
			if typ == changes.Created || typ == changes.Labelled && (results[id] || !was.walks(id)) {
				results[id] = results[id] || typ == changes.Created
			}
		}
		return nil
	})
	return n, err
}

// old finds the next old results of the walk. A result that a change tells of is left to that change: one that was told before the walk
// came by is seen, and is not seen any more when the walk has come by.
func (c counting) old(ctx context.Context, was cursor, next *cursor, results map[prism.UUID]bool) error {
	var walked []prism.UUID
	st := sqldb.Statement{Text: nextOld, Args: []any{c.account.UUID, was.walk, int64(c.limit)}}
	if err := c.run(ctx, st, sqldb.ReadRows(&walked, (*sqldb.Row).UUID)); err != nil {
		return err
	}
	if next.walk = (prism.UUID{}); len(walked) == c.limit {
		next.walk = walked[c.limit-1]
	}
	for id, fresh := range results {
		if fresh && sqldb.CompareIDs(id, next.walk) < 0 {
			if err := c.change(ctx, insertSeen, id); err != nil {
				return err
			}
		}
	}
	if err := c.change(ctx, deleteSeen, next.walk); err != nil || len(walked) == 0 {
		return err
	}
	told, err := c.notReached(ctx, was, walked[len(walked)-1], walked[0])
	if err != nil {
		return err
	}
	for _, id := range walked {
		if !told[id] && !was.seen[id] {
			results[id] = true
		}
	}
	return nil
}

// Settle counts what is not counted yet of results that the transaction is about to delete, whose rows it has locked. So no reader counts
// them at the same time, and nobody changes their labels. The ids are sorted.
func (s SQL) Settle(ctx context.Context, run sqldb.Run, account prism.AccountID, ids []prism.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	c := counting{SQL: s, run: run, account: account}
	position, err := c.cursor(ctx, "")
	begun := err == nil
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	first, last := ids[0], ids[len(ids)-1]
	var told map[prism.UUID]bool
	if begun {
		if told, err = c.notReached(ctx, position, first, last); err != nil {
			return err
		}
	}
	results := map[prism.UUID]bool{}
	for _, id := range ids {
		fresh, changed := told[id]
		fresh = fresh || !begun || position.walks(id)
		if fresh || changed {
			results[id] = fresh
		}
	}
	if err := c.add(ctx, results, ""); err != nil {
		return err
	}
	st := sqldb.Statement{Text: anyKept, Args: []any{account.UUID, first, last}}
	if err := run(ctx, st, sqldb.SomeRow); errors.Is(err, store.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	return sqldb.EachPart(ids, func(part []any) error { return c.change(ctx, deleteKept, part...) })
}

// add counts results, and those that are fresh for the first time. All of them are locked before the first sum is, so that a deletion and
// a reader cannot wait for each other.
func (c counting) add(ctx context.Context, results map[prism.UUID]bool, locking string) error {
	sums := newSums()
	var changed []keptLabel
	all := slices.SortedFunc(maps.Keys(results), sqldb.CompareIDs)
	err := sqldb.EachPart(all, func(part []any) error {
		found, err := c.load(ctx, part, locking)
		for i := range found {
			found[i].fresh = results[found[i].id]
			changed = append(changed, sums.add(&found[i])...)
		}
		return err
	})
	if err != nil {
		return err
	}
	for of, h := range sums.sorted() {
		if err := c.addHour(ctx, of, h); err != nil {
			return err
		}
	}
	for _, l := range changed {
		if l.removed {
			err = c.change(ctx, deleteLabel, l.result, l.question)
		} else {
			err = c.change(ctx, putLabel, l.result, l.question, int32(number(l.right))) //nolint:gosec // it is 0 or 1
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// load reads those of some results that are there and ok.
func (c counting) load(ctx context.Context, part []any, locking string) (loaded []counted, err error) {
	args := append([]any{c.account.UUID}, part...)
	st := sqldb.Statement{Text: countedOfIDs + locking, Args: args}
	if err := c.run(ctx, st, sqldb.ReadRows(&loaded, func(r *sqldb.Row) counted {
		return counted{
			id: r.UUID(), prism: r.UUID(), version: r.Int32(), at: r.Time(), answers: r.Bytes(),
			labels: map[string]string{}, countedRight: map[string]bool{},
		}
	})); err != nil {
		return nil, err
	}
	err = c.run(ctx, sqldb.Statement{Text: labelsOfIDs, Args: args}, func(rows iter.Seq[*sqldb.Row]) error {
		for r := range rows {
			id, question, value, right := r.UUID(), r.Text(), r.OptionalText(), r.Bool()
			i, is := slices.BinarySearchFunc(loaded, id, func(c counted, id prism.UUID) int { return sqldb.CompareIDs(c.id, id) })
			switch {
			case !is:
			case value != nil:
				loaded[i].labels[question] = *value
			default:
				loaded[i].countedRight[question] = right
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	results := make([]*counted, len(loaded))
	for i := range loaded {
		results[i] = &loaded[i]
	}
	return loaded, leaveOutExamples(ctx, c.run, c.account, results)
}

// sorted are the sums of hours, in one order for all transactions.
func (s *sums) sorted() iter.Seq2[slot, *hour] {
	slots := slices.SortedFunc(maps.Keys(s.hours), func(a, b slot) int {
		return cmp.Or(sqldb.CompareIDs(a.prism, b.prism), strings.Compare(a.question, b.question), cmp.Compare(a.at, b.at), cmp.Compare(a.version, b.version))
	})
	return func(yield func(slot, *hour) bool) {
		for _, of := range slots {
			if !yield(of, s.hours[of]) {
				return
			}
		}
	}
}

// addHour adds to the sums of an hour, or stores them as its first ones.
func (c counting) addHour(ctx context.Context, of slot, more *hour) error {
	args := []any{c.account.UUID, of.prism, of.question, of.version, time.Unix(of.at, 0).UTC()}
	read := func() (h hour, err error) {
		var stored []byte
		st := sqldb.Statement{Text: selectHour + c.Locking(false), Args: args}
		if err := c.run(ctx, st, sqldb.ReadRow(&stored, (*sqldb.Row).Bytes)); err != nil {
			return h, err
		}
		return h, h.decode(stored)
	}
	h, err := read()
	if errors.Is(err, store.ErrNotFound) {
		err = c.run(ctx, sqldb.Statement{Text: insertHour, Args: append(args[:5:5], more.encode())}, sqldb.SomeRow)
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		h, err = read() // another transaction was first
	}
	if err != nil {
		return err
	}
	for i := range h {
		h[i].Add(&more[i])
	}
	return c.run(ctx, sqldb.Statement{Text: updateHour, Args: append(args[:5:5], h.encode())}, sqldb.NoRow)
}
