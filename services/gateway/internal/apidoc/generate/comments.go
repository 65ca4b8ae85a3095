package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"strings"
)

// comments are the doc comments of types, and of fields under Type.Field.
type comments map[string]string

// read adds the comments of the package in a folder.
func (c comments) read(folder string) error {
	tests := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	packages, err := parser.ParseDir(token.NewFileSet(), folder, tests, parser.ParseComments|parser.SkipObjectResolution) //nolint:staticcheck // one folder without build tags
	if err != nil {
		return err
	}
	if len(packages) != 1 {
		return fmt.Errorf("%s has %d packages", folder, len(packages))
	}
	for _, p := range packages {
		ast.Inspect(p, func(n ast.Node) bool {
			group, ok := n.(*ast.GenDecl)
			if !ok {
				return true
			}
			for _, s := range group.Specs {
				if t, ok := s.(*ast.TypeSpec); ok {
					c.add(t, group)
				}
			}
			return false
		})
	}
	return nil
}

func (c comments) add(t *ast.TypeSpec, group *ast.GenDecl) {
	doc := t.Doc
	if doc == nil && !group.Lparen.IsValid() {
		doc = group.Doc
	}
	c[t.Name.Name] = asTypeDescription(t.Name.Name, doc.Text())
	fields, ok := t.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range fields.Fields.List {
		text := f.Doc.Text()
		if text == "" {
			text = f.Comment.Text()
		}
		for _, name := range f.Names {
			c[t.Name.Name+"."+name.Name] = asDescription(name.Name, text)
		}
	}
}

var citation = regexp.MustCompile(` \(spec: [^)]*\)`)

// asDescription turns a doc comment into a sentence: "Retention is how long" becomes "How long".
func asDescription(name, text string) string {
	text = citation.ReplaceAllString(strings.Join(strings.Fields(text), " "), "")
	for _, verb := range []string{" is ", " are "} {
		if rest, ok := strings.CutPrefix(text, name+verb); ok {
			text = upper(rest)
		}
	}
	return text
}

// asTypeDescription is asDescription that also turns "Lens turns" into "Turns".
func asTypeDescription(name, text string) string {
	text = asDescription(name, text)
	for _, verb := range []string{"turns ", "has "} {
		if strings.HasPrefix(text, name+" "+verb) {
			text = upper(text[len(name)+1:])
		}
	}
	return text
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
