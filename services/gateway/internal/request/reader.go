package request

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/httpkit"
)

// Body is the body of a request: its bytes as received, at most 1 MiB. Nothing keeps Bytes.
type Body = httpkit.Body

// reader collects the problems of one request in the order of reading. Each method reads one value, adds its problems and
// tells whether the value is usable.
type reader struct {
	problems []apierr.Problem
	// listed has, as text, the problems that came before those in problems (see list).
	listed apierr.Problems
	// malformed: a path parameter is not UTF-8. It decides the response, whatever else is wrong (spec: path-encoding).
	malformed bool
	// inValues counts the problems that values have in themselves: those of rules over several members are none of them.
	inValues int
	header   Header
}

func (r *reader) add(path, text string) {
	if len(r.problems) == cap(r.problems) {
		r.problems = slices.Grow(r.problems, max(4, len(r.problems))) // append grows long slices by less, and so copies more
	}
	r.problems = append(r.problems, apierr.Problem{Path: path, Text: text})
	r.inValues++
}

// addBound adds a problem whose text has a bound.
func (r *reader) addBound(path, text string, bound int) { r.add(path, fmt.Sprintf(text, bound)) }

// list turns the problems so far into text, which takes a third of the memory.
func (r *reader) list() {
	r.listed.Add(r.problems...)
	r.problems = r.problems[:0]
}

// err is nil if the request has no problem.
func (r *reader) err() error {
	if r.malformed {
		return apierr.Malformed()
	}
	if r.list(); r.listed.Len() > 0 {
		return r.listed.Err()
	}
	return nil
}

// parseBody reads a body that has to be an object. A text/plain body becomes a string, and an absent body an item that was not
// sent, so that the caller's check of the type refuses both.
func parseBody(b Body, s *shape) (item, error) {
	switch b.Kind {
	case httpkit.JSON:
		n, err := parseJSON(b.Bytes, s)
		return item{node: n, shape: s}, err
	case httpkit.Text:
		return item{node: node{text: []byte(`""`)}}, nil
	default:
		return item{}, nil
	}
}

// ignoreBody accepts a body that is absent, valid JSON or plain text (spec: retry-body).
func ignoreBody(b Body) error {
	if b.Kind != httpkit.JSON {
		return nil
	}
	_, err := parseJSON(b.Bytes, nil)
	return err
}

