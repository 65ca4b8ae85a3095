package finding

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words is a query: a result is found if all phrases of one of the groups hold.
type Words [][]Phrase

// Phrase is tokens that stand one behind the other in a text.
type Phrase struct {
	Tokens []string
	Prefix bool // the last token is the begin of one
	Not    bool // no text has the phrase
}

const (
	mostPhrases    = 50
	shortestPrefix = 3
)

// ParseWords reads a query. It returns what is wrong with one that is none.
func ParseWords(q string) (words Words, problem string) {
	group, count := []Phrase{}, 0
	for q = strings.TrimLeftFunc(q, unicode.IsSpace); q != ""; q = strings.TrimLeftFunc(q, unicode.IsSpace) {
		var p Phrase
		var text string
		quoted := false
		if rest, not := strings.CutPrefix(q, "-"); not {
			p.Not, q = true, rest
		}
		if rest, ok := strings.CutPrefix(q, `"`); ok {
			if text, q, quoted = strings.Cut(rest, `"`); !quoted {
				return nil, "Expected a closing quotation mark"
			}
		} else {
			end := strings.IndexFunc(q, func(r rune) bool { return r == '"' || unicode.IsSpace(r) })
			if end < 0 {
				end = len(q)
			}
			text, q = q[:end], q[end:]
		}
		if !quoted && !p.Not && strings.EqualFold(text, "or") {
			if len(group) == 0 {
				return nil, "Expected a word on each side of or"
			}
			words, group = append(words, group), nil
			continue
		}
		word, starred := strings.CutSuffix(text, "*")
		if quoted {
			word, starred = text, false
		}
		if problem := p.read(word, starred); problem != "" {
			return nil, problem
		}
		if len(p.Tokens) == 0 {
			continue
		}
		if count++; count > mostPhrases {
			return nil, "Expected at most 50 words"
		}
		group = append(group, p)
	}
	switch {
	case len(group) > 0:
		return append(words, group), ""
	case len(words) > 0:
		return nil, "Expected a word on each side of or"
	}
	return nil, "Expected a word"
}

// read makes tokens of a text. The last run of a script without spaces may go on in what is found, so it lacks the token that ends a
// run; a single character is the begin of a token.
func (p *Phrase) read(text string, starred bool) (problem string) {
	last, dense := "", false
	eachRun(text, func(run string, d bool) { last, dense = run, d })
	p.Tokens = appendTokens(nil, text)
	switch {
	case last == "":
	case !dense:
		if starred && utf8.RuneCountInString(last) < shortestPrefix {
			return "Expected 3 characters or more before *"
		}
		p.Prefix = starred
	case utf8.RuneCountInString(last) == 1:
		p.Prefix = true
	default:
		p.Tokens = p.Tokens[:len(p.Tokens)-1]
	}
	return ""
}

// Match tells whether the query finds a result with these tokens.
func (w Words) Match(tokens []string) bool {
	return slices.ContainsFunc(w, func(group []Phrase) bool {
		return !slices.ContainsFunc(group, func(p Phrase) bool { return p.in(tokens) == p.Not })
	})
}

func (p *Phrase) in(tokens []string) bool {
	for ; len(tokens) >= len(p.Tokens); tokens = tokens[1:] {
		end := len(p.Tokens) - 1
		if slices.Equal(tokens[:end], p.Tokens[:end]) &&
			(tokens[end] == p.Tokens[end] || p.Prefix && strings.HasPrefix(tokens[end], p.Tokens[end])) {
			return true
		}
	}
	return false
}
