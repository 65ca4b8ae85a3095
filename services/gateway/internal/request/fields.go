package request

import (
	"bytes"
	"slices"

	"github.com/prism-results/prism/pkg/prism"
)

// fields are the members of an object of strings in the order sent. A name sent twice keeps its first place and its last
// value, as in JavaScript (spec: duplicate-members).
type fields struct {
	values []prism.FieldValue
	states []byte // of values: the first byte of the value, or uncleanValue
	// places are the places of the names, once there are many. A call that can succeed has few.
	places map[string]int
	// uncleanName is 1 + how many fields precede the first name with NUL or an unpaired surrogate; 0 without such a name.
	uncleanName int
}

const (
	fewFields = 16
	// uncleanValue is the state of a string with NUL or an unpaired surrogate.
	uncleanValue = 0
)

// add adds a member. rest is the part of the body behind it.
func (f *fields) add(name, text, rest []byte) {
	key, clean := unquote(name)
	if !clean {
		if f.uncleanName == 0 {
			f.uncleanName = 1 + len(f.values)
		}
		return
	}
	value, state := "", text[0]
	if state == '"' {
		if value, clean = unquote(text); !clean {
			state = uncleanValue
		}
	}
	if len(f.values) == fewFields && f.places == nil {
		f.expect(bytes.Count(rest, []byte(`":`)))
	}
	i := f.find(key)
	if i < 0 {
		i = len(f.values)
		f.values, f.states = append(f.values, prism.FieldValue{Key: key}), append(f.states, 0)
		if f.places != nil {
			f.places[key] = i
		}
	}
	f.values[i].Value, f.states[i] = value, state
}

// expect makes room for many more fields, so that adding them takes linear time and their memory is not copied again and
// again.
func (f *fields) expect(more int) {
	f.values, f.states = slices.Grow(f.values, 1+more), slices.Grow(f.states, 1+more)
	f.places = make(map[string]int, 1+fewFields+more)
	for i, v := range f.values {
		f.places[v.Key] = i
	}
}

// find is the place of a name, or -1.
func (f *fields) find(name string) int {
	if f.places == nil {
		return slices.IndexFunc(f.values, func(v prism.FieldValue) bool { return v.Key == name })
	}
	if i, ok := f.places[name]; ok {
		return i
	}
	return -1
}

// fields reads the values, and adds the problems of names and values in the order sent. All unclean names are one problem,
// in the place of the first.
func (r *reader) fields(sent *fields) []prism.FieldValue {
	for i, v := range sent.values {
		if sent.uncleanName == i+1 {
			r.add("fields", textUnclean)
		}
		switch state := sent.states[i]; {
		case state != '"' && state != uncleanValue:
			r.add("fields."+v.Key, textType(kindString, kindOf(state)))
		case state == uncleanValue || len(v.Value) > maxField: // other fields need no path
			r.checkString("fields."+v.Key, v.Value, state != uncleanValue, 0, maxField)
		}
	}
	if sent.uncleanName == len(sent.values)+1 {
		r.add("fields", textUnclean)
	}
	if sent.values == nil {
		return []prism.FieldValue{}
	}
	return sent.values
}
