package size

import (
	"slices"
	"strings"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/prism-results/prism/pkg/fair"
)

// vocabulary is the o200k byte-pair encoding: the bytes of each token with its rank, which is its id.
//
// The ranks come from the tokenizer library. Splitting and merging are our own, because the generated code with which version
// 0.10.0 of the library splits differs from the pattern of o200k: it drops DEL, it splits white space with several line breaks
// (" \n \n") in other places, and it takes quadratic time: 29 s for 100,000 times " \n".
type vocabulary struct {
	ranks map[string]uint32
}

func loadVocabulary() *vocabulary {
	library := codec.NewO200kBase()
	var all strings.Builder
	var ends []int
	for id := uint(0); ; id++ { // ids have no gap up to the special tokens, which come after one
		token, err := library.Decode([]uint{id})
		if err != nil {
			break
		}
		all.WriteString(token)
		ends = append(ends, all.Len())
	}
	text, start := all.String(), 0 // one allocation for all tokens
	ranks := make(map[string]uint32, len(ends))
	for id, end := range ends {
		ranks[text[start:end]] = uint32(id)
		start = end
	}
	return &vocabulary{ranks}
}

// stepPieces is how many pieces are a step of work.
const stepPieces = 64

// countAll is the number of tokens of the texts, each counted by itself. Special tokens such as <|endoftext|> are plain text.
func (v *vocabulary) countAll(texts []string) int {
	n, pieces := 0, 0
	var work fair.Work
	m := merger{ranks: v.ranks}
	for _, s := range texts {
		for len(s) > 0 {
			if pieces%stepPieces == 0 {
				work.Step()
			}
			pieces++
			end := pieceEnd(s)
			n += m.count(s[:end])
			s = s[end:]
		}
	}
	return n
}

// merger counts the tokens of pieces. It reuses its memory for the next piece.
type merger struct {
	ranks   map[string]uint32
	parts   []part
	windows map[string]window // by text, since long pieces repeat a few characters as a rule
	steps   int               // for tests: parts that were read
}

// part is a run of bytes that merging has joined so far. The next part begins where it ends.
type part struct {
	start int
	rank  uint32 // of this part joined with the next; noRank if that is no token
}

const noRank = ^uint32(0)

// window is how the beginning of a text is encoded.
type window struct {
	firstSize int // bytes of the first token
	cut       int // beginning of the last token that begins within the first keepSize bytes
	tokens    int // number of tokens before cut
	cutSize   int // bytes of the token at cut
}

const (
	windowSize = 256
	keepSize   = 208 // at least the size of the longest token, so that cut is above 0
)

// count is the number of tokens of a piece in byte-pair encoding. It takes linear time.
//
// A long piece is encoded in overlapping windows: each window begins at the cut of the one before. Tokens are the encoding of
// their text exactly if every two neighbours are the encoding of their own text: until a first merge crosses the boundary
// between two tokens, their parts are merged as in a text of these two tokens alone. So the tokens of two windows can be
// put together if the second window begins with the token that the first window has at the cut. If it begins with another
// token, the first window was too short.
func (m *merger) count(piece string) (tokens int) {
	for size := windowSize; len(piece) > size; {
		w := m.window(piece[:size])
		behind := piece[w.cut:]
		if m.window(behind[:min(size, len(behind))]).firstSize != w.cutSize {
			size *= 2
			continue
		}
		tokens += w.tokens
		piece, size = behind, windowSize
	}
	return tokens + len(m.merge(piece)) - 1
}

func (m *merger) window(text string) window {
	w, known := m.windows[text]
	if known {
		return w
	}
	parts := m.merge(text)
	for w.tokens+2 < len(parts) && parts[w.tokens+1].start <= keepSize {
		w.tokens++
	}
	w.firstSize, w.cut = parts[1].start, parts[w.tokens].start
	w.cutSize = parts[w.tokens+1].start - w.cut
	if m.windows == nil {
		m.windows = map[string]window{}
	}
	m.windows[text] = w
	return w
}

// merge joins the pair of the lowest rank, the leftmost among equals, until no pair is a token. It returns the tokens and
// the end of the text. It takes quadratic time, which is less than that of a heap for a text as short as a window.
func (m *merger) merge(text string) []part {
	m.parts = slices.Grow(m.parts[:0], len(text)+1)
	if _, ok := m.ranks[text]; ok {
		return append(m.parts, part{start: 0}, part{start: len(text)})
	}
	for i := range len(text) + 1 {
		m.parts = append(m.parts, part{start: i})
	}
	parts := m.parts
	for i := range parts {
		parts[i].rank = m.rank(text, parts[i:])
	}
	for {
		m.steps += len(parts)
		lowest := 0
		for i := range parts {
			if parts[i].rank < parts[lowest].rank {
				lowest = i
			}
		}
		if parts[lowest].rank == noRank {
			return parts
		}
		parts = slices.Delete(parts, lowest+1, lowest+2)
		for i := max(lowest-1, 0); i <= lowest; i++ {
			parts[i].rank = m.rank(text, parts[i:])
		}
	}
}

// rank is the rank of the first two parts joined, or noRank.
func (m *merger) rank(text string, parts []part) uint32 {
	if len(parts) > 2 {
		if rank, ok := m.ranks[text[parts[0].start:parts[2].start]]; ok {
			return rank
		}
	}
	return noRank
}
