package tabular

import (
	"bytes"
	"errors"
	"io"

	"github.com/prism-results/prism/pkg/strictjson"
)

// objectParser parses the lines of jsonl.
type objectParser struct {
	decoder *strictjson.Decoder
	line    bytes.Reader
	text    []byte // of the member's value
}

// parse calls member for each member of the object on a line of UTF-8, with the value as JSON and as the text of a cell. Both are
// valid until member returns. The key is not UTF-8 if it has an unpaired surrogate. As in the body of a call, strings may have NUL
// and unpaired surrogates, and nested objects a member twice (spec: nul-and-surrogates, duplicate-members).
func (o *objectParser) parse(line []byte, member func(key string, value strictjson.Value, text []byte) error) error {
	if bytes.IndexByte(line, 0) >= 0 {
		if bytes.Contains(line, []byte("\\\x00")) {
			return errNoObject // the escape would become another one
		}
		line = bytes.ReplaceAll(line, []byte{0}, []byte(`\u0000`)) // which is a NUL in a string, and damage elsewhere
	}
	o.line.Reset(line)
	// The library takes unpaired surrogates only together with bytes that are not UTF-8, which the line does not have.
	options := strictjson.JoinOptions(strictjson.AllowDuplicateNames(true), strictjson.AllowInvalidUTF8(true))
	if o.decoder == nil {
		o.decoder = strictjson.NewDecoder(&o.line, options)
	} else {
		o.decoder.Reset(&o.line, options)
	}
	if begin, err := o.decoder.ReadToken(); err != nil || begin.Kind() != '{' {
		return errors.Join(err, errNoObject)
	}
	for o.decoder.PeekKind() == '"' {
		name, err := o.decoder.ReadValue()
		if err != nil {
			return err
		}
		key := "\xff"
		if unquoted, err := strictjson.AppendUnquote(o.text[:0], name); err == nil {
			key = string(unquoted)
		}
		value, err := o.decoder.ReadValue()
		if err != nil {
			return err
		}
		o.text = appendText(o.text[:0], value)
		if err := member(key, value, o.text); err != nil {
			return err
		}
	}
	if _, err := o.decoder.ReadToken(); err != nil {
		return err
	}
	if _, err := o.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.Join(err, errNoObject)
	}
	return nil
}

var errNoObject = errors.New("not a JSON object")

// appendText appends a value as the text of a cell: a string as it is, but U+FFFD for an unpaired surrogate, null as nothing,
// everything else as its JSON (spec: file-jsonl).
func appendText(b []byte, value strictjson.Value) []byte {
	switch value.Kind() {
	case '"':
		b, _ = strictjson.AppendUnquote(b, value) // the only error is an unpaired surrogate
		return b
	case 'n':
		return b
	default:
		return append(b, value...)
	}
}

// kindOfJSON is the kind of a value as a cell.
func kindOfJSON(value strictjson.Value) Kind {
	if k := value.Kind(); k == '0' {
		return Number
	} else if k == 't' || k == 'f' {
		return Boolean
	}
	return Text
}
