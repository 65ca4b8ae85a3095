// Package strictjson is the only package that imports the JSON library: RFC 8259 in UTF-8, the order of members and raw
// numbers kept, and no escapes that JSON does not need. Go 1.27 has the library as encoding/json/v2; only this file will
// change.
package strictjson

import (
	stdjson "encoding/json"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What parsers and writers need of the token level.
type (
	// Decoder reads tokens and values.
	Decoder = jsontext.Decoder
	// Encoder writes tokens and values.
	Encoder = jsontext.Encoder
	// Options change what is accepted or written.
	Options = jsontext.Options
	// Value is a whole JSON value as text.
	Value = jsontext.Value
	// Number is a number as text.
	Number = stdjson.Number
)

// The token-level functions that parsers and writers need.
var (
	NewDecoder          = jsontext.NewDecoder
	AppendUnquote       = jsontext.AppendUnquote[[]byte]
	AllowDuplicateNames = jsontext.AllowDuplicateNames
	AllowInvalidUTF8    = jsontext.AllowInvalidUTF8
	JoinOptions         = json.JoinOptions
	BeginObject         = jsontext.BeginObject
	EndObject           = jsontext.EndObject
	String              = jsontext.String

	// RejectUnknownMembers makes Unmarshal refuse members that the value does not have.
	RejectUnknownMembers = json.RejectUnknownMembers
	// OmitZeroMembers makes Marshal leave out members that are zero.
	OmitZeroMembers = json.OmitZeroStructFields
	// Numbers makes Marshal write each Number as a number, not as a string.
	Numbers = json.WithMarshalers(json.MarshalToFunc(func(e *jsontext.Encoder, n Number) error {
		return e.WriteValue(jsontext.Value(n))
	}))
)

// Marshal encodes v as one compact JSON value.
func Marshal(v any, opts ...Options) ([]byte, error) { return json.Marshal(v, opts...) }

// MarshalTo writes v to an encoder as its next value.
func MarshalTo(e *Encoder, v any) error { return json.MarshalEncode(e, v) }

// Unmarshal decodes exactly one JSON value into v. Members that v does not have are ignored.
func Unmarshal(b []byte, v any, opts ...Options) error { return json.Unmarshal(b, v, opts...) }

// UnmarshalFrom decodes the next value of a decoder into v.
func UnmarshalFrom(d *Decoder, v any) error { return json.UnmarshalDecode(d, v) }

// AppendString appends s as a JSON string. It escapes only what JSON must.
func AppendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // the only error is invalid UTF-8, which is then already replaced
	return b
}
