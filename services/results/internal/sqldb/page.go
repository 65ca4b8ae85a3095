package sqldb

import (
	"context"
	"iter"

	"github.com/prism-results/prism/services/results/internal/store"
)

// ReadPage reads a page of a list, as store.Page says, by a statement that finds one row more than limit. wide names the columns of
// the statement that can be large, each by a name that no other column has.
func ReadPage[T any](
	ctx context.Context, db Database, list Statement, limit int, read func(*Row) T, wide ...string,
) (found []T, more bool, err error) {
	return ReadGroups(ctx, db, list, limit, read, func(*T, T) bool { return false }, wide...)
}

// ReadGroups is readPage for a list whose entries have one row or several. join adds the entry that read has made of a row to the
// entry before, and returns false if the row begins another one.
func ReadGroups[T any](
	ctx context.Context, db Database, list Statement, limit int, read func(*Row) T, join func(before *T, next T) bool, wide ...string,
) (entries []T, more bool, err error) {
	list.Text = db.EndAfter(list.Text, store.ListBytes, wide...)
	err = db.Run(ctx, list, func(rows iter.Seq[*Row]) error {
		entries, more = nil, false
		bytes := 0
		for r := range rows {
			entry := read(r)
			bytes += r.bytes
			if n := len(entries); n == 0 || !join(&entries[n-1], entry) {
				entries = append(entries, entry)
			}
			before := len(entries) - 1
			if more = before == limit || before > 0 && bytes > store.ListBytes; more {
				entries = entries[:before]
				return nil
			}
		}
		return nil
	})
	return entries, more, err
}

// ReadPiece reads rows, one at least, up to the one that would exceed store.PageBytes.
func ReadPiece[T any](piece *[]T, read func(*Row) T) Reader {
	return func(rows iter.Seq[*Row]) error {
		*piece = nil
		bytes := 0
		for r := range rows {
			one := read(r)
			if bytes += r.bytes; bytes > store.PageBytes && len(*piece) > 0 {
				break
			}
			*piece = append(*piece, one)
		}
		return nil
	}
}
