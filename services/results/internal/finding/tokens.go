package finding

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/prism-results/prism/pkg/prism"
)

const (
	// mostText bounds the bytes of a result that have tokens.
	mostText = 256 << 10
	// longestToken bounds the characters of a token. Longer words are the same if they begin alike.
	longestToken = 64
)

// Gap is the token between two texts of a result: no phrase goes over it, since no word of a query has it.
const Gap = "|"

// Tokens are those of the texts of a result, in order: its ref, error, field values and context.
func Tokens(r prism.Result) []string {
	var tokens []string
	left := mostText
	add := func(text string) {
		if len(text) > left {
			for left > 0 && !utf8.RuneStart(text[left]) {
				left--
			}
			text = text[:left]
		}
		left -= len(text)
		before := len(tokens)
		if tokens = appendTokens(tokens, text); len(tokens) > before {
			tokens = append(tokens, Gap)
		}
	}
	if r.Ref != nil {
		add(*r.Ref)
	}
	add(r.Error)
	for _, f := range r.Fields {
		add(f.Value)
	}
	add(r.Context)
	return tokens
}

// appendTokens appends the tokens of a text. A word is a token. A script without spaces between words has pairs of characters: of a
// run of characters c1 … cn the tokens are c1c2 … c(n-1)cn and cn, so that every part of the run is found.
func appendTokens(tokens []string, text string) []string {
	eachRun(text, func(run string, dense bool) {
		if !dense {
			tokens = append(tokens, shortened(run))
			return
		}
		for before := 0; ; {
			_, size := utf8.DecodeRuneInString(run[before:])
			if before+size == len(run) {
				tokens = append(tokens, run[before:])
				return
			}
			_, next := utf8.DecodeRuneInString(run[before+size:])
			tokens = append(tokens, run[before:before+size+next])
			before += size
		}
	})
	return tokens
}

func shortened(word string) string {
	if len(word) <= longestToken {
		return word
	}
	n := 0
	for at := range word {
		if n++; n > longestToken {
			return word[:at]
		}
	}
	return word
}

// eachRun calls run with each longest sequence of letters, digits and their marks, folded. dense is true of characters of the scripts
// without spaces between words, which have sequences of their own.
func eachRun(text string, run func(run string, dense bool)) {
	text = fold(text)
	begin, wasDense := -1, false
	for at, r := range text {
		inside := unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
		dense := inside && isDense(r)
		if inside && begin >= 0 && unicode.IsMark(r) && unicode.Is(unicode.Inherited, r) {
			dense = wasDense // the mark is part of the character before it
		}
		if begin >= 0 && (!inside || dense != wasDense) {
			run(text[begin:at], wasDense)
			begin = -1
		}
		if inside && begin < 0 {
			begin, wasDense = at, dense
		}
	}
	if begin >= 0 {
		run(text[begin:], wasDense)
	}
}

// prolonged is the mark of a long vowel in Katakana, which has no script of its own.
const prolonged = 'ー'

func isDense(r rune) bool {
	return r >= 0x0e00 && (r == prolonged || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai,
		unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// fold makes texts equal that differ in case, accents, points, and forms of compatibility, such as full width, only.
func fold(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	text = cases.Fold().String(norm.NFKD.String(text))
	return norm.NFC.String(strings.Map(bare, norm.NFKD.String(text)))
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// bare is a character of a decomposed text, -1 for an accent, and a plain letter for one that Unicode does not decompose.
func bare(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return r
	case r == '\u200b': // the space of width zero
		return ' '
	case r == '\u3099', r == '\u309a': // the marks that make other letters of Kana
		return r
	case unicode.Is(unicode.Mn, r) && unicode.In(r, unicode.Inherited, unicode.Hebrew, unicode.Arabic, unicode.Cyrillic):
		return -1
	case r == 'ـ', unicode.Is(unicode.Cf, r): // the stroke that lengthens Arabic words; marks without a width
		return -1
	}
	if plain, ok := plainLetters[r]; ok {
		return plain
	}
	return r
}

var plainLetters = map[rune]rune{'ø': 'o', 'ł': 'l', 'đ': 'd', 'ħ': 'h', 'ŧ': 't', 'ı': 'i'}
