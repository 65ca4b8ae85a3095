package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any // an object, or what encoding/json writes
}

func (o object) get(name string) any {
	if i := o.index(name); i >= 0 {
		return o[i].value
	}
	return nil
}

func (o object) object(name string) object {
	v, _ := o.get(name).(object)
	return v
}

func (o object) index(name string) int {
	return slices.IndexFunc(o, func(m member) bool { return m.name == name })
}

// with returns the object with a member, in the place of one of the same name or at the end.
func (o object) with(name string, value any) object {
	if i := o.index(name); i >= 0 {
		o = slices.Clone(o)
		o[i].value = value
		return o
	}
	return append(o[:len(o):len(o)], member{name, value})
}

const lineWidth = 120

// write appends a value as people read it: on one line where it fits.
func write(b []byte, v any, indent, taken int) ([]byte, error) {
	line, err := writeLine(nil, v)
	if err != nil || indent+taken+len(line) <= lineWidth {
		return append(b, line...), err
	}
	each := func(open, shut byte, n int, element func(i int) (prefix []byte, v any)) ([]byte, error) {
		b = append(b, open)
		for i := range n {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, '\n'), strings.Repeat(" ", indent+2)...)
			prefix, v := element(i)
			if b, err = write(append(b, prefix...), v, indent+2, len(prefix)); err != nil {
				return nil, err
			}
		}
		b = append(append(b, '\n'), strings.Repeat(" ", indent)...)
		return append(b, shut), nil
	}
	switch v := v.(type) {
	case object:
		return each('{', '}', len(v), func(i int) ([]byte, any) { return []byte(strconv.Quote(v[i].name) + ": "), v[i].value })
	case []any:
		return each('[', ']', len(v), func(i int) ([]byte, any) { return nil, v[i] })
	}
	return append(b, line...), nil
}

func writeLine(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case object:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ", "...)
			}
			var err error
			if b, err = writeLine(append(b, strconv.Quote(m.name)+": "...), m.value); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	case []any:
		b = append(b, '[')
		for i, x := range v {
			if i > 0 {
				b = append(b, ", "...)
			}
			var err error
			if b, err = writeLine(b, x); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return writeLine(b, list)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return append(b, bytes.TrimRight(text.Bytes(), "\n")...), err
}

// readObject reads one object, with the order of its members and the text of its numbers.
func readObject(text []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := readValue(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	o, ok := v.(object)
	if !ok {
		return nil, errors.New("no object")
	}
	return o, nil
}

func readValue(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		o := object{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := readValue(d)
			if err != nil {
				return nil, err
			}
			o = append(o, member{fmt.Sprint(name), v})
		}
		_, err = d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := readValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	}
	return t, nil
}
