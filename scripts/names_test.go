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

// vague are names that say nothing without the line that declares them.
var vague = []string{"of", "one", "two", "held", "given", "kept", "found", "most", "about", "what", "anyway"}

// TestFunctionsHaveNamesThatSayWhatTheyDo holds that no function of the programs has one of the names that say nothing without
// the line that calls it. Tests, the suites of stores and the laboratory are not looked at.
func TestFunctionsHaveNamesThatSayWhatTheyDo(t *testing.T) {
	t.Parallel()
	files := eachFile(t, []string{"storetest", "lab"}, func(set *token.FileSet, file *ast.File) {
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && (slices.Contains(vague, strings.ToLower(f.Name.Name[:1])+f.Name.Name[1:]) || f.Name.Name == "alter") {
				t.Errorf("%s: name the function %s by a noun or a verb that says what it returns or does", set.Position(f.Pos()), f.Name.Name)
			}
		}
	})
	if files < 300 {
		t.Errorf("only %d files were looked at", files)
	}
}

// TestVariablesOfALongLifeHaveNamesThatSayWhatTheyAre looks at variables and parameters that are used over more than five lines, and at all
// fields. Tests are not looked at.
func TestVariablesOfALongLifeHaveNamesThatSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	const longLife = 5 // lines from the first use to the last
	files := eachFile(t, nil, func(set *token.FileSet, file *ast.File) {
		lines := map[*ast.Object][2]int{} //nolint:staticcheck // a variable of a function needs no types to be told apart
		ast.Inspect(file, func(n ast.Node) bool {
			if list, ok := n.(*ast.StructType); ok { // whose fields live as long as their values
				for _, field := range list.Fields.List {
					for _, name := range field.Names {
						if slices.Contains(vague, name.Name) {
							t.Errorf("%s: name the field %s by what it is", set.Position(name.Pos()), name.Name)
						}
					}
				}
			}
			id, ok := n.(*ast.Ident)
			if !ok || id.Obj == nil || id.Obj.Kind != ast.Var || !slices.Contains(vague, id.Name) {
				return true
			}
			line := set.Position(id.Pos()).Line
			life, known := lines[id.Obj]
			if !known {
				life[0] = line
			}
			lines[id.Obj] = [2]int{min(life[0], line), max(life[1], line)}
			return true
		})
		for variable, life := range lines {
			if life[1]-life[0] > longLife {
				t.Errorf("%s: name the variable %s by what it is", set.Position(variable.Pos()), variable.Name)
			}
		}
	})
	if files < 150 {
		t.Errorf("only %d files were looked at", files)
	}
}

// eachFile reads the Go files of all programs, without tests and without folders of some names, and counts them.
func eachFile(t *testing.T, skipped []string, read func(*token.FileSet, *ast.File)) (files int) {
	t.Helper()
	skipped = append(skipped, "node_modules", "testdata")
	for _, root := range []string{"../client", "../cmd", "../pkg", "../services", "../terraform-provider-prism", "../test"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && slices.Contains(skipped, entry.Name()):
				return fs.SkipDir
			case entry.IsDir(), !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
				return nil
			}
			files++
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err == nil {
				read(set, file)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	return files
}
