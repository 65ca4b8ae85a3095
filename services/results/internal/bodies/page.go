// Package bodies has what the bodies of responses share: pages of lists, and what may be null.
package bodies

import (
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
)

// StorePage is the page that a caller asks for.
func StorePage(list contract.List, limit int, cursor string) (store.Page, error) {
	after, err := Position(list, cursor)
	return store.Page{After: after, Limit: limit}, err
}

// Position is the row that the cursor of a page names, or the zero id for the first page.
func Position(list contract.List, cursor string) (prism.UUID, error) {
	if cursor == "" {
		return prism.UUID{}, nil
	}
	after, ok := list.ParseCursor(cursor)
	if !ok {
		return prism.UUID{}, apierr.Invalid(apierr.Problem{Path: "cursor", Text: "Invalid cursor"})
	}
	return after, nil
}

// Page is the body of a page of a list, {data, next_cursor}. It ends before the row with which it would have more than
// store.ListBytes, unless that is the first (spec: page-bytes).
type Page struct {
	cursor func(prism.UUID) string
	rows   []strictjson.Value
	bytes  int        // of the rows
	Next   prism.UUID // behind which the list goes on; zero at its end
}

// NewPage is a page without rows.
func NewPage(list contract.List) *Page { return NewPageWith(list.Cursor) }

// NewPageWith is NewPage for a list with cursors of its own.
func NewPageWith(cursor func(prism.UUID) string) *Page { return &Page{cursor: cursor} }

// pageRest is how many bytes of a page its rows leave at most to the rest.
const pageRest = 128

// Len is how many rows the page has.
func (p *Page) Len() int { return len(p.rows) }

// Add adds a row, and returns false instead if the page is full.
func (p *Page) Add(row strictjson.Value) bool {
	bytes := p.bytes + len(",") + len(row)
	if len(p.rows) > 0 && bytes+pageRest > store.ListBytes {
		return false
	}
	p.rows, p.bytes = append(p.rows, row), bytes
	return true
}

// Body is the body, whose further members, if any, have a comma in front of each.
func (p *Page) Body(members string) []byte {
	b := append(make([]byte, 0, p.bytes+pageRest), `{"data":[`...)
	for i, row := range p.rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, row...)
	}
	return append(append(append(b, ']'), members...), '}')
}

// End is body with next_cursor behind the further members.
func (p *Page) End(members string) []byte {
	next := "null"
	if !p.Next.IsZero() {
		next = `"` + p.cursor(p.Next) + `"`
	}
	return p.Body(members + `,"next_cursor":` + next)
}

// FillPage is the page of rows that a store found. more tells that the list has more than these. A row is dropped when it is part
// of the body.
func FillPage[R any](
	list contract.List, rows []R, more bool, body func(R) (strictjson.Value, error), id func(R) prism.UUID,
) (*Page, error) {
	p := NewPage(list)
	var last prism.UUID
	var work fair.Work
	for i, r := range rows {
		work.Begin()
		value, err := body(r)
		if err != nil {
			return nil, err
		}
		if !p.Add(value) {
			more = true
			break
		}
		last = id(r)
		clear(rows[i : i+1])
		work.End()
	}
	if more {
		p.Next = last
	}
	return p, nil
}

// NewList is the body of fillPage.
func NewList[R any](
	list contract.List, rows []R, more bool, body func(R) (strictjson.Value, error), id func(R) prism.UUID,
) ([]byte, error) {
	p, err := FillPage(list, rows, more, body, id)
	if err != nil {
		return nil, err
	}
	return p.End(""), nil
}

// List is the body of the page of a list that a caller asks for, which read reads.
func List[R, B any](
	list contract.List, limit int, cursor string, read func(store.Page) ([]R, bool, error), body func(R) (B, error), id func(R) prism.UUID,
) ([]byte, error) {
	page, err := StorePage(list, limit, cursor)
	if err != nil {
		return nil, err
	}
	rows, more, err := read(page)
	if err != nil {
		return nil, err
	}
	return NewList(list, rows, more, func(r R) (strictjson.Value, error) {
		b, err := body(r)
		if err != nil {
			return nil, err
		}
		return strictjson.Marshal(b, strictjson.Numbers)
	}, id)
}
