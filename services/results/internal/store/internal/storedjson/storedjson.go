// Package storedjson writes and reads the JSON that both stores keep in a column: definitions, Lenses and field values.
package storedjson

import (
	"errors"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// The errors of this package drop the errors of the JSON library, which may quote the content.
var (
	// ErrUnreadable: a column does not hold what this package wrote.
	ErrUnreadable = errors.New("store: a stored JSON value is not readable")
	errUnwritable = errors.New("store: a value can't be written as JSON")
)

// Value is what one column holds.
type Value interface {
	prism.Definition | prism.Lens | []prism.FieldValue
}

// Marshal writes v; members keep their order.
func Marshal[V Value](v V) ([]byte, error) {
	b, err := strictjson.Marshal(v)
	if err != nil {
		return nil, errUnwritable
	}
	return b, nil
}

// Unmarshal reads what Marshal wrote: ErrUnreadable.
func Unmarshal[V Value](b []byte) (v V, err error) {
	if strictjson.Unmarshal(b, &v) != nil {
		return v, ErrUnreadable
	}
	return v, nil
}
