package modelsfile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Problem is what is wrong in the file.
type Problem struct {
	Line int // 0: the whole file
	What string
}

// Problems are all that is wrong with a file, by line.
type Problems struct { //nolint:errname // it reads as what it is
	Path string
	List []Problem
}

func (p *Problems) Error() string {
	lines := []string{"the file of models is wrong:"}
	for _, one := range p.List {
		place := p.Path
		if one.Line > 0 {
			place += ":" + strconv.Itoa(one.Line)
		}
		lines = append(lines, "  "+place+": "+one.What)
	}
	return strings.Join(lines, "\n")
}

// maxNodes bounds what aliases can make of a file.
const maxNodes = 100_000

// decoder walks the nodes of a YAML file and collects what is wrong with it.
type decoder struct {
	problems []Problem
	anchors  map[string]ast.Node
	nodes    int
}

// root is the body of the only document of the text, or nil.
func (x *decoder) root(text []byte) ast.Node {
	tree, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	var bad yaml.Error
	switch {
	case errors.As(err, &bad):
		x.add(bad.GetToken().Position.Line, "", bad.GetMessage())
		return nil
	case err != nil:
		x.add(0, "", err.Error())
		return nil
	}
	docs := slices.DeleteFunc(tree.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	switch len(docs) {
	case 0:
		x.add(0, "", "has no models")
		return nil
	case 1:
		return docs[0].Body
	}
	x.add(line(docs[1].Body), "", "must be one YAML document")
	return nil
}

func (x *decoder) add(line int, where, what string) {
	if where != "" {
		what = where + ": " + what
	}
	x.problems = append(x.problems, Problem{line, what})
}

func (x *decoder) wrong(n ast.Node, where, what string) { x.add(line(n), where, what) }

// line is the line of a node; for a mapping, that of its first member.
func line(n ast.Node) int {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		n = m.Values[0]
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		n = m.Key
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// plain is the node behind anchors and aliases. It is nil for null, and for what is wrong.
func (x *decoder) plain(n ast.Node, where string) ast.Node {
	for {
		if x.nodes++; x.nodes > maxNodes {
			if x.nodes == maxNodes+1 {
				x.wrong(n, "", "the file is too large")
			}
			return nil
		}
		switch m := n.(type) {
		case nil:
			return nil
		case *ast.NullNode:
			return nil
		case *ast.TagNode:
			x.wrong(n, where, "must have no tag")
			return nil
		case *ast.AnchorNode:
			if x.anchors == nil {
				x.anchors = map[string]ast.Node{}
			}
			x.anchors[m.Name.GetToken().Value] = m.Value
			n = m.Value
		case *ast.AliasNode:
			named, ok := x.anchors[m.Value.GetToken().Value]
			if !ok {
				x.wrong(n, where, "names an anchor that is not above it")
				return nil
			}
			n = named
		default:
			return n
		}
	}
}

// member is a member of an object.
type member struct {
	line  int
	name  string
	value ast.Node // without anchors; nil for null
}

// object returns the members of a node. A name that comes twice is a problem.
func (x *decoder) object(n ast.Node, where string) (list []member) {
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case nil:
		return nil
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		x.wrong(n, where, "must have members")
		return nil
	}
	for _, v := range values {
		name := v.Key.GetToken().Value
		at := join(where, name)
		if slices.ContainsFunc(list, func(m member) bool { return m.name == name }) {
			x.wrong(v, at, "is given twice")
			continue
		}
		list = append(list, member{line(v), name, x.plain(v.Value, at)})
	}
	return list
}

// list returns the items of a node, without anchors.
func (x *decoder) list(n ast.Node, where string) (items []ast.Node) {
	if n == nil {
		return nil
	}
	sequence, ok := n.(*ast.SequenceNode)
	if !ok {
		x.wrong(n, where, "must be a list")
		return nil
	}
	for i, v := range sequence.Values {
		items = append(items, x.plain(v, join(where, strconv.Itoa(i))))
	}
	return items
}

func (x *decoder) text(n ast.Node, where string) string {
	switch t := n.(type) {
	case nil:
	case *ast.StringNode:
		return t.Value
	case *ast.LiteralNode:
		return t.Value.Value
	default:
		x.wrong(n, where, "must be a text; put it in quotes")
	}
	return ""
}

// maxCalls is a bound of calls at once that no model reaches.
const maxCalls = 1_000_000

func (x *decoder) whole(n ast.Node, where string) int {
	if n == nil {
		return 0
	}
	if _, ok := n.(*ast.IntegerNode); ok {
		if v, err := strconv.Atoi(n.GetToken().Value); err == nil && v >= 1 && v <= maxCalls {
			return v
		}
	}
	x.wrong(n, where, fmt.Sprintf("must be a whole number from 1 to %d", maxCalls))
	return 0
}

func (x *decoder) amount(n ast.Node, where string) int64 {
	switch t := n.GetToken(); n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.StringNode: // 1e-06 is a text to the library
		if v, ok := amount(t.Value); ok && t.Type != token.SingleQuoteType && t.Type != token.DoubleQuoteType {
			return v
		}
	}
	x.wrong(n, where, "must be a number from 0 to 999999.999999 with at most six decimals")
	return 0
}

func join(where, member string) string {
	if where == "" {
		return member
	}
	return where + "." + member
}
