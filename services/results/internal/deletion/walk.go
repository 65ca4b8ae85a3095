package deletion

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// walk finds the last id of the next part of a walk, and reports the end of the walk. A part includes results that do not match.
func walk(ctx context.Context, run sqldb.Run, d Job, part int) (upper prism.UUID, ended bool, err error) {
	l := sqldb.List{}
	whereWalked(&l, selectWalked, d)
	l.Add(" AND r.id < ", d.End())
	// A literal, so that the planner knows that the statement reads few rows.
	l.Write(" ORDER BY r.id LIMIT 1 OFFSET " + strconv.Itoa(part-1))
	err = run(ctx, l.Complete(), sqldb.ReadRow(&upper, (*sqldb.Row).UUID))
	if errors.Is(err, store.ErrNotFound) {
		return d.End(), true, nil
	}
	return upper, false, err
}

// whereWalked selects the results that a job walks: those with its ref if it has one, else those of its prism. Both have an index that
// ends with the id, so a part reads its results and no others.
func whereWalked(l *sqldb.List, query string, d Job) {
	l.Add(query+" WHERE r.account_id = ", d.Account.UUID)
	if d.Ref != nil {
		l.Add(" AND r.ref = ", *d.Ref)
	} else {
		l.Add(" AND r.prism_id = ", d.Prism.UUID)
	}
	l.Add(" AND r.id > ", d.Reached)
}

// whereMatches selects the results that a job deletes among those of a part, which ends with the id upper.
func whereMatches(l *sqldb.List, query string, d Job, upper prism.UUID, savedBefore time.Time) {
	whereWalked(l, query, d)
	l.Add(" AND r.id <= ", upper)
	l.Add(" AND r.created_at < ", savedBefore)
	l.Add(" AND r.prism_id = ", d.Prism.UUID)
	if d.Status != "" {
		l.Add(" AND r.status = ", string(d.Status))
	}
}
