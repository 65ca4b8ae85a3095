package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/test/lab/internal/page"
	"github.com/prism-results/prism/test/lab/internal/worked"
)

// The offline model is deterministic, and so are all measures of its answers: whoever runs the example again gets the tables and
// pictures that are committed (spec: quality-intervals, labels-that-count, run-from-labels).
func TestThePageHasTheNumbersOfTheProgram(t *testing.T) {
	t.Parallel()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	done, err := work(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "docs", "quality.md")
	committed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, table := range done.Sections() {
		got, err := page.Replace(string(committed), map[string]string{name: table})
		if err != nil {
			t.Fatal(err)
		}
		if got != string(committed) {
			t.Errorf("<!-- %s -->: `make quality` writes another table:\n%s", name, table)
		}
	}
	for name, svg := range done.Pictures() {
		committed, err := os.ReadFile(filepath.Join(worked.PicturesOf(file), name))
		if err != nil || !bytes.Equal(svg, committed) {
			t.Errorf("%s: `make quality` draws another picture, %v", name, err)
		}
	}
}
