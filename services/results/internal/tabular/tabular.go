// Package tabular reads the tables that files hold, and writes the rows of runs.
//
// A file is read once, in one pass with constant memory (Read), which finds its columns, checks every row and notes where each
// chunk of rows is. From then on the rows of a chunk are parsed from the bytes of the chunk alone (Layout.Rows).
//
//	format         rows are                                         chunks are ranges of
//	csv, tsv       records; cells in quotes may have line breaks    the file
//	jsonl          lines, each an object                            the file
//	xlsx, parquet  rows of the first sheet; rows                    a copy of the rows, in csv without a header
package tabular

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
)

// The limits of files (spec: file-limits).
const (
	MaxRows     = 10_000_000
	MaxColumns  = 1000
	MaxRowBytes = 1 << 20
	// maxNameCharacters is the longest string with which a run can name a column (spec: run-requests).
	maxNameCharacters = 100_000
)

// Layout is what is known of a file that was read. It is stored as JSON.
type Layout struct {
	Columns   []Column `json:"columns"`            // in the order of the file; jsonl: in the order of first appearance
	Delimiter string   `json:"delimiter,omitzero"` // of csv and tsv: one ASCII character
	Copied    bool     `json:"copied,omitzero"`    // chunks are ranges of the copy, not of the file
	Dropped   []int    `json:"dropped,omitzero"`   // places of cells that no column has

	Options           Options  `json:"options,omitzero"`  // with which the file is read
	Encoding          string   `json:"encoding,omitzero"` // of texts
	EncodingSure      bool     `json:"encoding_sure,omitzero"`
	HeaderRow         int64    `json:"header_row,omitzero"`
	ProposedHeaderRow int64    `json:"proposed_header_row,omitzero"` // what looks like the header instead
	Sheet             string   `json:"sheet,omitzero"`
	BadRows           int64    `json:"bad_rows,omitzero"`
	Notes             []string `json:"notes,omitzero"` // what was done to the file, a sentence each
}

// Column is a column of a file.
type Column struct {
	Name    string `json:"name"`
	Filled  int64  `json:"filled"`  // rows whose cell is not empty
	Longest int64  `json:"longest"` // characters of the longest cell
	Kind    Kind   `json:"kind,omitzero"`
	Look    Look   `json:"look,omitzero"`
}

// Row is a row of a file.
type Row struct {
	// Cells has a text for each column. Values of jsonl that are not strings are their JSON; null is "". Unpaired surrogates are
	// U+FFFD.
	Cells []string
	// JSON has the value of each column as it came, nil where the row has no such key. Formats other than jsonl have nil.
	JSON []strictjson.Value
	// exact has, for some columns, the number of a cell that its text does not tell all of.
	exact map[int]string
	// Invalid is why the row cannot be used, with its line; "": it can. Its cells are what was read of it (spec: file-bad-rows).
	Invalid string
}

// Absent tells whether a row of jsonl lacks the key of a column, or has null there.
func (r Row) Absent(column int) bool {
	return r.JSON != nil && (r.JSON[column] == nil || r.JSON[column].Kind() == 'n')
}

// Value is the text of a cell for the checks of a create call. It has NUL in the place of an unpaired surrogate: they have the
// same problem, and UTF-8 has no surrogates (spec: row-invalid, nul-and-surrogates).
func (r Row) Value(column int) string {
	text := r.Cells[column]
	if r.JSON == nil || r.JSON[column].Kind() != '"' || !strings.ContainsRune(text, utf8.RuneError) {
		return text
	}
	if _, err := strictjson.AppendUnquote(nil, r.JSON[column]); err != nil {
		return strings.ReplaceAll(text, string(utf8.RuneError), "\x00")
	}
	return text
}

// UnusableError is the reason why the rows of a file cannot be used. It is for the user.
type UnusableError struct{ Text string }

func (u *UnusableError) Error() string { return u.Text }

// unusable is an UnusableError of a place in a file, such as "Line 7".
func unusable(place string, number int64, text string, args ...any) error {
	return &UnusableError{message(place, number, fmt.Sprintf(text, args...))}
}

func message(place string, number int64, text string) string {
	return fmt.Sprintf("%s %d: %s", place, number, text)
}

// errOtherRows: the bytes of a chunk are not those that Read read.
var errOtherRows = errors.New("not the rows that were read")

var errNoRows = &UnusableError{"The file has no rows."}

func rowTooLarge(place string, number int64) error {
	return unusable(place, number, "a row may have 1 MiB.")
}

// Read reads a file in one pass with constant memory. It calls note for each chunk in order; the chunk with the number 0 begins
// anew, as when the file proves to have another encoding. The rows of formats that have no lines, and of texts that are not UTF-8 or
// are compressed, are written to copied, in order, and chunks are ranges of what was written. An error of type *UnusableError has
// the text for the user, "Line 7: not UTF-8."; the layout then has what is known. Every other error is one of ctx, src, copied or
// note.
func Read(
	ctx context.Context, format prism.FileFormat, options Options, src *io.SectionReader, copied io.Writer,
	note func(store.FileChunk) error,
) (layout Layout, rows int64, err error) {
	copied = &boundedCopy{growth{part: grownRows, file: src.Size()}, copied}
	begin := func(place string) *chunker {
		return &chunker{ctx: ctx, note: note, place: place, bad: badRows{refuse: options.OnBadRow == prism.RefuseBadRow}}
	}
	var c *chunker
	switch format {
	case prism.FileCSV, prism.FileTSV, prism.FileJSONL:
		layout, c, err = readText(format, options, src, copied, func() *chunker { return begin("Line") })
	case prism.FileParquet, prism.FileXLSX:
		c = begin("Row")
		layout, err = readBinary(format, options, src, copied, c)
	default:
		return layout, 0, fmt.Errorf("tabular: unknown format %q", format)
	}
	if err == nil {
		err = c.end()
	}
	c.describe(&layout)
	layout.Options = options
	if err != nil {
		return layout, 0, err
	}
	return layout, c.rows, nil
}

// Rows parses the bytes of one chunk. It fails only if data is not what Read read.
func (l Layout) Rows(format prism.FileFormat, chunk store.FileChunk, data []byte) (rows []Row, err error) {
	switch {
	case format == prism.FileJSONL:
		rows, err = l.lines(data, chunk.Line)
	case l.Copied:
		rows, err = l.records(data, copyDelimiter, chunk.Line)
	case len(l.Delimiter) == 1:
		rows, err = l.records(data, l.Delimiter[0], chunk.Line)
	default:
		err = fmt.Errorf("no layout of format %q", format)
	}
	if err == nil && len(rows) != int(chunk.Rows) {
		err = fmt.Errorf("%d rows instead of %d", len(rows), chunk.Rows)
	}
	if err != nil {
		return nil, fmt.Errorf("tabular: chunk %d: %w", chunk.Number, err)
	}
	return rows, nil
}
