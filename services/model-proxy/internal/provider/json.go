package provider

import (
	"strconv"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// Object is a JSON object whose members keep their order.
type Object []Member

// Member is a member of an Object.
type Member struct {
	Name  string
	Value any
}

// MarshalJSONTo implements the JSON library's MarshalerTo.
func (o Object) MarshalJSONTo(e *strictjson.Encoder) error {
	if err := e.WriteToken(strictjson.BeginObject); err != nil {
		return err
	}
	for _, m := range o {
		if err := e.WriteToken(strictjson.String(m.Name)); err != nil {
			return err
		}
		if err := strictjson.MarshalTo(e, m.Value); err != nil {
			return err
		}
	}
	return e.WriteToken(strictjson.EndObject)
}

// encode returns v as JSON. Broken UTF-8 is replaced.
func encode(v any) []byte {
	b, err := strictjson.Marshal(v, strictjson.AllowInvalidUTF8(true))
	if err != nil { // a bug in the format; package ask recovers from the panic
		panic(err)
	}
	return b
}

// Decode reads an upstream's JSON. Broken UTF-8 in it is replaced rather than refused: tokens may be parts of characters.
func Decode(raw []byte, v any) bool {
	return strictjson.Unmarshal(raw, v, strictjson.AllowInvalidUTF8(true)) == nil
}

// Decoder returns the Decode of a Format: read adds the content of a response to the reply.
func Decoder[T any](read func(response T, questions []prism.Question, reply *Reply)) func([]byte, []prism.Question) Reply {
	return func(raw []byte, questions []prism.Question) Reply {
		reply := Reply{Answers: make([]*prism.Answer, len(questions))}
		var response T
		if Decode(raw, &response) {
			read(response, questions, &reply)
		}
		return reply
	}
}

// Lenient is a value in an upstream's JSON. If the value is missing or has another shape, it is zero and OK is false, and the rest
// of the JSON is read nevertheless.
type Lenient[T any] struct {
	Value T
	OK    bool
}

// UnmarshalJSONFrom implements the JSON library's UnmarshalerFrom.
func (l *Lenient[T]) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	var v T
	if l.OK = Decode(raw, &v); l.OK {
		l.Value = v
	}
	return nil
}

// Numbers are the members of an object that are numbers, by name. They are empty when the value is no object.
type Numbers map[string]float64

// UnmarshalJSONFrom implements the JSON library's UnmarshalerFrom.
func (n *Numbers) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	if d.PeekKind() != '{' {
		return d.SkipValue()
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	*n = Numbers{}
	for {
		name, err := d.ReadToken()
		if err != nil || name.Kind() == '}' {
			return err
		}
		key := name.String() // the token is valid until the next one is read
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		if number, err := strconv.ParseFloat(string(value), 64); err == nil {
			(*n)[key] = number
		}
	}
}
