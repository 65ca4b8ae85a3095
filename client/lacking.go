package client

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/api"
)

// decode reads a value of JSON. It returns a *api.LackingError if members are absent, or null where v has no nil. Pointers, which an
// older Prism may not send, and members with omitempty or omitzero may be absent.
func decode(text []byte, v any) error {
	if err := json.Unmarshal(text, v); err != nil {
		return err
	}
	s := search{d: json.NewDecoder(bytes.NewReader(text))}
	if err := s.value(reflect.TypeOf(v).Elem(), ""); err != nil {
		return err
	}
	if len(s.lacking) > 0 {
		return &api.LackingError{Members: s.lacking}
	}
	return nil
}

// search walks through a text that json.Unmarshal has read.
type search struct {
	d       *json.Decoder
	lacking []string
}

func (s *search) lacks(path string) { s.lacking = append(s.lacking, strings.TrimPrefix(path, ".")) }

// value walks through the next value.
func (s *search) value(t reflect.Type, path string) error {
	kind := t.Kind()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if leaf(t) {
		var text json.RawMessage
		err := s.d.Decode(&text)
		if string(text) == "null" && !nullable(kind, t) {
			s.lacks(path)
		}
		return err
	}
	begin, err := s.d.Token()
	switch {
	case err != nil:
		return err
	case begin == nil && nullable(kind, t):
		return nil
	case begin == nil:
		s.lacks(path)
		return nil
	case t.Kind() == reflect.Struct:
		err = s.members(t, path)
	default:
		err = s.items(begin, t.Elem(), path)
	}
	if err != nil {
		return err
	}
	_, err = s.d.Token() // the end
	return err
}

// members walks through those of an object.
func (s *search) members(t reflect.Type, path string) error {
	seen := map[string]bool{}
	fields := membersOf(t)
	for s.d.More() {
		name, err := s.name()
		if err != nil {
			return err
		}
		seen[name] = true
		typ := reflect.TypeFor[json.RawMessage]() // a member that this client does not know
		if i := slices.IndexFunc(fields, func(f reflect.StructField) bool { return nameOf(f) == name }); i >= 0 {
			typ = fields[i].Type
		}
		if err := s.value(typ, path+"."+name); err != nil {
			return err
		}
	}
	for _, f := range fields {
		if required(f) && !seen[nameOf(f)] {
			s.lacks(path + "." + nameOf(f))
		}
	}
	return nil
}

// items walks through those of an array, or of an object whose members are all of one type.
func (s *search) items(begin json.Token, t reflect.Type, path string) (err error) {
	for i := 0; s.d.More(); i++ {
		name := strconv.Itoa(i)
		if begin == json.Delim('{') {
			if name, err = s.name(); err != nil {
				return err
			}
		}
		if err := s.value(t, path+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) name() (string, error) {
	token, err := s.d.Token()
	name, _ := token.(string)
	return name, err
}

// leaf tells whether a type has no members that the search looks at.
func leaf(t reflect.Type) bool {
	switch {
	case t == reflect.TypeFor[Result]():
		return false
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()): // the type looks itself
		return true
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		for t = t.Elem(); t.Kind() == reflect.Pointer; {
			t = t.Elem()
		}
		return leaf(t)
	}
	return t.Kind() != reflect.Struct || len(membersOf(t)) == 0
}

func nullable(kind reflect.Kind, t reflect.Type) bool {
	return kind == reflect.Pointer || kind == reflect.Slice || kind == reflect.Map || t == reflect.TypeFor[LabelValue]()
}

// required tells whether every Prism sends a member.
func required(f reflect.StructField) bool {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return f.Type.Kind() != reflect.Pointer && options == ""
}

// membersOf are the fields of a struct that have a name in JSON.
func membersOf(t reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return nameOf(f) == "" || nameOf(f) == "-" })
}

func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
