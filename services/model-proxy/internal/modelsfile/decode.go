package modelsfile

import (
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/prism-results/prism/pkg/yamlfile"
)

// maxNodes bounds how large aliases can make a file.
const maxNodes = 100_000

// decoder reads the nodes of a file of models. A null counts as absent.
type decoder struct{ yamlfile.Reader }

// root is the body of the only document of the text, or nil.
func (x *decoder) root(text []byte) ast.Node {
	x.MaxNodes = maxNodes
	bodies, problem := yamlfile.Parse(text, parser.AllowDuplicateMapKey())
	switch {
	case problem != nil:
		x.Problems = append(x.Problems, *problem)
	case len(bodies) == 0:
		x.Add(0, "", "has no models")
	case len(bodies) > 1:
		x.Wrong(bodies[1], "", "must be one YAML document")
	default:
		return bodies[0]
	}
	return nil
}

// member is a member of an object.
type member struct {
	line  int
	name  string
	value ast.Node // plain; nil for null
}

func (x *decoder) object(n ast.Node, where string) (list []member) {
	if n == nil {
		return nil
	}
	for _, m := range x.Members(n, where) {
		list = append(list, member{m.Line, m.Name, x.Plain(m.Value, m.Path)})
	}
	return list
}

// list returns the items of a list, plain.
func (x *decoder) list(n ast.Node, where string) (items []ast.Node) {
	if n == nil {
		return nil
	}
	for i, v := range x.Items(n, where) {
		items = append(items, x.Plain(v, yamlfile.Item(where, i)))
	}
	return items
}

func (x *decoder) text(n ast.Node, where string) string {
	if n == nil {
		return ""
	}
	return x.Text(n, where)
}

// maxCalls is the largest max_in_flight: more calls at once than any model has.
const maxCalls = 1_000_000

func (x *decoder) whole(n ast.Node, where string) int {
	if n == nil {
		return 0
	}
	if v, ok := yamlfile.Whole(n, maxCalls); ok {
		return v
	}
	x.Wrong(n, where, fmt.Sprintf("must be a whole number from 1 to %d", maxCalls))
	return 0
}

// part reads a number from 0 to 1.
func (x *decoder) part(n ast.Node, where string) *float64 {
	if n == nil {
		return nil
	}
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		if v, err := strconv.ParseFloat(n.GetToken().Value, 64); err == nil && v >= 0 && v <= 1 {
			return &v
		}
	}
	x.Wrong(n, where, "must be a number from 0 to 1")
	return nil
}

func (x *decoder) amount(n ast.Node, where string, u unit) int64 {
	switch t := n.GetToken(); n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.StringNode: // 1e-06 is a text to the library
		if v, ok := amount(t.Value, u); ok && t.Type != token.SingleQuoteType && t.Type != token.DoubleQuoteType {
			return v
		}
	}
	x.Wrong(n, where, u.form)
	return 0
}
