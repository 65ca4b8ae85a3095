package scripts_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFunctionsHaveNamesThatSayWhatTheyDo holds that no function of the programs has one of the names that say nothing without
// the line that calls it. Tests and the suites of stores are not looked at.
func TestFunctionsHaveNamesThatSayWhatTheyDo(t *testing.T) {
	t.Parallel()
	vague := []string{"of", "one", "two", "held", "given", "kept", "found", "most", "about", "what", "anyway", "alter"}
	files := 0
	for _, root := range []string{"../cmd", "../client", "../pkg", "../services"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() && slices.Contains([]string{"node_modules", "testdata", "storetest"}, entry.Name()) {
				if err == nil {
					err = fs.SkipDir
				}
				return err
			}
			if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			files++
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, declaration := range file.Decls {
				if f, ok := declaration.(*ast.FuncDecl); ok && slices.Contains(vague, f.Name.Name) {
					t.Errorf("%s: name the function %s by a noun or a verb that says what it returns or does", set.Position(f.Pos()), f.Name.Name)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if files < 300 {
		t.Errorf("only %d files were looked at", files)
	}
}
