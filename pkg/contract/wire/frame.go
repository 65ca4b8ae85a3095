package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"time"
)

// Calls share connections: many are under way on one at once, each with an id of its caller's, and frames that are ready
// at the same time travel in one write. A connection begins as GET pathCalls with "Upgrade: protocol" and the token; behind
// the 101 both sides send frames:
//
//	kind 1 byte, id 4, length of the head 2, length of the body 4, head, body
//
// Numbers are big-endian. Two frames of the server have neither head nor body: leave, when it stops and new calls belong
// elsewhere, and end, the last one, whose id is that of the last call it took.
const protocol = "prism-calls"

type kind byte

const (
	kindCall kind = iota + 1
	kindAnswer
	kindLeave
	kindEnd
)

const (
	preambleBytes = 11
	maxHead       = 1<<16 - 1
)

var errFrame = errors.New("wire: not a frame")

// preamble is the fixed part of a frame.
type preamble struct {
	kind       kind
	id         uint32
	head, body int // lengths
}

func (p preamble) append(b []byte) []byte {
	b = append(b, byte(p.kind))
	b = binary.BigEndian.AppendUint32(b, p.id)
	b = binary.BigEndian.AppendUint16(b, uint16(p.head))    //nolint:gosec // heads are made within maxHead
	return binary.BigEndian.AppendUint32(b, uint32(p.body)) //nolint:gosec // bodies are in memory, and below 4 GiB
}

// readPreamble takes bodies up to the limit.
func readPreamble(r *bufio.Reader, limit int) (preamble, error) {
	b, err := r.Peek(preambleBytes)
	if err != nil {
		if len(b) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return preamble{}, err
	}
	p := preamble{
		kind: kind(b[0]),
		id:   binary.BigEndian.Uint32(b[1:]),
		head: int(binary.BigEndian.Uint16(b[5:])),
		body: int(binary.BigEndian.Uint32(b[7:])),
	}
	_, err = r.Discard(preambleBytes)
	if p.kind < kindCall || p.kind > kindEnd || p.body > limit || p.kind >= kindLeave && p.head+p.body > 0 {
		return preamble{}, errFrame
	}
	return p, err
}

// callHead is the head of a call.
type callHead struct {
	path      string
	timeout   time.Duration // that the caller will still wait
	requestID string
	headers   pairs // of the trace
}

func (h callHead) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(h.timeout.Milliseconds())) //nolint:gosec // within maxTimeout
	b = appendText(appendText(b, h.path), h.requestID)
	for _, text := range h.headers {
		b = appendText(b, text)
	}
	return b
}

// bytes leave a trace's context behind that does not fit, with somebody's baggage: the call matters more.
func (h callHead) bytes() []byte {
	b := h.append(make([]byte, 0, 128))
	if len(b) > maxHead {
		h.headers = nil
		b = h.append(nil)
	}
	return b
}

func parseCallHead(b []byte) (h callHead, err error) {
	if len(b) < 4 {
		return h, errFrame
	}
	ms := binary.BigEndian.Uint32(b)
	h.timeout = min(time.Duration(ms)*time.Millisecond, maxTimeout)
	texts, err := parseTexts(b[4:])
	if err != nil || len(texts) < 2 || len(texts)%2 != 0 {
		return h, errFrame
	}
	h.path, h.requestID, h.headers = texts[0], texts[1], texts[2:]
	return h, nil
}

// answer is what a method came to: a document, or an error as encodeError makes it.
type answer struct {
	status      int
	failed      bool
	contentType string
	body        []byte
}

func (a answer) appendHead(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(a.status)) //nolint:gosec // an HTTP status
	failed := byte(0)
	if a.failed {
		failed = 1
	}
	return append(append(b, failed), a.contentType...)
}

func parseAnswer(head, body []byte) (answer, error) {
	if len(head) < 3 || head[2] > 1 {
		return answer{}, errFrame
	}
	return answer{
		status: int(binary.BigEndian.Uint16(head)), failed: head[2] == 1, contentType: string(head[3:]), body: body,
	}, nil
}

func appendText(b []byte, text string) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(len(text))) //nolint:gosec // heads are made within maxHead
	return append(b, text...)
}

func parseTexts(b []byte) (texts []string, err error) {
	for len(b) > 0 {
		if len(b) < 2 {
			return nil, errFrame
		}
		n := int(binary.BigEndian.Uint16(b))
		if b = b[2:]; n > len(b) {
			return nil, errFrame
		}
		texts, b = append(texts, string(b[:n])), b[n:]
	}
	return texts, nil
}

// pairs are names and values in turn. They carry a trace's context.
type pairs []string

func (p *pairs) Get(key string) string {
	for i := 0; i+1 < len(*p); i += 2 {
		if (*p)[i] == key {
			return (*p)[i+1]
		}
	}
	return ""
}

func (p *pairs) Set(key, value string) { *p = append(*p, key, value) }

func (p *pairs) Keys() (keys []string) {
	for i := 0; i < len(*p); i += 2 {
		keys = append(keys, (*p)[i])
	}
	return keys
}