// item is a value with its path. The body has no path: messages call it body, and its members by their names.
type item struct {
	path string
	node
	shape *shape
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

// at is a member of an object. The name is one of its shape.
func (it item) at(name string) item {
	i := slices.IndexFunc(it.shape.members, func(m member) bool { return m.name == name })
	return item{it.child(name), it.parts[i], it.shape.members[i].shape}
}

// hasValue tells whether an optional member was sent and is not null (spec: null-members).
func (it item) hasValue() bool { return it.sent() && it.kind() != kindNull }

// is tells whether an item has a type, and adds a problem if not.
func (r *reader) is(it item, want kind) bool {
	if !it.sent() {
		r.add(it.name(), textRequired)
		return false
	}
	if got := it.kind(); got != want {
		r.add(it.name(), textType(want, got))
		return false
	}
	return true
}

// array reads an array of least to most elements. If it is longer, the first most elements are returned.
func (r *reader) array(it item, least, maximum int) []item {
	if !r.is(it, kindArray) {
		return nil
	}
	var elements []item
	for i, n := range it.parts[:min(maximum, len(it.parts))] {
		elements = append(elements, item{it.child(strconv.Itoa(i)), n, it.shape.element})
	}
	if it.count < least {
		r.addBound(it.name(), textTooFew, least)
	}
	if it.count > maximum {
		r.addBound(it.name(), textTooMany, maximum)
	}
	return elements
}

// str reads a string of least to most code points without NUL and unpaired surrogates.
func (r *reader) str(it item, least, most int) (string, bool) {
	if !r.is(it, kindString) {
		return "", false
	}
	s, clean := unquote(it.text)
	return s, r.checkString(it.path, s, clean, least, most)
}

// strOrHeader reads a string that is a member, if that was sent, or a header, or both alike (spec: idempotency-header).
func (r *reader) strOrHeader(it item, sent bool, header string, least, limit int) (s string) {
	valid := false
	if sent {
		s, valid = r.str(it, least, limit)
	}
	switch values := r.header.values(header); {
	case len(values) == 0:
	case len(values) > 1:
		r.add(it.path, textTwice)
	case !sent:
		s = values[0]
		r.checkString(it.path, s, isClean(s), least, limit)
	case valid && s != values[0]:
		r.add(it.path, "differs from the "+header+" header")
	}
	return s
}

func (r *reader) checkString(path, s string, clean bool, least, most int) bool {
	before := len(r.problems)
	if len(s) > most && utf8.RuneCountInString(s) > most { // a code point has at least one byte
		r.addBound(path, textTooLong, most)
	}
	if len(s) < least { // least is 0 or 1
		r.addBound(path, textTooShort, least)
	}
	if !clean {
		r.add(path, textUnclean)
	}
	return len(r.problems) == before
}

// matching reads a string that has to match a pattern, and tells whether it is a string.
func (r *reader) matching(it item, pattern *regexp.Regexp) (string, bool) {
	if !r.is(it, kindString) {
		return "", false
	}
	s, clean := unquote(it.text)
	if !clean {
		r.add(it.path, textUnclean)
	}
	if !pattern.MatchString(s) {
		r.add(it.path, textPattern(pattern))
	}
	return s, true
}

// anyStr reads a string of any length. Its rules are checked elsewhere.
func (r *reader) anyStr(it item) string {
	s, _ := r.str(it, 0, math.MaxInt)
	return s
}

// oneOfStr reads a string that is one of allowed. It is empty if there is a problem.
func oneOfStr[S ~string](r *reader, it item, allowed []S) S {
	s, ok := r.str(it, 0, math.MaxInt)
	if !ok {
		return ""
	}
	if !slices.Contains(allowed, S(s)) {
		r.add(it.path, textOneOf(allowed))
		return ""
	}
	return S(s)
}

// number reads a finite number.
func (r *reader) number(it item) (float64, bool) {
	if !r.is(it, kindNumber) {
		return 0, false
	}
	f := parseNumber(it.text)
	if math.IsInf(f, 0) {
		r.add(it.path, textFinite)
		return 0, false
	}
	return f, true
}

// optionalNumber reads a finite number that may be absent or null, which is nil.
func (r *reader) optionalNumber(it item) *float64 {
	if !it.hasValue() {
		return nil
	}
	f, ok := r.number(it)
	if !ok {
		return nil
	}
	return &f
}

// integer checks that f is a whole number from 1 to most. It adds every problem of the number (spec: version-number).
func (r *reader) integer(path string, f float64, most int) int { return r.whole(path, f, 1, most) }

// whole is integer with another least number than 1.
func (r *reader) whole(path string, f float64, least, maximum int) int {
	before := len(r.problems)
	if math.Trunc(f) != f || math.IsInf(f, 0) {
		r.add(path, textFloat)
	}
	if f < float64(least) {
		r.addBound(path, textAtLeast, least)
	}
	if f > float64(maximum) {
		r.addBound(path, textAtMost, maximum)
	}
	if len(r.problems) != before {
		return 0
	}
	return int(f)
}

// within checks a number against the limits of a member.
func (r *reader) within(path string, f float64, l api.Limits) float64 {
	switch {
	case l.Above != nil && f <= *l.Above:
		r.addBound(path, textAbove, int(*l.Above))
	case l.Min != nil && f < *l.Min:
		r.addBound(path, textAtLeast, int(*l.Min))
	case l.Max != nil && f > *l.Max:
		r.addBound(path, textAtMost, int(*l.Max))
	}
	return f
}
