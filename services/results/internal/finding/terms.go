package finding

import (
	"hash/fnv"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/prism-results/prism/pkg/prism"
)

// Term is what an index has of a word or of a fact about a result: a hash, in which results of different accounts and prisms differ. An
// index by terms finds every result that it should, and few others, so what it finds is looked at.
type Term uint32

// Terms is how many there are: five digits to the base 36.
const Terms = 36 * 36 * 36 * 36 * 36

func term(scope prism.UUID, kind, text string) Term {
	h := fnv.New64a()
	_, _ = h.Write(scope[:])
	_, _ = h.Write([]byte(kind))
	_, _ = h.Write([]byte(text))
	return Term(h.Sum64() % Terms)
}

// The kinds of terms.
const (
	wordKind   = "w" // a whole token of more than shortestPrefix characters, or of a script without spaces
	prefixKind = "p" // a shorter token, or the first characters of one
	factKind   = "f"
)

// prefix is what an index has of the begin of a token: three characters of a word, one of a script without spaces.
func prefix(token string) string {
	characters := shortestPrefix
	if r, _ := utf8.DecodeRuneInString(token); isDense(r) {
		characters = 1
	}
	for at := range token {
		if characters == 0 {
			return token[:at]
		}
		characters--
	}
	return token
}

func wordTerm(account prism.AccountID, token string) Term {
	if prefix(token) == token {
		return term(account.UUID, prefixKind, token)
	}
	return term(account.UUID, wordKind, token)
}

// Needs are the terms that every result has that is found: of one of the groups of words all, and of each group of facts one. Without
// groups nothing is needed.
type Needs struct {
	Words [][]Term
	Facts [][]Term
}

// None tells whether nothing is needed, so that an index is of no use.
func (n Needs) None() bool { return len(n.Words) == 0 && len(n.Facts) == 0 }

// Needs are those of a query of an account.
func (w Words) Needs(account prism.AccountID) (groups [][]Term) {
	for _, group := range w {
		var all []Term
		for _, p := range group {
			for i, token := range p.Tokens {
				switch {
				case p.Not:
				case p.Prefix && i == len(p.Tokens)-1:
					all = append(all, term(account.UUID, prefixKind, prefix(token)))
				default:
					all = append(all, wordTerm(account, token))
				}
			}
		}
		if all == nil {
			return nil // all that lack some words
		}
		groups = append(groups, all)
	}
	return groups
}

// Terms are those of the words of a result and of what is known of it, each once.
func (f *Found) Terms(account prism.AccountID) []Term {
	terms := f.facts()
	for _, token := range Tokens(f.Result) {
		if token != Gap {
			terms = append(terms, wordTerm(account, token), term(account.UUID, prefixKind, prefix(token)))
		}
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// partBounds are between the parts of numbers: the bounds of a probability that people ask for. A bound up to 0.5 is of the part below it,
// one above 0.5 of the part above, so that results below 0.001, or from 0.999 on, are found without those of the next part.
var partBounds = [...]float64{
	0.0001, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 0.9999,
}

const parts = len(partBounds) + 1

func part(n float64) int {
	i, is := slices.BinarySearch(partBounds[:], n)
	if is && n > 0.5 {
		i++
	}
	return i
}

// name is how facts begin that are about a subject.
func (of Subject) name() string {
	return of.Question + "." + of.Option + "@" + string(of.Measure)
}

func valueFact(of Subject, value string) string { return of.name() + "=" + value }

func numberFact(of Subject, part int) string { return of.name() + "~" + strconv.Itoa(part) }

func labelFact(question string, o Operator) string { return question + "!" + string(o) }

// facts are the terms of what is known of a result beside its words.
func (f *Found) facts() (terms []Term) {
	add := func(fact string) { terms = append(terms, term(f.Result.Prism.UUID, factKind, fact)) }
	add("")
	for _, m := range []Measure{Version, Model, Status, Labelled} {
		of := Subject{Measure: m}
		values, _ := f.values(of)
		for _, value := range values {
			add(valueFact(of, value))
		}
	}
	for i := range f.Answers {
		for _, reply := range f.Answers[i].Replies() {
			add(valueFact(Subject{Question: f.Answers[i].Question}, reply))
		}
	}
	for _, of := range subjects(f.Definition) {
		if n, ok := f.Number(of); ok && of.Measure != Average {
			add(numberFact(of, part(n)))
		}
	}
	for _, q := range f.Definition.Questions {
		label, labelled := f.Labels[q.Key]
		if !labelled {
			continue
		}
		add(labelFact(q.Key, IsLabelled))
		if a := f.Answer(q.Key); a != nil && label != a.Value() {
			add(labelFact(q.Key, IsWrong))
		}
	}
	return terms
}

// PrismNeeds is the fact that results of a prism share.
func PrismNeeds(of prism.PrismID) []Term { return []Term{term(of.UUID, factKind, "")} }

// Needs are the facts that every result of a prism has for which the conditions hold.
func (all Conditions) Needs(prismID prism.PrismID) (groups [][]Term) {
	for _, c := range all {
		var facts []string
		switch c.Operator {
		case Is, Not:
			if c.Measure == Label { // what it is has no fact: each result with a label is looked at
				facts = []string{labelFact(c.Question, IsLabelled)}
				break
			}
			values := c.Values
			if c.Operator == Not {
				values = c.others
			}
			for _, value := range values {
				facts = append(facts, valueFact(c.Subject, value))
			}
		case From, To:
			if c.Question == "" || c.Measure == Average {
				continue
			}
			first, last := part(c.Bound), parts-1
			if c.Operator == To {
				first, last = 0, first
			}
			for i := first; i <= last; i++ {
				facts = append(facts, numberFact(c.Subject, i))
			}
		case IsLabelled, IsWrong:
			facts = []string{labelFact(c.Question, c.Operator)}
		case IsUnlabelled: // which no fact says
		}
		if facts == nil {
			continue
		}
		var terms []Term
		for _, fact := range facts {
			terms = append(terms, term(prismID.UUID, factKind, fact))
		}
		groups = append(groups, terms)
	}
	return groups
}
