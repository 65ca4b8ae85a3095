package offline

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The English words that the package knows, stemmed. They are few on purpose: they need only make demonstrations plausible.
var (
	stopWords = byWord(`a about after again all also am an and any are as at be been before being but by can could did do does
		doing for from had has have how i if in into is it its just me more most my no not of on or other our out over own
		she he so some such than that the their them then there these they this to too very was we were what when where
		which while who why will with would you your
		ask asking author contain contains customer describe kind mention message need needs one person question say says
		sender sort text ticket type user want wants writer yes`)
	strong = stems("urgent asap immediately emergency hurry angry furious upset frustrated unacceptable terrible awful worst " +
		"outrageous never stolen")
	mild     = stems("happy thanks thank great love excellent pleased calm satisfied please whenever fine okay")
	synonyms = byWord( // near synonyms of a word
		"urgent asap immediately emergency hurry deadline quickly today soon",
		"angry furious upset frustrated annoyed unacceptable terrible awful worst disappointed outrageous complaint",
		"happy thanks thank great love excellent pleased calm satisfied",
		"refund reimburse reimbursement money chargeback",
		"pay payment charge charged billing bill invoice fee price cost",
		"broken crash crashes error bug fail failed failure fault defect technical",
		"delivery deliver shipping shipment ship parcel package courier",
		"account login password profile access",
		"cancel cancellation terminate unsubscribe",
		"lost stolen missing",
	)
)

// byWord maps each word to all words of its line.
func byWord(lines ...string) map[string][]string {
	groups := map[string][]string{}
	for _, line := range lines {
		words := stems(line)
		for _, w := range words {
			groups[w] = words
		}
	}
	return groups
}

// stems returns the stemmed words of the text, each once.
func stems(text string) []string {
	var out []string
	eachWord(text, func(w []byte) {
		if s := string(w); !slices.Contains(out, s) {
			out = append(out, s)
		}
	})
	return out
}

// vocabulary counts the words of the input that matter: those of the questions, options and levels of an ask, and their
// synonyms.
type vocabulary map[string]*int

func newVocabulary() vocabulary {
	v := vocabulary{}
	v.enter(strong)
	v.enter(mild)
	return v
}

func (v vocabulary) enter(words []string) {
	for _, w := range words {
		if v[w] == nil {
			v[w] = new(0)
		}
	}
}

// learn returns the words of the texts that matter, each once.
func (v vocabulary) learn(texts ...string) []string {
	words := slices.DeleteFunc(stems(strings.Join(texts, " ")), func(w string) bool { return stopWords[w] != nil })
	v.enter(words)
	for _, w := range words {
		v.enter(synonyms[w])
	}
	return words
}

// read counts the words of the input. It is linear in the text and allocates one buffer.
func (v vocabulary) read(text string) {
	eachWord(text, func(w []byte) {
		if n := v[string(w)]; n != nil {
			*n++
		}
	})
}

// weight is the weight of a word: 0 when it is not in the input, 1 when it is, a little more when it is repeated, and half of
// that when only a near synonym is in the input.
func (v vocabulary) weight(w string) float64 {
	if n := *v[w]; n > 0 {
		return 0.85 + 0.15*float64(min(n, 4))
	}
	if slices.ContainsFunc(synonyms[w], func(s string) bool { return *v[s] > 0 }) {
		return 0.5
	}
	return 0
}

// intensity is how strong the input's words are, from 0 to 1, and 0.5 without strong and mild words. When the highest level
// has a mild word, the scale measures mild words.
func (v vocabulary) intensity(highest []string) float64 {
	var more int
	for _, w := range strong {
		more += min(*v[w], 2)
	}
	for _, w := range mild {
		more -= min(*v[w], 2)
	}
	if slices.ContainsFunc(highest, func(w string) bool { return slices.Contains(mild, w) }) {
		more = -more
	}
	return 0.5 + 0.5*math.Tanh(float64(more)/2)
}

// maxWord is how many bytes of a word are compared.
const maxWord = 48

// eachWord calls fn with each stemmed word of the text, in lower case. The bytes are only valid during the call. A word
// is a run of letters and digits, or a single character in scripts that put no spaces between words.
func eachWord(text string, fn func(word []byte)) {
	var buf [maxWord + utf8.UTFMax]byte
	w := buf[:0]
	flush := func() {
		if len(w) > 0 {
			fn(stem(w))
			w = buf[:0]
		}
	}
	for _, r := range text {
		alone := r >= utf8.RuneSelf && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		within := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		if alone || !within {
			flush()
		}
		if (alone || within) && len(w) < maxWord {
			w = utf8.AppendRune(w, unicode.ToLower(r))
		}
		if alone {
			flush()
		}
	}
	flush()
}

// plurals are endings and their replacements. The first ending that a word has is replaced.
var plurals = [][2]string{
	{"ies", "y"}, {"sses", "ss"}, {"shes", "sh"}, {"ches", "ch"}, {"xes", "x"}, {"ss", "ss"}, {"us", "us"}, {"is", "is"}, {"s", ""},
}

// stem removes the most common English endings. The result need not be a real stem.
func stem(w []byte) []byte {
	if n := len(w); n < 4 || w[n-1] >= utf8.RuneSelf {
		return w
	}
	for _, p := range plurals {
		if bytes.HasSuffix(w, []byte(p[0])) {
			w = append(w[:len(w)-len(p[0])], p[1]...)
			break
		}
	}
	if cut, ok := bytes.CutSuffix(w, []byte("ing")); ok && len(cut) > 2 {
		w = undouble(cut)
	} else if cut, ok := bytes.CutSuffix(w, []byte("ed")); ok && len(cut) > 2 {
		w = undouble(cut)
	}
	if cut, ok := bytes.CutSuffix(w, []byte("e")); ok && len(cut) > 2 {
		w = cut
	}
	return w
}

// undouble turns "shipp", the rest of "shipped", into "ship".
func undouble(w []byte) []byte {
	if n := len(w); n > 3 && w[n-1] == w[n-2] && w[n-1] != 'l' && w[n-1] != 's' {
		return w[:n-1]
	}
	return w
}
