package api

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Place is where a member of a request is.
type Place string

// The places.
const (
	InPath   Place = "path"
	InQuery  Place = "query"
	InHeader Place = "header"
	InBody   Place = "json"
	// InOctets is the body as it is.
	InOctets Place = "octets"
)

// Property is a member of a request or a response, as the tags of its field declare it.
type Property struct {
	Name  string
	Place Place
	Field reflect.StructField
	Index []int // of the field in the struct that Members was asked for
	// Required members must be there. One that may be null as well is a pointer.
	Required bool
	// Nullable is true of a member of a response that may be absent and null.
	Nullable bool
	// NotNull is true of an optional member of a request that must not be null.
	NotNull bool
	// Zeroed is true of an optional pointer of a request that is nil when it was not sent, and points to zero when null was sent.
	Zeroed bool
	// OrHeader is the header that a request can have in place of the member; empty: none.
	OrHeader string
	// Without are members beside which this one must not be sent. Without all of them a required one must be.
	Without []string
	// Of are the values of the member type with which a struct has this one; none: with all.
	Of []string
	// Unless is a boolean member that is true when this one may be absent; "": none.
	Unless string
	Limits
}

// With is the member of a struct whose member type has a value, with the bounds that a tag named like the value says: "1-100".
func (p Property) With(value string) Property {
	if text, ok := p.Field.Tag.Lookup(value); ok {
		least, most, _ := strings.Cut(text, "-")
		p.Min, p.Max = new(number(p.Field, least)), new(number(p.Field, most))
	}
	return p
}

// Limits are what the tags of a field say of its value.
type Limits struct {
	// Min and Max bound a number, the code points of a string, or the elements of a list; nil: no bound.
	Min, Max *float64
	// Each bounds the code points of each string of a list; nil: no bound.
	Each *float64
	// Above is what a number must be greater than; nil: no such bound.
	Above   *float64
	Enum    []string
	Form    string // of Forms; also "uuid", "date", "hour"
	Default string
	List    string // of a cursor
}

// IsOf tells whether a struct whose member type has a value has this member.
func (p Property) IsOf(value string) bool { return p.Of == nil || slices.Contains(p.Of, value) }

// Sent tells which members of a body were sent.
type Sent interface {
	// HasValue reports whether a member was sent and is not null.
	HasValue(name string) bool
	// Valid reports whether all were given, each without a problem in itself.
	Valid(names ...string) bool
}

// Properties are the members of a request or a response in their order. Embedded structs count as the struct that embeds them.
func Properties(t reflect.Type) []Property {
	var all []Property
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			for _, m := range Properties(f.Type) {
				m.Index = append([]int{i}, m.Index...)
				all = append(all, m)
			}
			continue
		}
		if m, ok := property(f); ok {
			m.Index = []int{i}
			all = append(all, m)
		}
	}
	return all
}

func property(f reflect.StructField) (Property, bool) {
	for _, place := range []Place{InPath, InQuery, InHeader, InBody, InOctets} {
		tag, ok := f.Tag.Lookup(string(place))
		name, options, _ := strings.Cut(tag, ",")
		if !ok || name == "-" {
			continue
		}
		_, required := f.Tag.Lookup("required")
		null, nullable := f.Tag.Lookup("null")
		_, notNull := f.Tag.Lookup("notnull")
		m := Property{
			Name: name, Place: place, Field: f, Limits: limits(f), Nullable: nullable, Zeroed: null == "zero", NotNull: notNull,
			OrHeader: f.Tag.Get("orheader"), Unless: f.Tag.Get("unless"), Without: split(f.Tag.Get("without")),
			Of:       split(f.Tag.Get("of")),
			Required: required || place == InPath || place == InBody && !strings.Contains(options, "omitzero"),
		}
		return m, true
	}
	return Property{}, false
}

func limits(f reflect.StructField) Limits {
	l := Limits{
		Min: bound(f, "min"), Max: bound(f, "max"), Each: bound(f, "each"), Above: bound(f, "above"), Form: f.Tag.Get("form"), Default: f.Tag.Get("default"), List: f.Tag.Get("list"),
	}
	l.Enum = split(f.Tag.Get("enum"))
	if v, ok := reflect.Zero(base(f.Type)).Interface().(interface{ Values() []string }); ok && l.Enum == nil {
		l.Enum = v.Values()
	}
	if value, ok := f.Tag.Lookup("except"); ok {
		l.Enum = slices.DeleteFunc(l.Enum, func(v string) bool { return v == value })
	}
	return l
}

// split is the values that a tag lists; nil for an absent tag.
func split(tag string) []string {
	if tag == "" {
		return nil
	}
	return strings.Split(tag, ",")
}

// base is the type of the values that a field holds: without a pointer and without a list.
func base(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

func bound(f reflect.StructField, name string) *float64 {
	text, ok := f.Tag.Lookup(name)
	if !ok {
		return nil
	}
	return new(number(f, text))
}

func number(f reflect.StructField, text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("api: a tag of %s is no number: %s", f.Name, text)) // a fault of the program, found by every test
	}
	return n
}
