package request

import (
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// Try is a valid try (spec: try-request).
type Try struct {
	Definition prism.Definition
	Lens       *prism.Lens // nil: the derived one
	// Sent has Fields or Text, and Context.
	Sent api.NewResult
}

// tryShape has the members in the order in which their problems are listed.
var tryShape = &shape{members: append([]member{
	{"definition", &shape{members: definitionMembers}},
	{"lens", &shape{members: []member{arrayOf("columns", maxColumns, columnShape)}}},
	{"fields", &shape{fields: true}},
}, members("text", "context")...)}

// ParseTry reads POST /v1/try {definition, lens?, fields | text, context?}. The fields are compared with the definition's by a
// later check.
func ParseTry(body Body) (Try, error) {
	sent, err := parseBody(body, tryShape)
	if err != nil {
		return Try{}, err
	}
	var r reader
	var t Try
	if r.is(sent, kindObject) {
		switch d, l := sent.at("definition"), sent.at("lens"); {
		case r.is(d, kindObject):
			t.Definition, t.Lens = r.definition(d, l)
		case l.given():
			r.lens(l)
		}
		r.values(&t.Sent, sent)
		r.context(&t.Sent, sent)
	}
	return t, r.err()
}
