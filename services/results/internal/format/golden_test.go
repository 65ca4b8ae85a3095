package format

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

var update = flag.Bool("update", false, "rewrite the golden files")

type goldenCase struct {
	name  string
	table Table
	rows  []answeredRow
}

func goldenCases(t *testing.T) []goldenCase {
	t.Helper()
	edited := ticketTable()
	edited.Lens = editedLens()

	// The latest version has no field subject and has other fields; the result has the values that were sent to its version.
	later := ticketTable()
	later.Latest.Fields = []prism.Field{{Key: "channel"}, {Key: "body"}, {Key: "language"}}

	return []goldenCase{
		{"ok", ticketTable(), []answeredRow{okRow(t)}},
		{"failed", ticketTable(), []answeredRow{failedRow(t)}},
		{"lens_edited", edited, []answeredRow{okRow(t)}},
		{"lens_edited_failed", edited, []answeredRow{failedRow(t)}},
		{"other_fields", later, []answeredRow{okRow(t)}},
		{"awkward_texts", ticketTable(), awkwardRows(t)},
		{"export", ticketTable(), []answeredRow{okRow(t), failedRow(t), okRow(t)}},
	}
}

// Each file is what the encoder appends: the header and then the rows. Rows of json and raw have no separator, so the test
// adds an LF.
func TestFormatsMatchTheirGoldenFiles(t *testing.T) {
	t.Parallel()
	for _, c := range goldenCases(t) {
		for _, f := range api.Formats() {
			t.Run(c.name+"."+string(f), func(t *testing.T) {
				t.Parallel()
				got := encode(t, f, c.table, c.rows)
				path := filepath.Join("testdata", c.name+"."+string(f)+".golden")
				if *update {
					if err := os.WriteFile(path, got, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("got\n%q\nwant\n%q", got, want)
				}
			})
		}
	}
}

func encode(t *testing.T, f contract.Format, table Table, rows []answeredRow) []byte {
	t.Helper()
	e, err := NewEncoder(f, api.TextStyle{}, table)
	if err != nil {
		t.Fatal(err)
	}
	b := e.Header(nil)
	for i, r := range rows {
		if i > 0 && (f == contract.JSON || f == contract.Raw) {
			b = append(b, '\n')
		}
		if b, err = e.Row(b, r.under(table)); err != nil {
			t.Fatal(err)
		}
	}
	return b
}
