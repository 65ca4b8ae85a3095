package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// spec: openapi-document
func TestTheDocumentIsTheGeneratedOne(t *testing.T) {
	t.Parallel()
	const root = "../../../../.."
	want, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, folder, "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("openapi.json is not what the declarations and base.json say: run make api")
	}
}
