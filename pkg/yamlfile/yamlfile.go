// Package yamlfile reads YAML files that people edit: it walks the nodes of a file, and collects every problem with its line.
package yamlfile

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Problem is what is wrong in a file.
type Problem struct {
	Line int // 0: the whole file
	Text string
}

// Problems are all problems of a file, by line.
type Problems struct { //nolint:errname // it reads as what it is
	Of   string // what the file has, such as models
	Path string
	List []Problem
}

func (p *Problems) Error() string {
	lines := []string{"the file of " + p.Of + " is wrong:"}
	for _, problem := range p.List {
		place := p.Path
		if problem.Line > 0 {
			place += ":" + strconv.Itoa(problem.Line)
		}
		lines = append(lines, "  "+place+": "+problem.Text)
	}
	return strings.Join(lines, "\n")
}

// Whole is a whole number from 1 to a limit.
func Whole(n ast.Node, limit int) (number int, ok bool) {
	if _, ok := n.(*ast.IntegerNode); !ok {
		return 0, false
	}
	number, err := strconv.Atoi(n.GetToken().Value)
	return number, err == nil && number >= 1 && number <= limit
}

// Reader walks the nodes of one document. A problem names its node by a path such as questions.0.key.
type Reader struct {
	// MaxNodes bounds what aliases can make of a document.
	MaxNodes int
	Problems []Problem

	anchors map[string]ast.Node
	nodes   int
}

// Parse returns the body of each document of a file, without empty documents, or what is wrong with the file.
func Parse(text []byte, options ...parser.Option) (bodies []ast.Node, problem *Problem) {
	for i, line := range bytes.Split(text, []byte("\n")) {
		if !utf8.Valid(line) { // the parser would replace the bytes
			return nil, &Problem{i + 1, "not UTF-8"}
		}
	}
	tree, err := parser.ParseBytes(text, 0, options...)
	var bad yaml.Error
	switch {
	case errors.As(err, &bad):
		return nil, &Problem{bad.GetToken().Position.Line, bad.GetMessage()}
	case err != nil:
		return nil, &Problem{0, err.Error()}
	}
	for _, d := range tree.Docs {
		if d.Body != nil {
			bodies = append(bodies, d.Body)
		}
	}
	return bodies, nil
}

// Add adds a problem of a line.
func (r *Reader) Add(line int, path, text string) {
	if path != "" {
		text = path + ": " + text
	}
	r.Problems = append(r.Problems, Problem{line, text})
}

// Wrong adds a problem of a node.
func (r *Reader) Wrong(n ast.Node, path, text string) { r.Add(Line(n), path, text) }

// Line is the line of a node. The line of a member is that of its name, and the line of an object that of its first member.
func Line(n ast.Node) int {
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

// Plain is the node behind anchors and aliases. It is nil for null, and for what is wrong.
func (r *Reader) Plain(n ast.Node, path string) ast.Node {
	for {
		if r.nodes++; r.nodes > r.MaxNodes {
			if r.nodes == r.MaxNodes+1 {
				r.Wrong(n, path, "is too large")
			}
			return nil
		}
		switch m := n.(type) {
		case nil:
			return nil
		case *ast.NullNode:
			return nil
		case *ast.TagNode:
			r.Wrong(n, path, "must have no tag")
			return nil
		case *ast.AnchorNode:
			if r.anchors == nil {
				r.anchors = map[string]ast.Node{}
			}
			r.anchors[m.Name.GetToken().Value] = m.Value
			n = m.Value
		case *ast.AliasNode:
			named, ok := r.anchors[m.Value.GetToken().Value]
			if !ok {
				r.Wrong(n, path, "names an anchor that is not above it")
				return nil
			}
			n = named
		default:
			return n
		}
	}
}

// Member is a member of an object.
type Member struct {
	Line  int
	Name  string
	Path  string
	Value ast.Node // not yet plain
}

// Members returns the members of an object. A name that comes twice is a problem. Members sees one only if Parse had
// parser.AllowDuplicateMapKey; otherwise Parse fails at it.
func (r *Reader) Members(n ast.Node, path string) (members []Member) {
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		r.Wrong(n, path, "must have members")
	}
	for _, v := range values {
		name := v.Key.GetToken().Value
		at := Join(path, name)
		if slices.ContainsFunc(members, func(m Member) bool { return m.Name == name }) {
			r.Wrong(v, at, "is given twice")
			continue
		}
		members = append(members, Member{Line(v), name, at, v.Value})
	}
	return members
}

// Items returns the items of a list, not yet plain.
func (r *Reader) Items(n ast.Node, path string) []ast.Node {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		r.Wrong(n, path, "must be a list")
		return nil
	}
	return list.Values
}

// Text returns a text.
func (r *Reader) Text(n ast.Node, path string) string {
	switch t := n.(type) {
	case *ast.StringNode:
		return t.Value
	case *ast.LiteralNode:
		return t.Value.Value
	}
	r.Wrong(n, path, "must be a text; put it in quotes")
	return ""
}

// IsText tells whether Text returns the node's text.
func IsText(n ast.Node) bool {
	switch n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return true
	}
	return false
}

// Join is the path of a member, or of an item.
func Join(path, member string) string {
	if path == "" {
		return member
	}
	return path + "." + member
}

// Item is the path of the item at an index, from 0.
func Item(path string, i int) string { return Join(path, strconv.Itoa(i)) }
