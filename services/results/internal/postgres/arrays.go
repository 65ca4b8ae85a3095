package postgres

import "github.com/jackc/pgx/v5/pgtype"

// array is a column of rows as a parameter that is an array.
type array struct {
	rows   [][]any
	column int
}

var _ pgtype.ArrayGetter = array{}

// Dimensions implements pgtype.ArrayGetter.
func (a array) Dimensions() []pgtype.ArrayDimension {
	return []pgtype.ArrayDimension{{Length: int32(len(a.rows)), LowerBound: 1}} //nolint:gosec // of a batch, or of a chunk of a run
}

// Index implements pgtype.ArrayGetter.
func (a array) Index(row int) any { return a.rows[row][a.column] }

// IndexType implements pgtype.ArrayGetter.
func (a array) IndexType() any { return a.Index(0) }

// arrays is the arguments of several calls as an array each.
func arrays(calls []*call) []any {
	rows := make([][]any, len(calls))
	for i, c := range calls {
		rows[i] = c.args
	}
	args := make([]any, len(rows[0]))
	for column := range args {
		args[column] = array{rows, column}
	}
	return args
}
