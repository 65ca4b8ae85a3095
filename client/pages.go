package client

import (
	"iter"
	"net/url"
	"strconv"
)

// PageOptions select a page of a list.
type PageOptions struct {
	Limit  int    // 1 to 100; 50 when 0
	Cursor string // the NextCursor of the previous page
}

func (o PageOptions) query() url.Values {
	q := url.Values{}
	if o.Limit != 0 {
		q.Set("limit", strconv.Itoa(o.Limit))
	}
	set(q, "cursor", o.Cursor)
	return q
}

// maxLimit is the most items of a page.
const maxLimit = 100

// pages iterates over all pages of a list. An error ends the iteration.
func pages[T any](next func(cursor string) (Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for cursor := ""; ; {
			page, err := next(cursor)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Data {
				if !yield(item, nil) {
					return
				}
			}
			if page.NextCursor == nil {
				return
			}
			cursor = *page.NextCursor
		}
	}
}
