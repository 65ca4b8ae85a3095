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

const (
	documentFolder = "services/gateway/internal/apidoc"
	pythonFolder   = "client/python/src/prism_results"
)

func run(root string) error {
	written, err := generate(root)
	if err != nil {
		return err
	}
	for name, text := range written {
		if err := os.WriteFile(filepath.Join(root, name), text, 0o644); err != nil { //nolint:gosec // a source file
			return err
		}
	}
	return nil
}

// generate returns the texts of the files that are written, by their names below the root.
func generate(root string) (map[string][]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, documentFolder, "base.json")) //nolint:gosec // a source file
	if err != nil {
		return nil, err
	}
	base, err := readObject(text)
	if err != nil {
		return nil, fmt.Errorf("base.json: %w", err)
	}
	docs := comments{}
	for _, folder := range []string{"pkg/prism", "pkg/calibration", "pkg/api"} {
		if err := docs.read(filepath.Join(root, folder)); err != nil {
			return nil, err
		}
	}
	built, err := newDocument(base, docs).build(api.Operations())
	if err != nil {
		return nil, err
	}
	openapi, err := write(nil, built, 0, 0)
	if err != nil {
		return nil, err
	}
	document, err := readObject(openapi) // as others read it
	if err != nil {
		return nil, err
	}
	byHand, err := methodsByHand(filepath.Join(root, pythonFolder, "_async"))
	if err != nil {
		return nil, err
	}
	document = withoutForeign(document)
	python := newPython(document)
	models := python.models()
	calls, err := python.calls(byHand)
	if err != nil {
		return nil, err
	}
	golang, typescript, err := plainCalls(document, root)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		documentFolder + "/openapi.json":       append(openapi, '\n'),
		pythonFolder + "/models/__init__.py":   []byte(models),
		pythonFolder + "/_async/operations.py": []byte(calls),
		"client/operations.go":                 []byte(golang),
		"client/typescript/src/operations.ts":  []byte(typescript),
	}, nil
}
