package size

import (
	"slices"
	"strings"

	"github.com/tiktoken-go/tokenizer/codec"
)

// vocabulary is the o200k byte-pair encoding: the bytes of each token with its rank, which is its id.
//
// The ranks come from the tokenizer library. Splitting and merging are our own, because version 0.10.0 of the library
// splits by generated code that differs from the pattern of o200k: it drops DEL, it splits white space with several line
// breaks (" \n \n") in other places, and it takes quadratic time: 29 s for 100,000 times " \n".
type vocabulary struct {
	ranks map[string]uint32
}

func loadVocabulary() *vocabulary {
	library := codec.NewO200kBase()
	var all strings.Builder
	var ends []int
	for id := uint(0); ; id++ { // ids are dense up to the special tokens, which are behind a gap
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

// countAll is the number of tokens of the texts, each by itself. Special tokens such as <|endoftext|> are plain text.
func (v *vocabulary) countAll(texts []string) int {
	n := 0
	var m merger
	for _, s := range texts {
		for len(s) > 0 {
			end := pieceEnd(s)
			n += m.count(v.ranks, s[:end])
			s = s[end:]
		}
	}
	return n
}

// merger counts the tokens of pieces. It reuses its memory for the next piece.
type merger struct {
	parts []part
	heap  []candidate
}

// part is a run of bytes that merging has joined so far, in a doubly linked list over the bytes of the piece. Its index is
// where it begins.
type part struct {
	prev, next int32  // -1 and len(piece) at the ends
	rank       uint32 // of this part joined with the next; noRank if that is no token or this part was joined to another
}

const noRank = ^uint32(0)

// candidate is a pair of parts to join: the lowest rank first, the leftmost among equals. It is stale if the part at start
// has another rank by now.
type candidate struct {
	rank  uint32
	start int32
}

func (a candidate) before(b candidate) bool {
	return a.rank < b.rank || a.rank == b.rank && a.start < b.start
}

// count is the number of tokens of a piece in byte-pair encoding. It takes O(n log n): each join adds at most two
// candidates.
func (m *merger) count(ranks map[string]uint32, piece string) int {
	if _, ok := ranks[piece]; ok {
		return 1
	}
	n := int32(len(piece)) //nolint:gosec // texts are at most 1 MiB
	m.parts, m.heap = slices.Grow(m.parts[:0], len(piece)), slices.Grow(m.heap[:0], len(piece))
	for i := range n {
		m.parts = append(m.parts, part{prev: i - 1, next: i + 1, rank: noRank})
	}
	rank := func(i int32) {
		p := &m.parts[i]
		p.rank = noRank
		if p.next == n {
			return
		}
		if r, ok := ranks[piece[i:m.parts[p.next].next]]; ok {
			p.rank = r
			m.push(candidate{r, i})
		}
	}
	for i := range n {
		rank(i)
	}
	tokens := int(n)
	for len(m.heap) > 0 {
		c := m.pop()
		p := &m.parts[c.start]
		if p.rank != c.rank {
			continue
		}
		joined := &m.parts[p.next]
		joined.rank = noRank
		p.next = joined.next
		if p.next < n {
			m.parts[p.next].prev = c.start
		}
		tokens--
		rank(c.start)
		if p.prev >= 0 {
			rank(p.prev)
		}
	}
	return tokens
}

// push and pop keep the heap; container/heap would allocate for every candidate.
func (m *merger) push(c candidate) {
	m.heap = append(m.heap, c)
	h := m.heap
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].before(h[parent]) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

func (m *merger) pop() candidate {
	h := m.heap
	top, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	m.heap = h
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return top
		}
		if child+1 < last && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(h[i]) {
			return top
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
