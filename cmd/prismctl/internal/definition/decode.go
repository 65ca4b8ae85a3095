package definition

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/prism-results/prism/client"
)

// File is one prism as a file defines it.
type File struct {
	Name  string // of the file
	Prism client.NewPrism
	lines map[string]int // of each path, such as questions.0.key
}

// At is the place of a path, or of its nearest parent that the file has, as file:line.
func (f File) At(path string) string {
	for {
		line, ok := f.lines[path]
		if ok || path == "" {
			return f.Name + ":" + strconv.Itoa(line)
		}
		path = path[:max(0, strings.LastIndexByte(path, '.'))]
	}
}

// Decode reads the prisms of a YAML or JSON file, one for each YAML document. Unknown members are errors, because a misspelled
// member would silently change the definition. Every problem is listed with its line.
func Decode(name string, text []byte) ([]File, error) {
	tree, err := parser.ParseBytes(text, 0)
	var bad yaml.Error
	if errors.As(err, &bad) {
		return nil, fmt.Errorf("%s:%d: %s", name, bad.GetToken().Position.Line, bad.GetMessage())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var files []File
	var problems []error
	for _, document := range tree.Docs {
		if document.Body == nil {
			continue
		}
		x := decoder{file: File{Name: name, lines: map[string]int{}}, anchors: map[string]ast.Node{}}
		x.value(document.Body, reflect.ValueOf(&x.file.Prism).Elem(), "")
		if x.file.Prism.Slug == "" && len(x.problems) == 0 {
			x.problem(document.Body, "", "slug is missing")
		}
		problems = append(problems, x.problems...)
		files = append(files, x.file)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return files, nil
}

// decoder decodes YAML into the client's types by their JSON names.
type decoder struct {
	file     File
	problems []error
	anchors  map[string]ast.Node
	nodes    int
}

// maxNodes bounds the growth by aliases. The largest valid definition has some ten thousand nodes.
const maxNodes = 200_000

func (x *decoder) problem(n ast.Node, path, text string) {
	if path != "" {
		text = path + ": " + text
	}
	x.problems = append(x.problems, fmt.Errorf("%s:%d: %s", x.file.Name, line(n), text))
}

// line is the line of a node; for a member, the line of its name.
func line(n ast.Node) int {
	switch m := n.(type) {
	case *ast.MappingValueNode:
		n = m.Key
	case *ast.MappingNode:
		if len(m.Values) > 0 && !m.IsFlowStyle {
			n = m.Values[0].Key
		}
	}
	return n.GetToken().Position.Line
}

func (x *decoder) value(n ast.Node, into reflect.Value, path string) {
	if x.nodes++; x.nodes > maxNodes {
		if x.nodes == maxNodes+1 {
			x.problem(n, path, "is too large")
		}
		return
	}
	x.file.lines[path] = line(n)
	switch m := n.(type) {
	case *ast.AnchorNode:
		x.anchors[m.Name.GetToken().Value] = m.Value
		x.value(m.Value, into, path)
		return
	case *ast.AliasNode:
		named, ok := x.anchors[m.Value.GetToken().Value]
		if !ok {
			x.problem(n, path, "names an anchor that is not above it")
			return
		}
		x.value(named, into, path)
		return
	case *ast.NullNode:
		return // the same as not given
	}
	switch into.Kind() {
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		x.value(n, into.Elem(), path)
	case reflect.Struct:
		x.object(n, into, path)
	case reflect.Slice:
		x.list(n, into, path)
	default:
		x.scalar(n, into, path)
	}
}

func (x *decoder) object(n ast.Node, into reflect.Value, path string) {
	var members []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		members = m.Values
	case *ast.MappingValueNode:
		members = []*ast.MappingValueNode{m}
	default:
		x.problem(n, path, "must have members")
		return
	}
	for _, m := range members {
		name := m.Key.GetToken().Value
		if into, ok := field(into, name); ok {
			x.value(m.Value, into, join(path, name))
		} else {
			x.problem(m, path, "has no member "+strconv.Quote(name))
		}
	}
}

func (x *decoder) list(n ast.Node, into reflect.Value, path string) {
	items, ok := n.(*ast.SequenceNode)
	if !ok {
		x.problem(n, path, "must be a list")
		return
	}
	list := reflect.MakeSlice(into.Type(), len(items.Values), len(items.Values))
	for i, item := range items.Values {
		x.value(item, list.Index(i), join(path, strconv.Itoa(i)))
	}
	into.Set(list)
}

func (x *decoder) scalar(n ast.Node, into reflect.Value, path string) {
	switch into.Kind() {
	case reflect.String:
		switch text := n.(type) {
		case *ast.StringNode:
			into.SetString(text.Value)
		case *ast.LiteralNode:
			into.SetString(text.Value.Value)
		default:
			x.problem(n, path, "must be a text; put it in quotes")
		}
	case reflect.Bool:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			x.problem(n, path, "must be true or false")
			return
		}
		into.SetBool(b.Value)
	case reflect.Float64:
		switch number := n.(type) {
		case *ast.IntegerNode:
			f, _ := strconv.ParseFloat(fmt.Sprint(number.Value), 64)
			into.SetFloat(f)
		case *ast.FloatNode:
			into.SetFloat(number.Value)
		default: // infinity and "not a number" are nodes of their own
			x.problem(n, path, "must be a number")
		}
	default:
		panic("definition: the client has a member of a kind that is not decoded: " + into.Kind().String())
	}
}

// field finds a member by its JSON name, also in embedded structs.
func field(v reflect.Value, name string) (reflect.Value, bool) {
	for _, f := range reflect.VisibleFields(v.Type()) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name && name != "" {
			return v.FieldByIndex(f.Index), true
		}
	}
	return reflect.Value{}, false
}

func join(path, member string) string {
	if path == "" {
		return member
	}
	return path + "." + member
}
