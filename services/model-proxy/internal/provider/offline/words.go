package offline

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWord is how many bytes of a word are compared.
const maxWord = 48

// tables are the English words that the package knows.
type tables struct {
	stop    map[string]bool
	related map[string][]string // a word's near synonyms
	strong  []string
	mild    []string
}

// english is read-only. It is small on purpose: it only makes demonstrations plausible.
var english = newTables(
	`a about after again all also am an and any are as at be been before being but by can could did do does doing for from
	had has have how i if in into is it its just me more most my no not of on or other our out over own she he so some
	such than that the their them then there these they this to too very was we were what when where which while who
	why will with would you your
	ask asking author contain contains customer describe kind mention message need needs one person question say says
	sender sort text ticket type user want wants writer yes`,
	[]string{
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
	},
	"urgent asap immediately emergency hurry angry furious upset frustrated unacceptable terrible awful worst outrageous never stolen",
	"happy thanks thank great love excellent pleased calm satisfied please whenever fine okay",
)

func newTables(stop string, related []string, strong, mild string) tables {
	t := tables{stop: map[string]bool{}, related: map[string][]string{}, strong: stems(strong), mild: stems(mild)}
	for _, w := range stems(stop) {
		t.stop[w] = true
	}
	for _, group := range related {
		words := stems(group)
		for _, w := range words {
			t.related[w] = words
		}
	}
	return t
}

func stems(text string) []string {
	var out []string
	eachWord(text, func(w []byte) {
		if s := string(w); !slices.Contains(out, s) {
			out = append(out, s)
		}
	})
	return out
}

// vocabulary counts the words of the input that occur in the questions, options and levels of an ask.
type vocabulary struct {
	number map[string]int
	count  []int
	near   [][]int // by number: words that count for it at half weight
	strong []int
	mild   []int
}

func newVocabulary() *vocabulary {
	v := &vocabulary{number: map[string]int{}}
	for _, w := range english.strong {
		v.strong = append(v.strong, v.enter(w))
	}
	for _, w := range english.mild {
		v.mild = append(v.mild, v.enter(w))
	}
	return v
}

func (v *vocabulary) enter(word string) int {
	n, ok := v.number[word]
	if !ok {
		n = len(v.count)
		v.number[word] = n
		v.count = append(v.count, 0)
		v.near = append(v.near, nil)
	}
	return n
}

// learn adds the numbers of a text's words to known, each once.
func (v *vocabulary) learn(known []int, text string) []int {
	eachWord(text, func(w []byte) {
		if english.stop[string(w)] {
			return
		}
		n := v.enter(string(w))
		if slices.Contains(known, n) {
			return
		}
		known = append(known, n)
		if v.near[n] == nil {
			for _, r := range english.related[string(w)] {
				if r != string(w) {
					m := v.enter(r) // may move v.near
					v.near[n] = append(v.near[n], m)
				}
			}
		}
	})
	return known
}

// read counts the words of the input. It is linear in the text and allocates one buffer.
func (v *vocabulary) read(text string) {
	eachWord(text, func(w []byte) {
		if n, ok := v.number[string(w)]; ok {
			v.count[n]++
		}
	})
}

// found is the weight of a word: 0 when it is not in the input, 1 when it is, a little more when it is repeated, and half of
// that when only a near synonym is in the input.
func (v *vocabulary) found(w int) float64 {
	if n := v.count[w]; n > 0 {
		return 0.85 + 0.15*float64(min(n, 4))
	}
	for _, m := range v.near[w] {
		if v.count[m] > 0 {
			return 0.5
		}
	}
	return 0
}

// intensity is how strong the input's words are, from 0 to 1, and 0.5 without strong and mild words. When the highest level
// has a mild word, the scale measures mild words.
func (v *vocabulary) intensity(highest []int) float64 {
	var strong, mild float64
	for _, w := range v.strong {
		strong += float64(min(v.count[w], 2))
	}
	for _, w := range v.mild {
		mild += float64(min(v.count[w], 2))
	}
	for _, w := range highest {
		if slices.Contains(v.mild, w) {
			strong, mild = mild, strong
			break
		}
	}
	return 0.5 + 0.5*math.Tanh((strong-mild)/2)
}

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
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
		case r >= 'A' && r <= 'Z':
			r += 'a' - 'A'
		case r < utf8.RuneSelf:
			flush()
			continue
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			flush()
			w = utf8.AppendRune(w, r)
			flush()
			continue
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			r = unicode.ToLower(r)
		default:
			flush()
			continue
		}
		if len(w) < maxWord {
			w = utf8.AppendRune(w, r)
		}
	}
	flush()
}

// stem removes the most common English endings. The result need not be a real stem.
func stem(w []byte) []byte {
	n := len(w)
	if n < 4 || w[n-1] >= utf8.RuneSelf {
		return w
	}
	switch s := string(w); {
	case strings.HasSuffix(s, "ies"):
		w = append(w[:n-3], 'y')
	case strings.HasSuffix(s, "sses"), strings.HasSuffix(s, "shes"), strings.HasSuffix(s, "ches"), strings.HasSuffix(s, "xes"):
		w = w[:n-2]
	case s[n-1] == 's' && s[n-2] != 's' && s[n-2] != 'u' && s[n-2] != 'i':
		w = w[:n-1]
	}
	switch s := string(w); {
	case len(s) > 5 && strings.HasSuffix(s, "ing"):
		w = undouble(w[:len(w)-3])
	case len(s) > 4 && strings.HasSuffix(s, "ed"):
		w = undouble(w[:len(w)-2])
	}
	if n = len(w); n > 3 && w[n-1] == 'e' {
		w = w[:n-1]
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
