package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// spec: openapi-document
func TestWhatIsGeneratedIsThat(t *testing.T) {
	t.Parallel()
	const root = "../../../../.."
	written, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range written {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the declarations and base.json say: run make api", name)
		}
	}
}
