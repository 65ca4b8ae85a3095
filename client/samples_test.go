package client

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestTheSamplesOfTheReferenceCompile compiles what the API reference shows for each operation. web/src/docs/samples writes the
// samples, and a test there compares them with the file.
func TestTheSamplesOfTheReferenceCompile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../web/src/docs/testdata/go.txt")
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string]string{}
	for part := range strings.SplitSeq("\n"+string(text), "\n-- ") {
		if name, source, ok := strings.Cut(part, ".go --\n"); ok {
			samples[name] = source + "\n"
		}
	}
	for operation := range everything {
		if samples[operation] == "" {
			t.Errorf("%s has no sample: run npm run samples in web", operation)
		}
	}
	files := token.NewFileSet()
	check := types.Config{Importer: importer.ForCompiler(files, "gc", exports(t))}
	for name, source := range samples {
		file, err := parser.ParseFile(files, name+".go", source, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%v:\n%s", err, source)
			continue
		}
		if _, err := check.Check("main", files, []*ast.File{file}, nil); err != nil {
			t.Errorf("%v:\n%s", err, source)
		}
	}
}

// exports opens what the go command built of the packages that samples import.
func exports(t *testing.T) importer.Lookup {
	t.Helper()
	var stderr bytes.Buffer
	list := exec.CommandContext(t.Context(), "go", "list", "-trimpath", "-deps", "-export", "-f", "{{.ImportPath}} {{.Export}}",
		"context", "fmt", "io", "log", "os", "time", ".")
	list.Env, list.Stderr = append(os.Environ(), "CGO_ENABLED=0"), &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	built := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		path, file, _ := strings.Cut(lines.Text(), " ")
		built[path] = file
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(built[path]) }
}
