package request

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// Query returns the decoded values of a query parameter in the order sent, or nil.
type Query func(name string) []string

// Header returns the values of a header in the order sent, or nil.
type Header func(name string) []string

func (h Header) values(name string) []string {
	if h == nil {
		return nil
	}
	return h(name)
}

// param reads a path parameter. One that is not UTF-8 makes the request malformed (spec: path-encoding).
func (r *reader) param(name, s string) string {
	if !utf8.ValidString(s) {
		r.malformed = true
		return ""
	}
	if !isClean(s) {
		r.add(name, textUnclean)
	}
	return s
}

// prismParam reads {prism}. Any text may name a prism; a later check finds it.
func (r *reader) prismParam(s string) prism.Ref {
	return prism.ParseRef(strings.Clone(r.param("prism", s)))
}

func (r *reader) uuidParam(name, s string) prism.UUID {
	id, err := prism.ParseUUID(r.param(name, s))
	if err != nil {
		r.add(name, textUUID)
	}
	return id
}

// numeral reads a number as JSON writes it and JavaScript reads it.
func (r *reader) numeral(name, s string) (float64, bool) {
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	// A number with white space around it is valid JSON too, but does not begin and end like a number.
	if s == "" || s[0] != '-' && !digit(s[0]) || !digit(s[len(s)-1]) || !strictjson.Value(s).IsValid() {
		r.add(name, textType(kindNumber, kindString))
		return 0, false
	}
	return parseNumber([]byte(s)), true
}

// oneOf reads a query parameter that is one of allowed. If absent or empty it is fallback. A repeated parameter has the same
// problem as an unknown value.
func oneOf[S ~string](r *reader, name string, sent []string, allowed []S, fallback S) S {
	switch {
	case len(sent) == 0 || len(sent) == 1 && sent[0] == "":
		return fallback
	case len(sent) == 1:
		if i := slices.Index(allowed, S(sent[0])); i >= 0 {
			return allowed[i] // a copy: what was sent refers to the request's buffer
		}
	}
	r.add(name, textOneOf(allowed))
	return fallback
}

// single reads a query parameter that may be sent once. It is empty if absent or sent more than once.
func (r *reader) single(q Query, name string, want kind) string {
	switch sent := q(name); len(sent) {
	case 0:
		return ""
	case 1:
		return sent[0]
	default:
		r.add(name, textType(want, kindArray))
		return ""
	}
}

// optionalNumeral reads a query parameter that is a number. ok is false if it is absent or empty, or there is a problem.
func (r *reader) optionalNumeral(q Query, name string) (f float64, ok bool) {
	if s := r.single(q, name, kindNumber); s != "" {
		return r.numeral(name, s)
	}
	return 0, false
}

// requiredNumeral reads a query parameter that is a number and must be sent. ok is false if there is a problem.
func (r *reader) requiredNumeral(q Query, name string) (f float64, ok bool) {
	switch sent := q(name); len(sent) {
	case 0:
		r.add(name, textRequired)
	case 1:
		return r.numeral(name, sent[0])
	default:
		r.single(q, name, kindNumber)
	}
	return 0, false
}

// texts reads a query parameter that may be sent several times, up to limit, each of up to each code points.
func (r *reader) texts(q Query, name string, limit, each int) (all []string) {
	sent := q(name)
	if len(sent) == 1 && sent[0] == "" {
		return nil
	}
	if len(sent) > limit {
		r.addBound(name, textTooMany, limit)
		sent = sent[:limit]
	}
	for i, s := range sent {
		r.checkString(name+"."+strconv.Itoa(i), s, isClean(s), 0, each)
		all = append(all, strings.Clone(s))
	}
	return all
}

// searches reports whether a list of results is a search, whose cursors are of another list (spec: search-cursor).
func searches(q Query) bool {
	return slices.ContainsFunc([]string{"q", "where", "sort"}, func(name string) bool {
		return slices.ContainsFunc(q(name), func(s string) bool { return s != "" })
	})
}

// prismQuery reads the query parameter prism. It is nil if absent or empty.
func (r *reader) prismQuery(q Query) *prism.Ref {
	s := r.singleStr(q, "prism", maxName)
	if s == "" {
		return nil
	}
	return new(prism.ParseRef(s))
}

// singleStr reads a query parameter of up to most code points. It is empty if absent.
func (r *reader) singleStr(q Query, name string, most int) string {
	s := r.single(q, name, kindString)
	r.checkString(name, s, isClean(s), 0, most)
	return strings.Clone(s)
}
