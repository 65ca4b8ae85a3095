package tabular

import (
	"fmt"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
)

// Options say how a file is read. The zero value leaves everything to the reader (spec: file-read-again).
type Options struct {
	Encoding  string         `json:"encoding,omitzero"`   // a name of Encodings; "": found out
	HeaderRow int64          `json:"header_row,omitzero"` // 0: the first row that is not empty
	Sheet     string         `json:"sheet,omitzero"`      // the name of a sheet, or its number; "": the first that is not hidden
	Delimiter string         `json:"delimiter,omitzero"`  // "": found out
	OnBadRow  prism.OnBadRow `json:"on_bad_row,omitzero"`
}

// The bounds of bad rows (spec: file-bad-rows).
const (
	maxBadRows    = 1000
	badSampleRows = 10_000 // of the first rows of a file a tenth may be bad
	badLeastRows  = 100    // in a file of at least so many rows
	shownBadRows  = 5
)

// badRows counts the rows that cannot be used.
type badRows struct {
	refuse bool
	count  int64
	shown  []string
}

// add counts a bad row. The error says why the file is unusable.
func (b *badRows) add(message string) error {
	if b.refuse {
		return &UnusableError{message}
	}
	if b.count++; len(b.shown) < shownBadRows {
		b.shown = append(b.shown, message)
	}
	if b.count > maxBadRows {
		return b.tooMany(fmt.Sprintf("More than %d rows are bad.", maxBadRows))
	}
	return nil
}

// check compares the bad rows with the first rows of the file, bad ones included.
func (b *badRows) check(rows int64) error {
	if rows >= badLeastRows && b.count*10 > rows {
		return b.tooMany(fmt.Sprintf("More than a tenth of the first %d rows is bad.", rows))
	}
	return nil
}

func (b *badRows) tooMany(text string) error {
	return &UnusableError{text + " " + strings.Join(b.shown, " ")}
}
