package request

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/strictjson"
)

// maxDepth is how deep a body may nest (spec: nesting-limit).
const maxDepth = 512

// kind is a JSON type as messages name it (spec: wrong-type).
type kind string

const (
	kindString  kind = "string"
	kindNumber  kind = "number"
	kindBoolean kind = "boolean"
	kindObject  kind = "object"
	kindArray   kind = "array"
	kindNull    kind = "null"
)

// shape says which parts of a value are read. The parser checks the syntax of all other parts and keeps nothing of them, so the
// memory of a request is bounded by what its operation reads. A nil shape reads nothing.
type shape struct {
	members     []member // of an object
	fields      bool     // of an object: all members
	whole       bool     // the value as it was sent
	lists       bool     // of an object with fields: members that are arrays are kept as they were sent
	objects     bool     // of an object with fields and lists: and so are those that are objects
	element     *shape   // of an array
	maxElements int      // of an array: how many elements are kept
}

type member struct {
	name string
	*shape
}

// scalar is the shape of a string, a number or a boolean.
var scalar = &shape{}

// members are members that are strings, numbers or booleans.
func members(names ...string) []member {
	list := make([]member, len(names))
	for i, name := range names {
		list[i] = member{name, scalar}
	}
	return list
}

// node is a value of a body. The zero node was not sent.
type node struct {
	text   []byte  // a string, number, boolean or null as sent, and any value of a shape that is whole; of other objects and arrays their first byte
	parts  []node  // of an object, the members of its shape; of an array, the first elements
	fields *fields // of an object, all members, if its shape says so
	count  int     // of an array, how many elements were sent
}

func (n node) sent() bool { return n.text != nil }

func (n node) kind() kind { return kindOf(n.text[0]) }

// kindOf is the kind of a value that begins with c.
func kindOf(c byte) kind {
	switch c {
	case '"':
		return kindString
	case '{':
		return kindObject
	case '[':
		return kindArray
	case 't', 'f':
		return kindBoolean
	case 'n':
		return kindNull
	default:
		return kindNumber
	}
}

// parseJSON reads a body in one pass: one value of RFC 8259 in UTF-8 behind an optional byte-order mark, at most 512
// deep (spec: json-syntax). Anything else is apierr.Malformed. Numbers of any size, duplicate members and escapes of
// unpaired surrogates are JSON; later steps decide what they mean.
func parseJSON(body []byte, s *shape) (node, error) {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if !utf8.Valid(body) {
		return node{}, apierr.Malformed()
	}
	// The library accepts unpaired surrogates only together with bytes that are not UTF-8, which were refused above.
	p := parser{body: body}
	p.Decoder = strictjson.NewDecoder(bytes.NewBuffer(body), strictjson.AllowDuplicateNames(true), strictjson.AllowInvalidUTF8(true))
	n := p.value(s)
	if _, err := p.ReadToken(); p.malformed || !errors.Is(err, io.EOF) {
		return node{}, apierr.Malformed()
	}
	return n, nil
}

type parser struct {
	*strictjson.Decoder
	body      []byte
	name      []byte // for unquoted names
	malformed bool
}

func (p *parser) value(s *shape) node {
	if s == nil {
		p.skip()
		return node{}
	}
	kind := p.PeekKind()
	if s.whole {
		from := p.InputOffset()
		p.skip()
		return node{text: bytes.TrimLeft(p.body[from:p.InputOffset()], " \t\r\n:,")}
	}
	switch kind {
	case '{':
		return p.object(s)
	case '[':
		return p.array(s)
	default:
		return node{text: p.scalar()}
	}
}

// skip reads a value by its tokens.
func (p *parser) skip() {
	depth := p.StackDepth()
	for p.token(); !p.malformed && p.StackDepth() > depth; p.token() {
	}
}

func (p *parser) object(s *shape) node {
	n := node{text: objectText}
	if len(s.members) > 0 {
		n.parts = make([]node, len(s.members))
	}
	if s.fields {
		n.fields = &fields{body: p.body}
	}
	p.token()
	for !p.malformed && p.PeekKind() != '}' {
		name := p.scalar()
		if p.malformed {
			break
		}
		switch i := p.find(s.members, name); {
		case s.fields:
			if text := p.field(s); !p.malformed {
				n.fields.add(name, text)
			}
		case i >= 0:
			n.parts[i] = p.value(s.members[i].shape) // the last duplicate counts (spec: duplicate-members)
		default:
			p.skip()
		}
	}
	p.token()
	return n
}

// field reads a member of an object all of whose members are kept.
func (p *parser) field(s *shape) []byte {
	kind := byte(p.PeekKind())
	if !s.lists || kind != '[' && (kind != '{' || !s.objects) {
		return p.value(scalar).text
	}
	from := int(p.InputOffset())
	from += bytes.IndexByte(p.body[from:], kind) // behind the colon and white space
	p.skip()
	return p.body[from:max(int(p.InputOffset()), from)]
}

func (p *parser) array(s *shape) node {
	n := node{text: arrayText}
	p.token()
	for !p.malformed && p.PeekKind() != ']' {
		if n.count++; n.count <= s.maxElements {
			n.parts = append(n.parts, p.value(s.element))
		} else {
			p.skip()
		}
	}
	p.token()
	return n
}

var objectText, arrayText = []byte("{"), []byte("[")

// token reads the begin or end of an object or array, or a value that is not read.
func (p *parser) token() {
	_, err := p.ReadToken()
	p.malformed = p.malformed || err != nil || p.StackDepth() > maxDepth
}

// scalar reads a name or a value that is neither an object nor an array. It returns the slice of the body that holds it.
func (p *parser) scalar() []byte {
	value, err := p.ReadValue()
	p.malformed = p.malformed || err != nil
	end := int(p.InputOffset())
	return p.body[end-len(value) : end]
}

// find is the index of the member with a name, which is quoted as sent, or -1.
func (p *parser) find(members []member, name []byte) int {
	sent := name[1 : len(name)-1]
	if bytes.IndexByte(sent, '\\') >= 0 { // "fi\u0065lds" is fields
		p.name, _ = strictjson.AppendUnquote(p.name[:0], name) // a name with unpaired surrogates is no member
		sent = p.name
	}
	for i := range members {
		if string(sent) == members[i].name {
			return i
		}
	}
	return -1
}

// unquote reads a JSON string. It is clean if it holds no NUL and no unpaired surrogate (spec: nul-and-surrogates). An
// unpaired surrogate becomes U+FFFD and so counts as one character.
func unquote(text []byte) (s string, clean bool) {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text[1 : len(text)-1]), true // JSON has no raw NUL, and UTF-8 no surrogate
	}
	out, err := strictjson.AppendUnquote(make([]byte, 0, len(text)), text)
	return string(out), err == nil && bytes.IndexByte(out, 0) < 0
}

// isClean is the rule of unquote for strings of paths and queries.
func isClean(s string) bool { return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) }

// parseNumber reads a JSON number as JavaScript does: the nearest float64, or infinity if the number is too large.
func parseNumber(text []byte) float64 {
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		panic("request: not a JSON number") // the parser has accepted it
	}
	return f
}
