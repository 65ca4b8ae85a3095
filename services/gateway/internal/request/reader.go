package request

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/prism-results/prism/pkg/apierr"
)

// BodyKind is what the content type says of a body.
type BodyKind int

// The kinds of body that are parsed; any other is answered 415 before.
const (
	Absent BodyKind = iota // no content type and no body
	JSON                   // application/json
	Text                   // text/plain
)

// Body is a request's body: its bytes as received, at most 1 MiB. Nothing keeps Bytes.
type Body struct {
	Kind  BodyKind
	Bytes []byte
}

// reader collects the problems of one request in the order in which it is read. Its methods read one thing each, add
// what is wrong with it, and tell whether it is usable.
type reader struct {
	problems []apierr.Problem
	// malformed is a path parameter that is not UTF-8: the answer whatever else is wrong (decisions 1).
	malformed bool
}

func (r *reader) add(path, text string) {
	if len(r.problems) == cap(r.problems) {
		r.problems = slices.Grow(r.problems, max(4, len(r.problems))) // append grows long slices by less, and so copies more
	}
	r.problems = append(r.problems, apierr.Problem{Path: path, Text: text})
}

// err is the answer to the request, or nil when nothing is wrong with it.
func (r *reader) err() error {
	switch {
	case r.malformed:
		return apierr.Malformed()
	case len(r.problems) > 0:
		return apierr.Invalid(r.problems...)
	}
	return nil
}

// parseBody is the value of a body that has to be an object. A text/plain body is a string, an absent one not sent.
func parseBody(b Body) (value, error) {
	switch b.Kind {
	case JSON:
		return parseJSON(b.Bytes)
	case Text:
		return value(`""`), nil
	default:
		return nil, nil
	}
}

// ignoreBody is the rule for bodies that are not needed: absent, valid JSON or plain text (contract 4, retry).
func ignoreBody(b Body) error {
	if b.Kind != JSON {
		return nil
	}
	_, err := parseJSON(b.Bytes)
	return err
}

// item is a value with its path. The body itself has no path: messages call it body, its members by their names.
type item struct {
	path string
	raw  value
}

func (it item) name() string {
	if it.path == "" {
		return "body"
	}
	return it.path
}

func (it item) child(name string) string {
	if it.path == "" {
		return name
	}
	return it.path + "." + name
}

// given tells whether an optional member of the management API was sent. Null is not.
func (it item) given() bool { return it.raw != nil && it.raw.kind() != kindNull }

// is tells whether it has the type, and lists when it has not.
func (r *reader) is(it item, want kind) bool {
	if it.raw == nil {
		r.add(it.name(), textRequired)
		return false
	}
	if got := it.raw.kind(); got != want {
		r.add(it.name(), textType(want, got))
		return false
	}
	return true
}

// object is the members of an object that are read. The zero object has none.
type object struct {
	it      item
	names   []string
	members []value
}

// object reads an object whose members have these names; all others are ignored.
func (r *reader) object(it item, names ...string) (object, bool) {
	o := object{it: it, names: names, members: make([]value, len(names))}
	if !r.is(it, kindObject) {
		return o, false
	}
	it.raw.pick(names, o.members)
	return o, true
}

// at is the member with the name, which is one of those that object was given.
func (o object) at(name string) item {
	return item{o.it.child(name), o.members[slices.Index(o.names, name)]}
}

// array reads an array of least to most elements. Of one that is longer it gives the first ones.
func (r *reader) array(it item, least, most int) []item {
	if !r.is(it, kindArray) {
		return nil
	}
	n := 0
	var elements []item
	it.raw.eachElement(func(v value) {
		if n < most {
			elements = append(elements, item{it.child(strconv.Itoa(n)), v})
		}
		n++
	})
	if n < least {
		r.add(it.name(), textTooFew(least))
	}
	if n > most {
		r.add(it.name(), textTooMany(most))
	}
	return elements
}

// str reads a string of least to most code points without NUL and unpaired surrogates.
func (r *reader) str(it item, least, most int) (string, bool) {
	if !r.is(it, kindString) {
		return "", false
	}
	s, clean := it.raw.text()
	return s, r.checkString(it.path, s, clean, least, most)
}

func (r *reader) checkString(path, s string, clean bool, least, most int) bool {
	before := len(r.problems)
	if len(s) > most && utf8.RuneCountInString(s) > most { // a code point has at least one byte
		r.add(path, textTooLong(most))
	}
	if len(s) < least { // least is 0 or 1
		r.add(path, textTooShort(least))
	}
	if !clean {
		r.add(path, textUnclean)
	}
	return len(r.problems) == before
}

// shaped reads a string that has a shape, and tells whether it is a string.
func (r *reader) shaped(it item, shape *regexp.Regexp) (string, bool) {
	if !r.is(it, kindString) {
		return "", false
	}
	s, clean := it.raw.text()
	if !clean {
		r.add(it.path, textUnclean)
	}
	if !shape.MatchString(s) {
		r.add(it.path, textShape(shape))
	}
	return s, true
}

// anyStr reads a string of any length, for rules that are checked elsewhere.
func (r *reader) anyStr(it item) string {
	s, _ := r.str(it, 0, math.MaxInt)
	return s
}

// optionalStr reads a string that may be absent or null, which is "".
func (r *reader) optionalStr(it item, most int) string {
	if !it.given() {
		return ""
	}
	s, _ := r.str(it, 0, most)
	return s
}

// number reads a finite number.
func (r *reader) number(it item) (float64, bool) {
	if !r.is(it, kindNumber) {
		return 0, false
	}
	f := it.raw.number()
	if math.IsInf(f, 0) {
		r.add(it.path, textFinite)
		return 0, false
	}
	return f, true
}

// optionalNumber reads a finite number that may be absent or null, which is nil.
func (r *reader) optionalNumber(it item) *float64 {
	if !it.given() {
		return nil
	}
	f, ok := r.number(it)
	if !ok {
		return nil
	}
	return &f
}

// boolean reads true or false.
func (r *reader) boolean(it item) bool {
	return r.is(it, kindBoolean) && it.raw[0] == 't'
}

// optionalBoolean reads a boolean that may be absent or null, which is false.
func (r *reader) optionalBoolean(it item) bool { return it.given() && r.boolean(it) }

// integer checks that f is a whole number of 1 to most. Every problem of it is listed (decisions 2).
func (r *reader) integer(path string, f float64, most int) int {
	before := len(r.problems)
	if math.Trunc(f) != f || math.IsInf(f, 0) {
		r.add(path, textFloat)
	}
	if f < 1 {
		r.add(path, textAtLeast1)
	}
	if f > float64(most) {
		r.add(path, textAtMost(most))
	}
	if len(r.problems) != before {
		return 0
	}
	return int(f)
}
