package service

import (
	"context"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
)

// storePage is the page that a caller asks for.
func storePage(list contract.List, limit int, cursor string) (store.Page, error) {
	after, err := position(list, cursor)
	return store.Page{After: after, Limit: limit}, err
}

// position is the row that the cursor of a page names, or the zero id for the first page.
func position(list contract.List, cursor string) (prism.UUID, error) {
	if cursor == "" {
		return prism.UUID{}, nil
	}
	after, ok := list.ParseCursor(cursor)
	if !ok {
		return prism.UUID{}, apierr.Invalid(apierr.Problem{Path: "cursor", Text: "Invalid cursor"})
	}
	return after, nil
}

// listPage is the body of a page of a list, {data, next_cursor}. It ends before the row with which it would have more than
// store.ListBytes, unless that is the first (spec: page-bytes).
type listPage struct {
	list contract.List
	json []byte     // up to the last row
	rows int        // so far
	next prism.UUID // behind which the list goes on; zero at its end
}

// pageTail is how many bytes may follow the last row of a page.
const pageTail = 128

func newListPage(list contract.List) *listPage {
	return &listPage{list: list, json: []byte(`{"data":[`)}
}

// add adds a row, unless the page is full. The bytes of the page are held by the call of ctx: store.ErrNoRoom.
func (p *listPage) add(ctx context.Context, row strictjson.Value) (full bool, err error) {
	if p.rows > 0 {
		if len(p.json)+len(",")+len(row)+pageTail > store.ListBytes {
			return true, nil
		}
		p.json = append(p.json, ',')
	}
	if !fair.ReserveResponse(ctx, len(p.json)+len(row), false) {
		return false, store.ErrNoRoom
	}
	p.json = append(p.json, row...)
	p.rows++
	return false, nil
}

// end is the body, with further members, if any, each with a comma in front.
func (p *listPage) end(members string) []byte {
	b := append(append(p.json, ']'), members...)
	b = append(b, `,"next_cursor":`...)
	if p.next.IsZero() {
		return append(b, "null}"...)
	}
	return append(strictjson.AppendString(b, p.list.Cursor(p.next)), '}')
}

// fillPage is the page of rows that a store found. more tells that the list has more than these. A row is dropped when it is part
// of the body.
func fillPage[R any](
	ctx context.Context, list contract.List, rows []R, more bool, body func(R) (strictjson.Value, error), id func(R) prism.UUID,
) (*listPage, error) {
	p := newListPage(list)
	var last prism.UUID
	for i, r := range rows {
		value, err := body(r)
		if err != nil {
			return nil, err
		}
		full, err := p.add(ctx, value)
		if err != nil {
			return nil, err
		}
		if full {
			more = true
			break
		}
		last = id(r)
		clear(rows[i : i+1])
	}
	if more {
		p.next = last
	}
	return p, nil
}

// newListBody is the body of fillPage.
func newListBody[R any](
	ctx context.Context, list contract.List, rows []R, more bool, body func(R) (strictjson.Value, error), id func(R) prism.UUID,
) ([]byte, error) {
	p, err := fillPage(ctx, list, rows, more, body, id)
	if err != nil {
		return nil, err
	}
	return p.end(""), nil
}
