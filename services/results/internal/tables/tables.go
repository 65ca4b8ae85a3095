// Package tables writes results, and the rows of runs with theirs, as tables of every format.
package tables

import (
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/format"
	"github.com/prism-results/prism/services/results/internal/store"
)

// How many rows a table asks the store for, at first and at most. A database may send all rows that it was asked for, also when
// a page ends early (store.PageBytes). So a page asks for no more than twice as many rows as the page before had, and for no more
// than would fit if they were as large.
const (
	FirstRows = 8
	mostRows  = 500
)

// PieceBytes is how many bytes of rows are encoded at once, apart from the last row.
const PieceBytes = 32 << 10

// Form is how a table is written.
type Form struct {
	Format    api.Format
	TextStyle api.TextStyle
	Raw       bool // also the answers as they are
}

// Encoder writes the results of an export: a format.Encoder, a sheet, or a table of Parquet.
type Encoder interface {
	Header(b []byte) []byte
	Row(b []byte, r format.Row) ([]byte, error)
	// End appends what follows the last row.
	End(b []byte) ([]byte, error)
}

// NewEncoder begins a table of results. room is whether the budget of responses has room for what the encoder would hold.
func NewEncoder(in Form, t format.Table, room func(held int) bool) (Encoder, error) {
	if in.Format == api.XLSX {
		return newSheet(t)
	}
	if in.Format == api.Parquet {
		return newParquet(t, in.Raw, room)
	}
	e, err := format.NewEncoder(in.Format, in.TextStyle, t)
	return &e, err
}

// NextPiece is how many rows to ask for, up to a limit before, after some rows with so many bytes.
func NextPiece(limit, rows, bytes int) int {
	if rows == 0 {
		return limit
	}
	return max(min(max(limit, 2*rows), rows*store.PageBytes/max(bytes, 1), mostRows), 1)
}

// HeldBytes is how many bytes an encoder or a writer holds in memory.
func HeldBytes(x any) int {
	if h, ok := x.(interface{ HeldBytes() int }); ok {
		return h.HeldBytes()
	}
	return 0
}

func textCell(text string) prism.Cell {
	return prism.Cell{Kind: prism.TextCell, Key: text, Label: text}
}
