package prism_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
)

const repository = "../.."

// A type's behaviour has one place, so few files name a type: those that ARCHITECTURE.md lists for a new one. To make a question of
// a type is no comparison with it.
func TestTypesAreNamedWhereTheyMayBe(t *testing.T) {
	t.Parallel()
	architecture, err := os.ReadFile(repository + "/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| a question type \|.*$`).Find(architecture)
	var listed []string
	for _, name := range regexp.MustCompile("`([a-z/_]+\\.go)`").FindAllSubmatch(row, -1) {
		listed = append(listed, string(name[1]))
	}
	const most = 12
	if touched := len(listed) + 1; touched > most { // with the type's own
		t.Errorf("a new type touches %d files, more than %d", touched, most)
	}
	found := namingTypes(t)
	for _, file := range slices.Sorted(maps.Keys(found)) {
		if !slices.Contains(listed, file) {
			t.Errorf("%s names a question type, at %s: ask the type for what differs (the methods of pkg/prism)", file, found[file])
		}
	}
	for _, file := range listed {
		if found[file] == "" {
			t.Errorf("%s names no question type; ARCHITECTURE.md lists it", file)
		}
	}
}

// namingTypes is, for each file that names a type, the first place.
func namingTypes(t *testing.T) map[string]string {
	found := map[string]string{}
	names := constants(t)
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(repository, path)
		switch {
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != repository || entry.Name() == "node_modules" || name == "test" ||
			strings.HasSuffix(name, "test") || name == "pkg/testkit"): // suites are tests
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for node := range namesOfTypes(file, names) {
			at := files.Position(node.Pos())
			found[name] = strconv.Itoa(at.Line) + ":" + strconv.Itoa(at.Column)
			break
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// constants are the names of the types' constants.
func constants(t *testing.T) (names []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "type.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for node := range ast.Preorder(file) {
		if spec, ok := node.(*ast.ValueSpec); ok && spec.Type != nil && spec.Type.(*ast.Ident).Name == "QuestionType" {
			names = append(names, spec.Names[0].Name)
		}
	}
	if len(names) != len(prism.QuestionType("").Values()) {
		t.Fatalf("types are called %s", names)
	}
	return names
}

// namesOfTypes are the places that name a type: its constant, its value where something is compared with it or in a tag `of`, and its
// answers' name in a text.
func namesOfTypes(file *ast.File, names []string) func(yield func(ast.Node) bool) {
	values := prism.QuestionType("").Values()
	compared := func(e ast.Expr) bool {
		text, ok := e.(*ast.BasicLit)
		return ok && text.Kind == token.STRING && slices.Contains(values, strings.Trim(text.Value, `"`))
	}
	made := map[ast.Node]bool{}
	return func(yield func(ast.Node) bool) {
		for node := range ast.Preorder(file) {
			named := false
			switch n := node.(type) {
			case *ast.KeyValueExpr:
				key, ok := n.Key.(*ast.Ident)
				made[n.Value] = ok && key.Name == "Type"
			case *ast.SelectorExpr:
				of, ok := n.X.(*ast.Ident)
				named = ok && (of.Name == "prism" || of.Name == "client") && slices.Contains(names, n.Sel.Name) && !made[n]
			case *ast.ValueSpec: // in this package, or again in another one
				named = slices.Contains(names, n.Names[0].Name)
			case *ast.CaseClause:
				named = slices.ContainsFunc(n.List, compared)
			case *ast.BinaryExpr:
				named = (n.Op == token.EQL || n.Op == token.NEQ) && (compared(n.X) || compared(n.Y))
			case *ast.BasicLit:
				text := strings.Trim(n.Value, `"`)
				name, answer := strings.CutSuffix(text, "Answer")
				of := regexp.MustCompile(`\bof:"([a-z_,]+)"`).FindStringSubmatch(text)
				named = answer && slices.Contains(names, name) ||
					of != nil && slices.ContainsFunc(strings.Split(of[1], ","), func(value string) bool { return slices.Contains(values, value) })
			}
			if named && !yield(node) {
				return
			}
		}
	}
}
