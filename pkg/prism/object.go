package prism

import (
	"bytes"
	"encoding/json"
	"errors"
)

// ReadMembers reads an object in the order of its members; null is a nil list. member is where the name and the value of one go.
func ReadMembers[T any](b []byte, member func(*T) (name *string, value any)) (list []T, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	switch t, err := d.Token(); {
	case err != nil || t == nil: // t is nil for null
		return nil, err
	case t != json.Delim('{'):
		return nil, errors.New("client: not an object")
	}
	for d.More() {
		var entry T
		name, value := member(&entry)
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		*name, _ = t.(string)
		if err := d.Decode(value); err != nil {
			return nil, err
		}
		list = append(list, entry)
	}
	return list, nil
}

// WriteMembers writes an object in the order of the list; a nil list is null.
func WriteMembers[T any](list []T, member func(*T) (name *string, value any)) ([]byte, error) {
	if list == nil {
		return []byte("null"), nil
	}
	b := bytes.NewBufferString("{")
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	for i := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		name, value := member(&list[i])
		if err := e.Encode(name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
