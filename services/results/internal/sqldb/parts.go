package sqldb

import (
	"bytes"
	"context"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
)

// PartSize is how many ids, refs or labels a statement names at most whose text has a place for each, so that there are few texts.
const PartSize = 50

// Parameters lists n parameters, the first of which has the number from.
func Parameters(from, n int) string {
	var text strings.Builder
	for i := range n {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString("$" + strconv.Itoa(from+i))
	}
	return text.String()
}

// EachPart calls fn with parts of PartSize values. The last part is padded with its last value.
func EachPart[T any](values []T, fn func(part []any) error) error {
	for part := range slices.Chunk(values, PartSize) {
		if err := fn(Padded(part, PartSize)); err != nil {
			return err
		}
	}
	return nil
}

// ReadParts reads what a statement finds for each part of some values, which come behind its other arguments.
func ReadParts[V, T any](ctx context.Context, run Run, s Statement, values []V, read func(*Row) T) (all []T, err error) {
	args := s.Args
	err = EachPart(values, func(part []any) error {
		var found []T
		s.Args = slices.Concat(args, part)
		err := run(ctx, s, ReadRows(&found, read))
		all = append(all, found...)
		return err
	})
	return all, err
}

// Tuples lists the parameters of n rows to insert: fixed, and behind them size parameters, the first of which has the number from.
func Tuples(n int, fixed string, from, size int) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = "\n(" + fixed + Parameters(from+i*size, size) + ")"
	}
	return strings.Join(rows, ",")
}

// Padded is at most n values as n arguments: the last value is repeated.
func Padded[T any](values []T, n int) []any {
	args := make([]any, n)
	for i := range args {
		args[i] = values[min(i, len(values)-1)]
	}
	return args
}

// FewTexts are at least one value as arguments, of which there are 1, 2, 4 and so on: the last value is repeated. So a statement with a
// place for each has few texts, each of which Postgres reads once for a connection.
func FewTexts[T any](values []T) []any { return Padded(values, 1<<bits.Len(uint(len(values)-1))) }

// UUIDs are the ids as a statement takes them.
func UUIDs(ids []prism.ResultID) []prism.UUID {
	of := make([]prism.UUID, len(ids))
	for i, id := range ids {
		of[i] = id.UUID
	}
	return of
}

// CompareIDs compares ids as databases sort them.
func CompareIDs(a, b prism.UUID) int { return bytes.Compare(a[:], b[:]) }

// SortedIDs are the ids of results in the order of CompareIDs, each once; nil for none.
func SortedIDs(of []prism.ResultID) (ids []prism.UUID) {
	for _, id := range of {
		ids = append(ids, id.UUID)
	}
	slices.SortFunc(ids, CompareIDs)
	return slices.Compact(ids)
}
