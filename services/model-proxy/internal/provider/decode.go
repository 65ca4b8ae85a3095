package provider

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// The types below read an upstream's JSON whatever its shape: a value of another shape is zero and spoils nothing else, and the last
// of two equal members counts. They hold little, however large the value is.

// maxParts bounds the members and elements that are kept: as many as the questions of a call, and more than the options of a question.
const maxParts = contract.MaxAsked

// Decode reads an upstream's JSON. It replaces broken UTF-8, as tokens may be parts of characters, and reads NaN, Infinity and
// -Infinity, which are no JSON, as infinite numbers.
func Decode(raw []byte, v any) bool {
	ok, _ := DecodeNumbers(raw, v)
	return ok
}

// DecodeNumbers is Decode. undefined tells whether there was a NaN or Infinity.
func DecodeNumbers(raw []byte, v any) (ok, undefined bool) {
	read := func(raw []byte) bool {
		return strictjson.Unmarshal(raw, v, strictjson.AllowInvalidUTF8(true), strictjson.AllowDuplicateNames(true)) == nil
	}
	if read(raw) {
		return true, false
	}
	finite, undefined := withoutNaN(raw)
	return finite != nil && read(finite), undefined
}

// infinite are the numbers of Python that are no JSON, with numbers beyond every float64 in their place.
var infinite = []struct{ text, number string }{{"NaN", "1e999"}, {"Infinity", "1e999"}, {"-Infinity", "-1e999"}}

// withoutNaN replaces the infinite numbers outside of strings. finite is nil if there are none. undefined tells whether one was no
// -Infinity.
func withoutNaN(raw []byte) (finite []byte, undefined bool) {
	changed, inString := false, false
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '"':
			inString = !inString
		case raw[i] == '\\' && inString && i+1 < len(raw):
			finite = append(finite, raw[i])
			i++
		case !inString:
			at := slices.IndexFunc(infinite, func(n struct{ text, number string }) bool { return bytes.HasPrefix(raw[i:], []byte(n.text)) })
			if at >= 0 {
				finite = append(finite, infinite[at].number...)
				changed, undefined = true, undefined || raw[i] != '-'
				i += len(infinite[at].text) - 1
				continue
			}
		}
		finite = append(finite, raw[i])
	}
	if !changed {
		return nil, false
	}
	return finite, undefined
}

// Decoder returns the Decode of a Format: read adds the content of a response to the reply. A response that is no JSON, or an error
// with the status 200, has a fault (spec: unreadable-replies, errors-in-a-200).
func Decoder[T any](read func(response T, questions []prism.Question, reply *Reply)) func([]byte, []prism.Question) Reply {
	return func(raw []byte, questions []prism.Question) Reply {
		reply := Reply{Answers: make([]*prism.Answer, len(questions))}
		var response Members[struct {
			Error Problem `json:"error"`
			Body  T       `json:",embed"`
		}]
		ok, undefined := DecodeNumbers(raw, &response)
		switch {
		case !ok:
			reply.Fault = upstream.Unreadable(raw)
		case bool(response.Value.Error):
			reply.Fault = upstream.ErrorInBody(raw)
		default:
			read(response.Value.Body, questions, &reply)
			if undefined && reply.Fault == nil && slices.Contains(reply.Answers, nil) { // it would have been a probability
				reply.Fault = upstream.Unreadable(raw)
			}
		}
		return reply
	}
}

// Problem tells whether there is an error: a text, or an object with members.
type Problem bool

// UnmarshalJSONFrom implements the JSON library's UnmarshalerFrom.
func (p *Problem) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	raw, err := d.ReadValue()
	*p = Problem(IsProblem(raw))
	return err
}

// IsProblem tells whether the value of a member `error` is a text, or an object with members.
func IsProblem(raw strictjson.Value) bool {
	return len(raw) > 2 && (raw.Kind() == '"' || raw.Kind() == '{')
}

// Members is an object with the members of the struct T.
type Members[T any] struct {
	Value T
	OK    bool
}

// UnmarshalJSONFrom implements the JSON library's UnmarshalerFrom, as the methods below do.
func (m *Members[T]) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	*m = Members[T]{}
	if d.PeekKind() != '{' {
		return d.SkipValue()
	}
	m.OK = true
	return strictjson.UnmarshalFrom(d, &m.Value)
}

// Dict is an object with members of any name.
type Dict[T any] map[string]T

// UnmarshalJSONFrom reads the first members.
func (m *Dict[T]) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	*m = Dict[T]{}
	return EachMember(d, func(name string) error {
		var v T
		err := strictjson.UnmarshalFrom(d, &v)
		(*m)[name] = v
		return err
	})
}

// Numbers are the members of an object that are numbers, by name.
type Numbers map[string]float64

// UnmarshalJSONFrom reads the first members.
func (m *Numbers) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	*m = Numbers{}
	return EachMember(d, func(name string) error {
		var n Number
		err := n.UnmarshalJSONFrom(d)
		if delete(*m, name); n.OK {
			(*m)[name] = n.Value
		}
		return err
	})
}

// List is an array.
type List[T any] []T

// UnmarshalJSONFrom reads the first elements.
func (l *List[T]) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	*l = nil
	return EachElement(d, maxParts, func() error {
		var v T
		err := strictjson.UnmarshalFrom(d, &v)
		*l = append(*l, v)
		return err
	})
}

// First is the first element of an array.
type First[T any] struct {
	Value T
	OK    bool // the array has an element
}

// UnmarshalJSONFrom reads the first element.
func (f *First[T]) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	*f = First[T]{}
	return EachElement(d, 1, func() error {
		f.OK = true
		return strictjson.UnmarshalFrom(d, &f.Value)
	})
}

// Text is a string.
type Text string

// UnmarshalJSONFrom reads a string.
func (t *Text) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	*t = ""
	if d.PeekKind() != '"' {
		return d.SkipValue()
	}
	token, err := d.ReadToken()
	if err == nil {
		*t = Text(token.String())
	}
	return err
}

// Number is a number, infinite when it is beyond every float64.
type Number struct {
	Value float64
	OK    bool // it is a number
	Null  bool // it is null
}

// UnmarshalJSONFrom reads a number or null.
func (n *Number) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	*n = Number{}
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	if raw.Kind() == '0' {
		v, err := strconv.ParseFloat(string(raw), 64)
		*n = Number{Value: v, OK: err == nil || errors.Is(err, strconv.ErrRange)}
	}
	n.Null = raw.Kind() == 'n'
	return nil
}

// Float is the number, or NaN if there is none.
func (n Number) Float() float64 {
	if !n.OK {
		return math.NaN()
	}
	return n.Value
}

// EachMember has read take the value of each of the first members of an object. It skips a value that is no object.
func EachMember(d *strictjson.Decoder, read func(name string) error) error {
	if d.PeekKind() != '{' {
		return d.SkipValue()
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		name, err := d.ReadToken()
		if err != nil || name.Kind() == '}' {
			return err
		}
		if n >= maxParts {
			err = d.SkipValue()
		} else {
			err = read(name.String())
		}
		if err != nil {
			return err
		}
	}
}

// EachElement has read take each of the first elements of an array, at most as many as the bound. It skips a value that is no array.
func EachElement(d *strictjson.Decoder, bound int, read func() error) error {
	if d.PeekKind() != '[' {
		return d.SkipValue()
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		switch kind := d.PeekKind(); {
		case kind == ']' || kind == 0:
			_, err := d.ReadToken()
			return err
		case n >= bound:
			if err := d.SkipValue(); err != nil {
				return err
			}
		default:
			if err := read(); err != nil {
				return err
			}
		}
	}
}
