package main

import (
	"testing"

	"github.com/prism-results/prism/pkg/testkit/program"
)

// Code that changes takes its mutants along.
func TestEachMutantChangesCodeThatIsThere(t *testing.T) {
	t.Parallel()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		if _, err := m.apply(root); err != nil {
			t.Error(err)
		}
	}
}
