package answerjson

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prism-results/prism/pkg/prism"
)

// ErrShape reports that the bytes are not stored answers. Errors that wrap it quote none of the bytes.
var ErrShape = errors.New("answerjson: not stored answers")

// Parse reads what Append wrote: one object without duplicate members, in which every answer has the members of its type.
// Unknown members are ignored, and an answer of an unknown type keeps only its question and type: after a rollback, the
// release before can read what was stored. Every error wraps ErrShape.
func Parse(raw []byte) (prism.Answers, error) {
	var p Parser
	return p.Parse(raw)
}

// Parser parses many stored answers and reuses its memory. The zero value is ready to use. It can't be used concurrently.
//
// Its methods read the text that Append writes for keys of [a-z0-9_]. Parse leaves any other JSON to parseAny, which takes
// several times as long (BenchmarkParse).
type Parser struct {
	text    string // what is left to read; keys are substrings of it: one allocation instead of one for each key
	answers prism.Answers
	probs   []prism.KeyProbability // of all answers, which have slices of it
}

// Parse is like the function Parse, but its answers are valid only until the next call. Their strings stay valid.
func (p *Parser) Parse(raw []byte) (prism.Answers, error) {
	p.text = string(raw)
	p.answers = slices.Grow(p.answers[:0], bytes.Count(raw, []byte("{"))) // more than there are answers
	p.probs = slices.Grow(p.probs[:0], bytes.Count(raw, []byte(":")))     // more than there are probabilities
	if p.object(p.question) && p.text == "" {
		return p.answers, nil
	}
	answers, err := parseAny(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %d bytes", ErrShape, len(raw))
	}
	return answers, nil
}

func (p *Parser) question(key string) bool {
	if slices.ContainsFunc(p.answers, func(a prism.Answer) bool { return a.Question == key }) {
		return false
	}
	p.answers = append(p.answers, prism.Answer{Question: key})
	a := &p.answers[len(p.answers)-1]
	var kind string
	if !p.skip(`{"type":`) || !p.string(&kind) {
		return false
	}
	a.Type = prism.QuestionType(kind)
	shape := a.Type.Shape()
	return shape != prism.Shape{} && (shape.Chosen == "" || p.chosen(shape, a) && p.probabilities(a)) &&
		(!shape.Confidence || p.skip(`,"confidence":`) && p.number(&a.Confidence)) &&
		(!shape.Probability || p.skip(`,"probability":`) && p.number(&a.Probability)) && p.skip("}")
}

// chosen reads the member with the chosen key, or passes over a list of keys, which the probabilities say too.
func (p *Parser) chosen(shape prism.Shape, a *prism.Answer) bool {
	name := shape.Chosen
	end := len(`,"`) + len(name)
	if len(p.text) < end || p.text[:len(`,"`)] != `,"` || p.text[len(`,"`):end] != name {
		return false
	}
	p.text = p.text[end:]
	if shape.Several {
		return p.skip(`":[`) && p.list()
	}
	return p.skip(`":`) && p.string(&a.Chosen)
}

// list passes over the strings of an array, and its end.
func (p *Parser) list() bool {
	if p.skip("]") {
		return true
	}
	for {
		var key string
		switch {
		case !p.string(&key):
			return false
		case p.skip("]"):
			return true
		case !p.skip(","):
			return false
		}
	}
}

func (p *Parser) probabilities(a *prism.Answer) bool {
	start := len(p.probs)
	ok := p.skip(`,"probabilities":`) && p.object(func(key string) bool {
		if slices.ContainsFunc(p.probs[start:], func(other prism.KeyProbability) bool { return other.Key == key }) {
			return false
		}
		p.probs = append(p.probs, prism.KeyProbability{Key: key})
		return p.number(&p.probs[len(p.probs)-1].Probability)
	})
	end := len(p.probs)
	a.Probabilities = p.probs[start:end:end]
	return ok
}

// object reads an object, calling member with each name; member reads the value.
func (p *Parser) object(member func(name string) bool) bool {
	if p.skip("{}") {
		return true
	}
	for before := "{"; p.skip(before); before = "," {
		var name string
		if !p.string(&name) || !p.skip(":") || !member(name) {
			return false
		}
		if p.skip("}") {
			return true
		}
	}
	return false
}

// skip reads the text s if it is next.
func (p *Parser) skip(s string) (ok bool) {
	p.text, ok = strings.CutPrefix(p.text, s)
	return ok
}

// string reads a string of ASCII without escapes.
func (p *Parser) string(to *string) bool {
	if !p.skip(`"`) {
		return false
	}
	for i := range len(p.text) {
		switch c := p.text[i]; {
		case c == '"':
			*to, p.text = p.text[:i], p.text[i+1:]
			return true
		case c < ' ' || c == '\\' || c >= utf8.RuneSelf:
			return false
		}
	}
	return false
}

// number reads a number that is not negative. It checks the syntax first: ParseFloat also reads .5, 5., 05, 0x5, +5 and Inf,
// which are not JSON.
func (p *Parser) number(to *float64) bool {
	end := 0
	for ; end < len(p.text) && p.text[end] != ',' && p.text[end] != '}'; end++ {
		if c := p.text[end]; !digit(c) && c != 'e' && c != '-' && (c != '.' || strings.HasPrefix(p.text[end:], ".e")) {
			return false
		}
	}
	s := p.text[:end]
	if s == "" || !digit(s[0]) || !digit(s[end-1]) || s[0] == '0' && end > 1 && digit(s[1]) {
		return false
	}
	f, err := strconv.ParseFloat(s, 64)
	*to, p.text = f, p.text[end:]
	return err == nil
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
