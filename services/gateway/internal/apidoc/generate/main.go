// Generate writes the OpenAPI document from the declarations of package api and from what people write: base.json, which has the
// prose of each operation, the examples, and the schemas that a Go type cannot say.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/prism-results/prism/pkg/api"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "generate: the root of the repository is the one argument")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

const folder = "services/gateway/internal/apidoc"

func run(root string) error {
	written, err := generate(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, folder, "openapi.json"), written, 0o644) //nolint:gosec // a source file
}

// generate returns the text of the document.
func generate(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, folder, "base.json")) //nolint:gosec // a source file
	if err != nil {
		return nil, err
	}
	base, err := readObject(text)
	if err != nil {
		return nil, fmt.Errorf("base.json: %w", err)
	}
	found := comments{}
	for _, of := range []string{"pkg/prism", "pkg/calibration", "pkg/api"} {
		if err := found.read(filepath.Join(root, of)); err != nil {
			return nil, err
		}
	}
	document, err := newDocument(base, found).build(api.Operations())
	if err != nil {
		return nil, err
	}
	written, err := write(nil, document, 0, 0)
	return append(written, '\n'), err
}
