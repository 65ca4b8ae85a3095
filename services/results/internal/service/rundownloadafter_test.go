package service_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// A download that was cut continues as if it had not been: the header again, and the rows behind the last one.
//
// spec: run-rows-after
func TestADownloadContinuesBehindARow(t *testing.T) {
	t.Parallel()
	w, f := everyState(t)
	for _, format := range []prism.RowsFormat{prism.RowsCSV, prism.RowsTSV, prism.RowsJSONL} {
		whole := w.download(t, f, format, "")
		header, _, _ := strings.Cut(whole, "\n")
		header += "\n"
		if format == prism.RowsJSONL {
			header = ""
		}
		for after := range f.run.Rows + 2 {
			got := w.downloadOf(t, f, api.ListRunRowsRequest{Format: format, After: after})
			rest, found := strings.CutPrefix(got, header)
			if left := max(f.run.Rows-after, 0); !found || !strings.HasSuffix(whole, rest) ||
				strings.Count(w.numbers(t, f, after), " ") != int(left) {
				t.Errorf("%s behind row %d: got %q", format, after, got)
			}
		}
	}
}

// numbers are the numbers of the rows behind one, each with a space behind it.
func (w *world) numbers(t *testing.T, f *runOfFile, after int64) string {
	t.Helper()
	var numbers strings.Builder
	for line := range strings.Lines(w.downloadOf(t, f, api.ListRunRowsRequest{Format: prism.RowsJSONL, After: after})) {
		_, rest, _ := strings.Cut(line, `"prism_row":`)
		number, _, _ := strings.Cut(rest, ",")
		numbers.WriteString(number + " ")
	}
	return numbers.String()
}

// spec: run-rows-after
func TestADownloadThatContinuesReadsNothingBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	states := bytes.Repeat([]byte("o"), 1000)
	f := w.runOf(t, w.prism(t, "a"), prism.FileCSV, "text\n"+strings.Repeat("a\n", len(states)), string(states))
	got := w.downloadOf(t, f, api.ListRunRowsRequest{Format: prism.RowsTSV, After: 801})
	if _, rows, _ := strings.Cut(got, "\n"); !strings.HasPrefix(rows, "a\t802\t") || strings.Count(rows, "\n") != 199 {
		t.Errorf("got %.80s", rows)
	}
	if fmt.Sprint(f.read) != "[4]" {
		t.Errorf("chunks %v were read", f.read)
	}
}
