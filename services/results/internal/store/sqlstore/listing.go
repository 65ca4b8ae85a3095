package sqlstore

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	listResults = `-- name: ListResults :many
SELECT ` + PrismState + `, ` + Fixed

	listRunResults = `-- name: ListRunResults :many
SELECT r.run_row, ` + PrismState + `, ` + Fixed

	listedResults = `
FROM results r
JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id`

	lookedAt = `-- name: LookedAt :one
SELECT r.id FROM results r`

	findResults = `-- name: FindResults :many
SELECT ` + Fixed + `
FROM results r`

	exportResults = `-- name: ExportResults :many
SELECT ` + Fixed + Input + `
FROM results r`
)

// ListResults implements store.Listing.
func (s Store) ListResults(
	ctx context.Context, account prism.AccountID, f store.Filter, in store.Input, page store.Page,
) (results []store.Saved, more bool, err error) {
	l := list{Statement: Statement{Operation: "list_results", ReadOnly: true}}
	lens := "" // of the row before: rows of the same prism share it
	read := func(r *Row) store.Saved {
		saved := r.Saved(in)
		r.share(&saved.Prism.Lens, &lens)
		return saved
	}
	columns, wide := "", []string{"answers"}
	if in == store.WithInput {
		columns, wide = Input, []string{"answers", "context", "fields"}
	}
	if f.Run != nil {
		l.where(listRunResults+columns+listedResults, account, f)
		if !page.After.IsZero() {
			row, last := contract.ParseRowPosition(page.After)
			l.add(" AND (r.run_row, r.id) > (", row)
			l.add(", ", last.UUID)
			l.text.WriteString(")")
		}
		l.add(" ORDER BY r.run_row, r.id LIMIT ", int64(page.Limit)+1)
		return readPage(ctx, s, l.statement(), page.Limit, func(r *Row) store.Saved {
			row := r.Int()
			saved := read(r)
			saved.RunRow = row
			return saved
		}, wide...)
	}
	l.where(listResults+columns+listedResults, account, f)
	if !page.Until.IsZero() {
		l.add(" AND r.id >= ", page.Until)
	}
	l.newest(page)
	return readPage(ctx, s, l.statement(), page.Limit, read, wide...)
}

// LookedAt implements store.Listing. It reads only ids, from an index: the times become bounds of the ids.
func (s Store) LookedAt(
	ctx context.Context, account prism.AccountID, f store.Filter, after prism.UUID, results int,
) (id prism.UUID, err error) {
	l := list{Statement: Statement{Operation: "looked_at", ReadOnly: true}}
	l.where(lookedAt, account, store.Filter{Prism: f.Prism})
	l.ids(f.From, f.To)
	if !after.IsZero() {
		l.add(" AND r.id < ", after)
	}
	l.add(" ORDER BY r.id DESC LIMIT 1 OFFSET ", int64(results-1))
	err = s.Run(ctx, l.statement(), one(&id, (*Row).UUID))
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return id, err
}

// ExportResults implements store.Listing.
func (s Store) ExportResults(
	ctx context.Context, account prism.AccountID, id prism.PrismID, f store.Filter, page store.Page,
) (results []prism.Result, err error) {
	f.Prism, f.Ref, f.Version = id, nil, 0
	l := list{Statement: Statement{Operation: "export_results", ReadOnly: true}}
	l.where(exportResults, account, f)
	l.page(page, ">", "ASC")
	err = s.Run(ctx, l.statement(), piece(&results, func(r *Row) prism.Result { return r.Result(id, store.WithInput) }))
	return results, err
}

// FindResults implements store.Listing.
func (s Store) FindResults(
	ctx context.Context, account prism.AccountID, id prism.PrismID, ids []prism.ResultID, in store.Input,
) (results []prism.Result, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	l := list{Statement: Statement{Operation: "find_results", ReadOnly: true}}
	query := findResults
	if in == store.WithInput {
		query = exportResults
	}
	l.where(query, account, store.Filter{Prism: id})
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id.UUID
	}
	l.in(" AND r.id IN (", args)
	err = s.Run(ctx, l.statement(), all(&results, func(r *Row) prism.Result { return r.Result(id, in) }))
	return results, err
}

// list writes a statement that lists rows r, such as results. Its conditions depend on the filter: a condition that is
// always there ("$1 IS NULL OR …") would keep the planner from using an index.
type list struct {
	Statement
	text strings.Builder
}

func (l *list) where(query string, account prism.AccountID, f store.Filter) {
	l.add(query+" WHERE r.account_id = ", account.UUID)
	if !f.Prism.IsZero() {
		l.add(" AND r.prism_id = ", f.Prism.UUID)
	}
	if f.Ref != nil {
		l.add(" AND r.ref = ", *f.Ref)
	}
	switch f.Status {
	case "":
	case prism.Failed:
		// A literal: the index of failed results is only used if the statement names the status.
		l.text.WriteString(" AND r.status = 'failed'")
	default:
		l.add(" AND r.status = ", string(f.Status))
	}
	if f.Version != 0 {
		l.add(" AND r.version = ", f.Version)
	}
	if f.Model != "" {
		l.add(" AND r.model = ", f.Model)
	}
	if f.Key != nil {
		l.add(" AND r.key_id = ", f.Key.UUID)
	}
	if f.Run != nil {
		l.add(" AND r.run_id = ", f.Run.UUID)
	}
	l.between(f.From, f.To)
}

// between narrows the list to rows that were created from a time until before another; a zero time is no bound.
func (l *list) between(from, to time.Time) {
	if !from.IsZero() {
		l.add(" AND r.created_at >= ", from)
	}
	if !to.IsZero() {
		l.add(" AND r.created_at < ", to)
	}
	l.ids(from, to)
}

// ids narrows the list to the ids that rows created between the times can have; a zero time is no bound.
func (l *list) ids(from, to time.Time) {
	if !from.IsZero() {
		l.add(" AND r.id >= ", prism.FirstUUID(from.Add(-store.MaxIDAge)))
	}
	if !to.IsZero() {
		l.add(" AND r.id < ", prism.FirstUUID(to.Add(store.MaxIDLead)))
	}
}

func (l *list) page(p store.Page, after, direction string) {
	if !p.After.IsZero() {
		l.add(" AND r.id "+after+" ", p.After)
	}
	l.add(" ORDER BY r.id "+direction+" LIMIT ", int64(p.Limit))
}

// newest is a page, newest first, and one row more, which tells that there are more.
func (l *list) newest(p store.Page) {
	p.Limit++
	l.page(p, "<", "DESC")
}

// in appends text and parameters, at least one, and a closing parenthesis.
func (l *list) in(text string, args []any) {
	for _, arg := range args {
		l.add(text, arg)
		text = ", "
	}
	l.text.WriteString(")")
}

// add appends text and a parameter.
func (l *list) add(text string, arg any) {
	l.Args = append(l.Args, arg)
	l.text.WriteString(text + "$" + strconv.Itoa(len(l.Args)))
}

// statement is the statement so far.
func (l *list) statement() Statement {
	l.Text = l.text.String()
	return l.Statement
}
