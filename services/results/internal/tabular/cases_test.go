package tabular_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
)

// Files that were refused or read wrongly, and what they are (testdata/cases).
//
// spec: file-encoding, file-columns, file-delimiter, file-bad-rows, file-rows, file-header-row, file-xlsx, file-parquet, file-jsonl
func TestFilesThatWereRefusedOrReadWronglyAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file     string
		columns  string
		rows     string // cells with |, rows with a space in brackets
		invalid  string // of the first row
		note     string
		encoding string
		proposed int64
	}{
		{file: "21-raw-nul.jsonl", columns: "text", rows: "a\x00b"},
		{file: "26-cp1252.csv", columns: "text|city", rows: "10 – 20|café", encoding: "windows-1252", note: "It was read as windows-1252, which is a guess"},
		{file: "27-cr-only.csv", columns: "a|b", rows: "1|2", note: "Lines end in CR"},
		{file: "27-dup-header.csv", columns: "a|b|b (2)", rows: "1|2|3", note: "Column 3 has the name of an earlier one; it is called b (2)."},
		{file: "27-pipe.csv", columns: "a|b", rows: "1|2"},
		{file: "27-rows-of-commas.csv", columns: "text|b", rows: "hello|2", note: "2 empty rows were skipped."},
		{file: "27-short-row.csv", columns: "a|b|c", rows: "1|2|", invalid: "Line 2: 2 cells, but the header has 3.", note: "1 row cannot be read: a run has it as invalid."},
		{file: "27-space-header.csv", columns: "text|b", rows: "1|2"},
		{file: "27-text-after-quote.csv", columns: "a|b", rows: `"x" y,z|`, invalid: "Line 2: text follows the closing quote of a cell.", note: "1 row cannot be read"},
		{file: "27-title-row.csv", columns: "Report Q3|column_2|column_3", rows: "text|b|c 1|2|3", note: "Row 2 looks like the header", proposed: 2},
		{file: "27-trailing-empty-cols.csv", columns: "a|b", rows: "1|2", note: "2 columns without a name and without cells were dropped."},
		{file: "29-backslashes.xlsx", columns: "text|b", rows: "a|c"},
		{file: "30-boolean-true.xlsx", columns: "text|b", rows: "TRUE|FALSE TRUE|FALSE"}, //nolint:dupword // two rows
		{file: "31-int96.parquet", columns: "text|t", rows: "a|2026-01-02T03:04:05"},
		{file: "31-plain-dictionary-doubles.parquet", columns: "text|price", rows: "a|12.75 b|1250 c|99.9"},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			format := prism.FileFormat(strings.TrimPrefix(filepath.Ext(c.file), "."))
			r, err := readAll(t, format, golden(t, "cases/"+c.file))
			if err != nil {
				t.Fatal(err)
			}
			var columns, rows []string
			for _, column := range r.layout.Columns {
				columns = append(columns, column.Name)
			}
			for _, row := range r.rows {
				rows = append(rows, strings.Join(row.Cells, "|"))
			}
			if got := strings.Join(columns, "|"); got != c.columns {
				t.Errorf("the columns are %s", got)
			}
			if got := strings.Join(rows, " "); got != c.rows {
				t.Errorf("the rows are %s", got)
			}
			if len(r.rows) > 0 && r.rows[0].Invalid != c.invalid {
				t.Errorf("the row is invalid: %q", r.rows[0].Invalid)
			}
			if notes := strings.Join(r.layout.Notes, " "); !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
				t.Errorf("the notes are %s", notes)
			}
			if c.encoding != "" && (r.layout.Encoding != c.encoding || r.layout.EncodingSure) {
				t.Errorf("the encoding is %s", r.layout.Encoding)
			}
			if r.layout.ProposedHeaderRow != c.proposed {
				t.Errorf("row %d is proposed", r.layout.ProposedHeaderRow)
			}
		})
	}
}
