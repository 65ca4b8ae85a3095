package request

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// fields are the members of an object of strings in the order sent. A name sent twice keeps its first place and its last
// value, as in JavaScript (spec: duplicate-members).
//
// A body of 1 MiB has up to 130,000 members, so a member is kept as offsets in the body: strings and a map would take three
// times the memory.
type fields struct {
	body []byte
	sent []sentField
	// table is a hash table with open addressing: 1 + the index in sent, or 0. Its length is a power of 2, at least twice that of
	// sent. It is nil until there are fewFields names.
	table []uint32
	seed  maphash.Seed
	name  []byte // for unquoted names
	// uncleanName is 1 + how many fields precede the first name with NUL or an unpaired surrogate; 0 without such a name.
	uncleanName int
}

// sentField is a member with the last value of its name.
type sentField struct {
	hash  uint32 // of the name, if there is a table
	name  span
	value span // zero of an array or an object that is not kept
	first byte // of the value
}

// span is the offsets of a JSON string in the body, from its opening quote to behind its closing quote.
type span struct{ from, to uint32 }

const (
	fewFields = 16
	// manyProblems is how many problems are collected before they are turned into text.
	manyProblems = 64
)

// span returns the offsets of text, a slice of the body whose capacity ends with that of the body.
func (f *fields) span(text []byte) span {
	from := cap(f.body) - cap(text)
	return span{uint32(from), uint32(from + len(text))} //nolint:gosec // a body has at most 1 MiB
}

func (f *fields) text(s span) []byte { return f.body[s.from:s.to] }

// add adds a member. name is a slice of the body, and so is text, unless the value is an array or an object that is not kept.
func (f *fields) add(name, text []byte) {
	plain := name[1 : len(name)-1]
	if bytes.IndexByte(plain, '\\') >= 0 {
		var err error
		if f.name, err = strictjson.AppendUnquote(f.name[:0], name); err != nil || bytes.IndexByte(f.name, 0) >= 0 {
			if f.uncleanName == 0 {
				f.uncleanName = 1 + len(f.sent)
			}
			return
		}
		plain = f.name
	}
	if len(f.sent) == fewFields && f.table == nil {
		f.grow(name)
	}
	i := f.indexOf(plain, name)
	f.sent[i].value, f.sent[i].first = span{}, text[0]
	if text[0] != '[' && text[0] != '{' || len(text) > 1 {
		f.sent[i].value = f.span(text)
	}
}

// grow makes the table, and room for an estimate of the fields from a name on, so that adding them takes linear time and copies
// their memory rarely.
func (f *fields) grow(name []byte) {
	rest := f.body[f.span(name).from:]
	more := min(bytes.Count(rest, []byte(`":`)), 1+len(rest)/len(`"":1,`))
	f.sent = slices.Grow(f.sent, more)
	f.seed = maphash.MakeSeed()
	for i := range f.sent {
		f.sent[i].hash = f.hash(f.plain(f.sent[i]))
	}
	f.rehash(len(f.sent) + more)
}

// rehash makes a table for a number of names.
func (f *fields) rehash(names int) {
	size := 1
	for size < 2*names {
		size *= 2
	}
	f.table = make([]uint32, size)
	for i, s := range f.sent {
		slot := f.slot(s.hash)
		for f.table[slot] != 0 {
			slot = f.slot(slot + 1)
		}
		f.table[slot] = uint32(1 + i)
	}
}

func (f *fields) slot(hash uint32) uint32 { return hash & uint32(len(f.table)-1) } //nolint:gosec // fewer than bytes of a body

func (f *fields) hash(plain []byte) uint32 { return uint32(maphash.Bytes(f.seed, plain)) } //nolint:gosec // half of a hash is a hash

// indexOf is the index of a name in sent. A name that was not sent before is appended.
func (f *fields) indexOf(plain, name []byte) int {
	if f.table == nil {
		i := slices.IndexFunc(f.sent, func(s sentField) bool { return f.named(s, plain) })
		if i < 0 {
			i = len(f.sent)
			f.sent = append(f.sent, sentField{name: f.span(name)})
		}
		return i
	}
	hash := f.hash(plain)
	slot := f.slot(hash)
	for ; f.table[slot] != 0; slot = f.slot(slot + 1) {
		if i := int(f.table[slot] - 1); f.sent[i].hash == hash && f.named(f.sent[i], plain) {
			return i
		}
	}
	f.sent = append(f.sent, sentField{hash: hash, name: f.span(name)})
	f.table[slot] = uint32(len(f.sent)) //nolint:gosec // fewer than bytes of a body
	if 2*len(f.sent) > len(f.table) {
		f.rehash(2 * len(f.sent))
	}
	return len(f.sent) - 1
}

// plain is the unquoted name of a field.
func (f *fields) plain(s sentField) []byte {
	name := f.text(s.name)
	if bytes.IndexByte(name, '\\') < 0 {
		return name[1 : len(name)-1]
	}
	plain, _ := strictjson.AppendUnquote(nil, name) // add has refused what cannot be unquoted
	return plain
}

func (f *fields) named(s sentField, plain []byte) bool { return bytes.Equal(f.plain(s), plain) }

// fields reads the values, and adds the problems of names and values in the order sent. All unclean names are one problem,
// in the place of the first.
func (r *reader) fields(sent *fields) []prism.FieldValue {
	mistyped := r.expect(sent)
	values := []prism.FieldValue{}
	if !mistyped {
		values = make([]prism.FieldValue, 0, len(sent.sent))
	}
	texts := map[byte]string{} // of wrong types, by the first byte of the value
	for i, s := range sent.sent {
		if sent.uncleanName == i+1 {
			r.add("fields", textUnclean)
		}
		key := string(sent.plain(s))
		if s.first != '"' {
			if texts[s.first] == "" {
				texts[s.first] = textType(kindString, kindOf(s.first))
			}
			r.list()
			r.listed.Add(apierr.Problem{Path: "fields." + key, Text: texts[s.first]})
			continue
		}
		value, clean := unquote(sent.text(s.value))
		r.field(key, value, clean)
		if !mistyped {
			values = append(values, prism.FieldValue{Key: key, Value: value})
		}
		if len(r.problems) >= manyProblems {
			r.list()
		}
	}
	if sent.uncleanName == len(sent.sent)+1 {
		r.add("fields", textUnclean)
	}
	return values
}

// field adds the problems of a field's value.
func (r *reader) field(key, value string, clean bool) {
	if !clean || len(value) > maxField { // other fields need no path
		r.checkString("fields."+key, value, clean, 0, maxField)
	}
}

// expect makes room for the text of the problems of fields, and tells whether any value is not a string.
func (r *reader) expect(sent *fields) (mistyped bool) {
	size, text := 0, len(textType(kindString, kindBoolean))
	for _, s := range sent.sent {
		room := len("; fields.: ") + int(s.name.to-s.name.from)
		switch {
		case s.first != '"':
			size += room + text
			mistyped = true
		case bytes.Contains(sent.text(s.value), []byte(`\u`)):
			size += room + len(textUnclean)
		}
	}
	r.listed.Expect(size)
	return mistyped
}
