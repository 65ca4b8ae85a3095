package sqldb

import (
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// List writes a statement that lists rows r, such as results. Its conditions depend on the filter: a condition that is
// always there ("$1 IS NULL OR …") would keep the planner from using an index.
type List struct {
	Statement
	text strings.Builder
}

// NewList is a list that an operation reads.
func NewList(operation string) List { return List{Statement: Query(operation, "")} }

// Write adds text.
func (l *List) Write(text string) { l.text.WriteString(text) }

// Results adds a query for results r and narrows it to those of an account that a filter finds.
func (l *List) Results(query string, account prism.AccountID, f store.Filter) {
	l.Add(query+" WHERE r.account_id = ", account.UUID)
	if !f.Prism.IsZero() {
		l.Add(" AND r.prism_id = ", f.Prism.UUID)
	}
	if f.Ref != nil {
		l.Add(" AND r.ref = ", *f.Ref)
	}
	switch f.Status {
	case "":
	case prism.Failed:
		// A literal: the index of failed results is only used if the statement names the status.
		l.Write(" AND r.status = 'failed'")
	default:
		l.Add(" AND r.status = ", string(f.Status))
	}
	if f.Version != 0 {
		l.Add(" AND r.version = ", f.Version)
	}
	if f.Model != "" {
		l.Add(" AND r.model = ", f.Model)
	}
	if f.Key != nil {
		l.Add(" AND r.key_id = ", f.Key.UUID)
	}
	if f.Run != nil {
		l.Add(" AND r.run_id = ", f.Run.UUID)
	}
	switch {
	case f.Assignee == nil:
	case f.Assignee.IsZero():
		l.Write(" AND NOT EXISTS (SELECT 1 FROM assignments a WHERE a.account_id = r.account_id AND a.result_id = r.id)")
	default:
		l.Add(" AND r.id IN (SELECT a.result_id FROM assignments a WHERE a.account_id = ", account.UUID)
		l.Add(" AND a.member_id = ", f.Assignee.UUID)
		l.Write(")")
	}
	if f.IDs != nil {
		l.In(" AND r.id IN (", Padded(f.IDs, PartSize))
	}
	l.CreatedBetween(f.From, f.To)
}

// CreatedBetween narrows the list to rows that were created from a time until before another; a zero time is no bound.
func (l *List) CreatedBetween(from, to time.Time) {
	if !from.IsZero() {
		l.Add(" AND r.created_at >= ", from)
	}
	if !to.IsZero() {
		l.Add(" AND r.created_at < ", to)
	}
	l.IDsBetween("r.id", from, to)
}

// IDsBetween narrows the list to the ids, in a column, that rows created between the times can have; a zero time is no bound.
func (l *List) IDsBetween(column string, from, to time.Time) {
	if !from.IsZero() {
		l.Add(" AND "+column+" >= ", prism.FirstUUID(from.Add(-store.MaxIDAge)))
	}
	if !to.IsZero() {
		l.Add(" AND "+column+" < ", prism.FirstUUID(to.Add(store.MaxIDLead)))
	}
}

// Page narrows the list to a page, which is sorted by id in a direction: behind After, as the comparison after says.
func (l *List) Page(p store.Page, after, direction string) {
	if !p.After.IsZero() {
		l.Add(" AND r.id "+after+" ", p.After)
	}
	l.Add(" ORDER BY r.id "+direction+" LIMIT ", int64(p.Limit))
}

// Newest is a page, newest first, and one row more, which tells that there are more.
func (l *List) Newest(p store.Page) {
	p.Limit++
	l.Page(p, "<", "DESC")
}

// In appends text and parameters, at least one, and a closing parenthesis.
func (l *List) In(text string, args []any) {
	for _, arg := range args {
		l.Add(text, arg)
		text = ", "
	}
	l.Write(")")
}

// Add appends text and a parameter.
func (l *List) Add(text string, arg any) { l.Write(text + l.Parameter(arg)) }

// Parameter adds an argument, and returns the parameter that stands for it in a text that is written behind it.
func (l *List) Parameter(arg any) string {
	l.Args = append(l.Args, arg)
	return "$" + strconv.Itoa(len(l.Args))
}

// Complete is the statement so far.
func (l *List) Complete() Statement {
	l.Text = l.text.String()
	return l.Statement
}
