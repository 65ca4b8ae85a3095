package answerjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// ErrShape reports that the bytes are not what Append writes. Errors that wrap it say where, and quote none of the bytes.
var ErrShape = errors.New("answerjson: not stored answers")

// Parse reads what Append wrote: one object without duplicate members, in which every answer has the members of its type.
// Unknown members are ignored, and of an answer of an unknown type only the type is kept, so that a release still reads
// what a newer release stored before it was rolled back. Every error wraps ErrShape.
func Parse(raw []byte) (prism.Answers, error) {
	var p Parser
	return p.Parse(raw)
}

// Parser parses many stored answers and reuses its memory. The zero value is ready to use. It can't be used concurrently.
type Parser struct {
	in      bytes.Buffer
	tokens  *strictjson.Decoder
	text    string // the bytes as one string that all keys are cut from: one allocation instead of one for each key
	answers prism.Answers
	probs   []prism.KeyProbability // of all answers, which are cut from it
}

// Parse is like the function Parse, but its answers are valid only until the next call. Their strings stay valid.
func (p *Parser) Parse(raw []byte) (prism.Answers, error) {
	p.text, p.answers, p.probs = string(raw), p.answers[:0], p.probs[:0]
	p.in = *bytes.NewBuffer(raw) // the decoder reads a bytes.Buffer in place
	if p.tokens == nil {
		p.tokens = strictjson.NewDecoder(&p.in)
	} else {
		p.tokens.Reset(&p.in)
	}
	if !p.document() {
		return nil, fmt.Errorf("%w: at byte %d of %d", ErrShape, p.tokens.InputOffset(), len(raw))
	}
	return p.answers, nil
}

func (p *Parser) document() bool {
	ok := p.object(func(question string) bool {
		a, ok := p.answer(question)
		p.answers = append(p.answers, a)
		return ok
	})
	if !ok {
		return false
	}
	_, err := p.tokens.ReadToken()
	return errors.Is(err, io.EOF)
}

// members of an answer, as a set.
type members uint8

const (
	hasType members = 1 << iota
	hasValue
	hasLevel
	hasProbabilities
	hasConfidence
	hasProbability
)

// required is the members that an answer of the type has.
func required(t prism.QuestionType) members {
	switch t {
	case prism.Choice:
		return hasType | hasValue | hasProbabilities | hasConfidence
	case prism.Scale:
		return hasType | hasLevel | hasProbabilities
	case prism.YesNo:
		return hasType | hasProbability
	default:
		return hasType
	}
}

func (p *Parser) answer(question string) (prism.Answer, bool) {
	a := prism.Answer{Question: question}
	var value, level string
	var seen members
	ok := p.object(func(member string) (ok bool) {
		switch member {
		case "type":
			var s string
			s, ok = p.string()
			a.Type = prism.QuestionType(s)
			seen |= hasType
		case "value":
			value, ok = p.string()
			seen |= hasValue
		case "level":
			level, ok = p.string()
			seen |= hasLevel
		case "probabilities":
			a.Probabilities, ok = p.probabilities()
			seen |= hasProbabilities
		case "confidence":
			a.Confidence, ok = p.number()
			seen |= hasConfidence
		case "probability":
			a.Probability, ok = p.number()
			seen |= hasProbability
		default:
			ok = p.tokens.SkipValue() == nil
		}
		return ok
	})
	need := required(a.Type)
	if !ok || seen&need != need {
		return a, false
	}
	// A member of another type is an unknown member here.
	switch a.Type {
	case prism.Choice:
		a.Chosen, a.Probability = value, 0
	case prism.Scale:
		a.Chosen, a.Probability, a.Confidence = level, 0, 0
	case prism.YesNo:
		a.Probabilities, a.Confidence = nil, 0
	default:
		a = prism.Answer{Question: question, Type: a.Type}
	}
	return a, true
}

func (p *Parser) probabilities() ([]prism.KeyProbability, bool) {
	start := len(p.probs)
	ok := p.object(func(key string) bool {
		f, ok := p.number()
		p.probs = append(p.probs, prism.KeyProbability{Key: key, Probability: f})
		return ok
	})
	end := len(p.probs)
	return p.probs[start:end:end], ok
}

// object reads an object, calling member with each name; member reads the value.
func (p *Parser) object(member func(name string) bool) bool {
	if t, err := p.tokens.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	for p.tokens.PeekKind() != '}' {
		if name, ok := p.string(); !ok || !member(name) {
			return false
		}
	}
	_, err := p.tokens.ReadToken()
	return err == nil
}

func (p *Parser) string() (string, bool) {
	s, ok := p.value('"')
	if !ok {
		return "", false
	}
	if strings.IndexByte(s, '\\') < 0 { // keys consist of [a-z0-9_], so no string that Prism stored has a backslash
		return s[1 : len(s)-1], true
	}
	b, err := strictjson.AppendUnquote(nil, []byte(s))
	return string(b), err == nil
}

func (p *Parser) number() (float64, bool) {
	s, ok := p.value('0')
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64) // fails for 1e400, which is a number to JSON
	return f, err == nil
}

// value reads a string or number and returns its bytes as a part of text.
func (p *Parser) value(kind strictjson.Kind) (string, bool) {
	if p.tokens.PeekKind() != kind {
		return "", false
	}
	v, err := p.tokens.ReadValue()
	if err != nil {
		return "", false
	}
	end := int(p.tokens.InputOffset())
	return p.text[end-len(v) : end], true
}
