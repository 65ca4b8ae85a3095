// Package listsql writes the statements that list results. Their conditions depend on the filter, and a condition that is
// always there ("$1 IS NULL OR …") would keep the planner from using an index, so sqlc can't generate them.
package listsql

import (
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Dialect is how a database writes parameters and takes their values.
type Dialect struct {
	Parameter string // what precedes the number of a parameter
	UUID      func(prism.UUID) any
	Time      func(time.Time) any
}

// Order is the order of a list, by id.
type Order int

// The orders.
const (
	NewestFirst Order = iota
	OldestFirst
)

// Statement appends the conditions of account, filter and page, the order and the limit to query, which selects from
// results r and ends before its WHERE. It returns the statement and its arguments.
func (d Dialect) Statement(query string, account prism.AccountID, f store.Filter, page store.Page, o Order) (string, []any) {
	w := writer{dialect: d}
	w.sql.WriteString(query + " WHERE ")
	w.compare("r.account_id = ", d.UUID(account.UUID))
	if !f.Prism.IsZero() {
		w.and("r.prism_id = ", d.UUID(f.Prism.UUID))
	}
	if f.Ref != nil {
		w.and("r.ref = ", *f.Ref)
	}
	switch f.Status {
	case "":
	case prism.Failed:
		// A literal: the index of failed results is only used if the statement names the status.
		w.sql.WriteString(" AND r.status = 'failed'")
	default:
		w.and("r.status = ", string(f.Status))
	}
	if !f.From.IsZero() {
		w.and("r.created_at >= ", d.Time(f.From))
		w.and("r.id >= ", d.UUID(prism.FirstUUID(f.From.Add(-store.MaxIDAge))))
	}
	if !f.To.IsZero() {
		w.and("r.created_at < ", d.Time(f.To))
		w.and("r.id < ", d.UUID(prism.FirstUUID(f.To.Add(store.MaxIDAge))))
	}
	after, direction := ">", "ASC"
	if o == NewestFirst {
		after, direction = "<", "DESC"
	}
	if !page.After.IsZero() {
		w.and("r.id "+after+" ", d.UUID(page.After))
	}
	w.compare(" ORDER BY r.id "+direction+" LIMIT ", int64(page.Limit))
	return w.sql.String(), w.args
}

type writer struct {
	dialect Dialect
	sql     strings.Builder
	args    []any
}

func (w *writer) and(text string, arg any) { w.compare(" AND "+text, arg) }

// compare appends text and a parameter.
func (w *writer) compare(text string, arg any) {
	w.args = append(w.args, arg)
	w.sql.WriteString(text + w.dialect.Parameter + strconv.Itoa(len(w.args)))
}
