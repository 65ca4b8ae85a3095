package request

import (
	"reflect"
	"slices"

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

// definitionOfTry reads the definition and the Lens.
var definitionOfTry = func() *structReader {
	t := reflect.TypeFor[struct {
		Definition prism.Definition `json:"definition"`
		Lens       *prism.Lens      `json:"lens,omitzero"`
	}]()
	return newStructReader(t, api.Properties(t))
}()

// tryShape has the members in the order in which their problems are listed.
var tryShape = &shape{members: slices.Concat(definitionOfTry.shape.members, []member{{"fields", &shape{fields: true}}}, members("text", "context"))}

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
		of, ofLens := definitionOfTry.member("definition").of, definitionOfTry.member("lens").of
		switch d, l := sent.at("definition"), sent.at("lens"); {
		case r.is(d, kindObject):
			t.Definition, t.Lens = r.definition(of, d, ofLens, l)
		case l.given():
			r.lens(ofLens, l)
		}
		r.values(&t.Sent, sent)
		r.context(&t.Sent, sent)
	}
	return t, r.err()
}
