package size

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// class has the properties of a character that the pattern of o200k tests. A modifier letter, a caseless letter and a mark are
// both upper and lower; a mark is no letter.
type class uint8

const (
	upper   class = 1 << iota // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
	lower                     // [\p{Ll}\p{Lm}\p{Lo}\p{M}]
	letter                    // \p{L}
	number                    // \p{N}
	space                     // \s
	newline                   // [\r\n]
)

func classOf(r rune) class {
	switch {
	case 'a' <= r && r <= 'z':
		return lower | letter
	case 'A' <= r && r <= 'Z':
		return upper | letter
	case '0' <= r && r <= '9':
		return number
	case r == '\n' || r == '\r':
		return space | newline
	case r == ' ' || r == '\t' || r == '\v' || r == '\f':
		return space
	case r < utf8.RuneSelf:
		return 0
	case unicode.Is(unicode.Lo, r), unicode.Is(unicode.Lm, r):
		return upper | lower | letter
	case unicode.Is(unicode.Ll, r):
		return lower | letter
	case unicode.Is(unicode.Lu, r), unicode.Is(unicode.Lt, r):
		return upper | letter
	case unicode.Is(unicode.M, r):
		return upper | lower
	case unicode.Is(unicode.N, r):
		return number
	case unicode.IsSpace(r):
		return space
	default:
		return 0
	}
}

// classAt is the class and the size of the character at s[i]; size 0 at the end.
func classAt(s string, i int) (class, int) {
	if i >= len(s) {
		return 0, 0
	}
	if c := s[i]; c < utf8.RuneSelf {
		return classOf(rune(c)), 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	return classOf(r), size
}

// lowerEnd is the end of the run of lower characters from i on.
func lowerEnd(s string, i int) int {
	for {
		k, size := classAt(s, i)
		if k&lower == 0 {
			return i
		}
		i += size
	}
}

// pieceEnd is the end of the first piece of s, which is not empty. It takes time linear in that piece. Pieces are the
// matches of the pattern of o200k, whose alternatives are tried in order:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func pieceEnd(s string) int {
	first, size := classAt(s, 0)
	if end := wordEnd(s, first, size); end > 0 {
		return end
	}
	switch {
	case first&number != 0:
		end := size
		for range 2 {
			k, n := classAt(s, end)
			if k&number == 0 {
				break
			}
			end += n
		}
		return end
	case first&space == 0:
		return punctuationEnd(s, size)
	case s[0] == ' ':
		if k, n := classAt(s, 1); n > 0 && k&(space|letter|number) == 0 {
			return punctuationEnd(s, 1+n)
		}
	}
	return spaceEnd(s)
}

// wordEnd is the end of a match of the first two alternatives, or 0. Each of them first tries to match with the optional
// character before the word, then without it.
func wordEnd(s string, first class, size int) int {
	if first&(newline|letter|number) == 0 {
		end, endsLower := lettersEnd(s, size)
		isMark := first&lower != 0 // the first alternative then matches without it
		if end > 0 && (endsLower || !isMark) {
			return end
		}
	}
	end, _ := lettersEnd(s, 0)
	return end
}

// lettersEnd is the end of the upper and lower characters from i on with their suffix, or 0 if there are none. The first
// alternative has to end in a lower character, so it backtracks to the last upper character that is lower too. If none is
// lower, the second alternative takes them all.
func lettersEnd(s string, i int) (end int, endsLower bool) {
	end = i
	lastLower := 0
	for {
		k, size := classAt(s, end)
		if k&upper == 0 {
			break
		}
		end += size
		if k&lower != 0 {
			lastLower = end
		}
	}
	switch k, _ := classAt(s, end); {
	case k&lower != 0:
		return suffixEnd(s, lowerEnd(s, end)), true
	case lastLower > 0:
		return suffixEnd(s, lastLower), true
	case end == i:
		return 0, false
	default:
		return suffixEnd(s, end), false
	}
}

// suffixEnd is the end of 's, 't, 're, 've, 'm, 'll or 'd in any case, or i. The long s folds to s.
func suffixEnd(s string, i int) int {
	if i >= len(s) || s[i] != '\'' {
		return i
	}
	for _, suffix := range []string{"s", "ſ", "t", "re", "ve", "m", "ll", "d"} {
		if end := i + 1 + len(suffix); end <= len(s) && strings.EqualFold(s[i+1:end], suffix) {
			return end
		}
	}
	return i
}

// punctuationEnd is the end of a match of [^\s\p{L}\p{N}]+[\r\n/]* whose first character ends at i.
func punctuationEnd(s string, i int) int {
	for {
		k, size := classAt(s, i)
		if size == 0 || k&(space|letter|number) != 0 {
			break
		}
		i += size
	}
	for i < len(s) && (s[i] == '\r' || s[i] == '\n' || s[i] == '/') {
		i++
	}
	return i
}

// spaceEnd is the end of a match of the last three alternatives: up to the last line break in the white space; without
// one, all but its last character, which begins the next piece, unless the text or the white space ends there.
func spaceEnd(s string) int {
	end, lastLine, last := 0, 0, 0
	for {
		k, size := classAt(s, end)
		if k&space == 0 {
			break
		}
		last = end
		end += size
		if k&newline != 0 {
			lastLine = end
		}
	}
	switch {
	case lastLine > 0:
		return lastLine
	case end == len(s), last == 0:
		return end
	default:
		return last
	}
}
