package definition

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/yamlfile"
)

// File is one prism as a file defines it.
type File struct {
	Name  string // of the file
	Prism api.NewPrism
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

// maxNodes bounds the growth by aliases. The largest valid definition has some ten thousand nodes.
const maxNodes = 200_000

// Decode reads the prisms of a YAML or JSON file, one for each YAML document. Unknown members are errors, because a misspelled
// member would silently change the definition. Every problem is listed with its line.
func Decode(name string, text []byte) ([]File, error) {
	bodies, bad := yamlfile.Parse(text)
	if bad != nil {
		return nil, problems(name, *bad)
	}
	var files []File
	var wrong []yamlfile.Problem
	for _, body := range bodies {
		x := decoder{
			Reader: yamlfile.Reader{MaxNodes: maxNodes}, file: File{Name: name, lines: map[string]int{}},
		}
		x.value(body, reflect.ValueOf(&x.file.Prism).Elem(), "")
		if x.file.Prism.Slug == "" && len(x.Problems) == 0 {
			x.Wrong(body, "", "slug is missing")
		}
		wrong = append(wrong, x.Problems...)
		files = append(files, x.file)
	}
	if len(wrong) > 0 {
		return nil, problems(name, wrong...)
	}
	return files, nil
}

// problems are all that is wrong with a file, as file:line: text.
func problems(name string, list ...yamlfile.Problem) error {
	errs := make([]error, len(list))
	for i, p := range list {
		place := name
		if p.Line > 0 {
			place += ":" + strconv.Itoa(p.Line)
		}
		errs[i] = fmt.Errorf("%s: %s", place, p.Text)
	}
	return errors.Join(errs...)
}

// decoder decodes YAML into the client's types by their JSON names.
type decoder struct {
	yamlfile.Reader
	file File
}

func (x *decoder) value(n ast.Node, into reflect.Value, path string) {
	x.file.lines[path] = yamlfile.Line(n)
	if n = x.Plain(n, path); n == nil { // null is the same as not given
		return
	}
	x.file.lines[path] = yamlfile.Line(n)
	for into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	switch to := into.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		if to.UnmarshalText([]byte(x.Text(n, path))) != nil {
			x.Wrong(n, path, "must be an id")
		}
		return
	case *prism.ExampleFields:
		x.exampleFields(n, to, path)
		return
	case *prism.ExampleAnswers:
		x.exampleAnswers(n, to, path)
		return
	}
	switch into.Kind() {
	case reflect.Struct:
		x.object(n, into, path)
	case reflect.Slice:
		x.list(n, into, path)
	default:
		x.scalar(n, into, path)
	}
}

func (x *decoder) object(n ast.Node, into reflect.Value, path string) {
	for _, m := range x.Members(n, path) {
		if into, ok := field(into, m.Name); ok {
			x.value(m.Value, into, m.Path)
		} else {
			x.Add(m.Line, path, "has no member "+strconv.Quote(m.Name))
		}
	}
}

func (x *decoder) list(n ast.Node, into reflect.Value, path string) {
	items := x.Items(n, path)
	list := reflect.MakeSlice(into.Type(), len(items), len(items))
	for i, item := range items {
		x.value(item, list.Index(i), yamlfile.Item(path, i))
	}
	into.Set(list)
}

func (x *decoder) exampleFields(n ast.Node, to *prism.ExampleFields, path string) {
	for _, m := range x.Members(n, path) {
		f := prism.FieldValue{Key: m.Name}
		x.value(m.Value, reflect.ValueOf(&f.Value).Elem(), m.Path)
		*to = append(*to, f)
	}
}

// exampleAnswers reads labels: texts, booleans, and lists of texts.
func (x *decoder) exampleAnswers(n ast.Node, to *prism.ExampleAnswers, path string) {
	for _, m := range x.Members(n, path) {
		x.file.lines[m.Path] = yamlfile.Line(m.Value)
		var value any
		switch n := x.Plain(m.Value, m.Path).(type) {
		case nil:
			x.Wrong(m.Value, m.Path, "must be a label")
		case *ast.BoolNode:
			value = n.Value
		case *ast.SequenceNode:
			list := []string{}
			x.value(n, reflect.ValueOf(&list).Elem(), m.Path)
			value = list
		default:
			value = x.Text(n, m.Path)
		}
		label, _ := json.Marshal(value) // of texts
		*to = append(*to, prism.ExampleAnswer{Question: m.Name, Value: label})
	}
}

// exponentNumber is a number such as 1e3, which the library takes for a text (YAML 1.2.2, 10.3.2).
var exponentNumber = regexp.MustCompile(`^[-+]?[0-9]+[eE][-+]?[0-9]+$`)

func (x *decoder) scalar(n ast.Node, into reflect.Value, path string) {
	switch into.Kind() {
	case reflect.String:
		into.SetString(x.Text(n, path))
	case reflect.Bool:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			x.Wrong(n, path, "must be true or false")
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
		case *ast.StringNode:
			f, err := strconv.ParseFloat(number.Value, 64)
			if err != nil || number.Token.Type != token.StringType || !exponentNumber.MatchString(number.Value) {
				x.Wrong(n, path, "must be a number")
			}
			into.SetFloat(f)
		default: // infinity and "not a number" are nodes of their own
			x.Wrong(n, path, "must be a number")
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
