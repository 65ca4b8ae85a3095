package tabular_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// counter counts what is written to it.
type counter struct{ bytes int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return len(p), nil
}

// A file of some KiB cannot become one of GiB.
//
// spec: file-growth
func TestWhatAFileBecomesIsBoundedByItsSize(t *testing.T) {
	t.Parallel()
	megabyte := strings.Repeat("x", 1_000_000)
	type row struct {
		A string `parquet:"a,dict"`
	}
	const rows = 2000
	cells := headerOfOne + strings.Repeat(`<row><c t="s"><v>0</v></c></row>`, rows)
	shared := "<si><t>" + megabyte + "</t></si>"
	for name, c := range map[string]struct {
		format prism.FileFormat
		data   []byte
		what   string
	}{
		"a shared text in many rows": {prism.FileXLSX, workbookWith(t, cells, shared, 1), "The rows"},
		"a shared text in many rows with one number": {
			prism.FileXLSX, workbookWith(t, headerOfOne+strings.Repeat(`<row r="2"><c t="s"><v>0</v></c></row>`, rows), shared, 1), "The rows",
		},
		"many shared texts": {
			prism.FileXLSX, workbookWith(t, headerOfOne, strings.Repeat(shared, 100), 1), "The shared texts of the workbook",
		},
		"a value of a dictionary in many rows": {
			prism.FileParquet,
			parquetOf(t, []parquet.WriterOption{parquet.Compression(&parquet.Zstd)}, slices.Repeat([]row{{megabyte}}, rows)...), "The rows",
		},
	} {
		var copied counter
		_, _, err := tabular.Read(t.Context(), c.format, tabular.Options{}, section(c.data), &copied, func(store.FileChunk) error { return nil })
		size := int64(len(c.data))
		most := 100*size + 64<<20
		want := fmt.Sprintf("%s have more than %d bytes, the most for a file of %d bytes.", c.what, most, size)
		var unusable *tabular.UnusableError
		if !errors.As(err, &unusable) || unusable.Text != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if copied.bytes > most {
			t.Errorf("%s: a file of %d bytes became one of %d", name, size, copied.bytes)
		}
	}
}

// spec: file-growth
func TestTheBoundOfWhatAFileBecomesIsThatOfAFile(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]int64{1: 64<<20 + 100, 50 << 20: 5064 << 20, 51 << 20: 5 << 30, 5 << 30: 5 << 30} {
		if got := tabular.MaxGrowth(bytes); got != want {
			t.Errorf("%d bytes: %d, want %d", bytes, got, want)
		}
	}
}

// spec: file-xlsx
func TestTheFirstSharedTextsOfAWorkbookAreAllOfThem(t *testing.T) {
	t.Parallel()
	cell := func(text int) string { return fmt.Sprintf(`<row><c t="s"><v>%d</v></c></row>`, text) }
	const texts = "<si><t>first</t></si>"
	r, err := readAll(t, prism.FileXLSX, workbookWith(t, headerOfOne+cell(0), texts, 3))
	if err != nil || r.rows[0].Cells[0] != "first" {
		t.Errorf("%v, %v", r.rows, err)
	}
	if _, err := readAll(t, prism.FileXLSX, workbookWith(t, headerOfOne+cell(1), texts, 3)); err == nil {
		t.Error("the texts were read again for another relation")
	}
}
