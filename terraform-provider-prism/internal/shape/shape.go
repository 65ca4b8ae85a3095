// Package shape says what attributes of Terraform a type of the API has, and converts their values from and to the JSON of the API. So an
// attribute is declared once, in pkg/api, and a member that the API gets is an attribute of the next build.
package shape

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/prism-results/prism/pkg/api"
)

// Kind is what kind of value there is.
type Kind int

// The kinds.
const (
	Text Kind = iota
	Time      // a text: RFC 3339
	Flag
	Whole
	Decimal
	List   // of Elem
	Map    // of Elem, by texts
	Object // with Members
)

// Shape is the form of a value.
type Shape struct {
	Kind    Kind
	Elem    *Shape
	Members []Member
}

// Member is a member of an object.
type Member struct {
	Name string
	Shape
	Required bool
	Limits   api.Limits
}

// Find is a member by its name.
func (s Shape) Find(name string) (Member, bool) {
	for _, m := range s.Members {
		if m.Name == name {
			return m, true
		}
	}
	return Member{}, false
}

var (
	marshalsText = reflect.TypeFor[encoding.TextMarshaler]()
	marshalsJSON = reflect.TypeFor[json.Marshaler]()
)

// Derive is the shape of the JSON of a type. It panics on a type that has none, which is a fault of the program.
func Derive(t reflect.Type) Shape {
	if t.Kind() == reflect.Pointer {
		return Derive(t.Elem())
	}
	if t.Implements(marshalsText) { // before JSON: api.Time has both
		if strings.HasSuffix(t.Name(), "Time") {
			return Shape{Kind: Time}
		}
		return Shape{Kind: Text}
	}
	switch t.Kind() {
	case reflect.String:
		return Shape{Kind: Text}
	case reflect.Bool:
		return Shape{Kind: Flag}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return Shape{Kind: Whole}
	case reflect.Float64:
		return Shape{Kind: Decimal}
	case reflect.Map:
		return Shape{Kind: Map, Elem: new(Derive(t.Elem()))}
	case reflect.Slice:
		return deriveList(t)
	case reflect.Struct:
		s := Shape{Kind: Object}
		for _, p := range api.Properties(t) {
			s.Members = append(s.Members, Member{
				Name: p.Name, Shape: Derive(p.Field.Type), Limits: p.Limits,
				Required: p.Required && p.Default == "" && p.Of == nil, // what only some types of questions have, the API requires of them
			})
		}
		return s
	default:
		panic(fmt.Sprintf("shape: %s has no attribute", t))
	}
}

// deriveList is the shape of a list, or of what is an object whose members have an order, such as the fields of an example: a map of texts.
func deriveList(t reflect.Type) Shape {
	if t.Elem().Kind() == reflect.Uint8 { // json.RawMessage
		return Shape{Kind: Text}
	}
	if t.Implements(marshalsJSON) && !strings.HasPrefix(t.Name(), "Nullable[") {
		return Shape{Kind: Map, Elem: &Shape{Kind: Text}}
	}
	return Shape{Kind: List, Elem: new(Derive(t.Elem()))}
}

// Prune leaves out of JSON what means the same as nothing: members of objects that are null, false, or empty.
func (s Shape) Prune(x any) any {
	switch v := x.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = v[i]
			if s.Elem != nil {
				out[i] = s.Elem.Prune(v[i])
			}
		}
		return out
	case map[string]any:
		if s.Kind != Object {
			return v
		}
		out := map[string]any{}
		for name, value := range v {
			if m, ok := s.Find(name); ok {
				if value = m.Prune(value); !empty(value) {
					out[name] = value
				}
			}
		}
		return out
	}
	return x
}

func empty(x any) bool {
	switch v := x.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	}
	return false
}
