package request

import (
	"reflect"
	"slices"

	"github.com/prism-results/prism/pkg/api"
)

// definitionOfTry reads the definition and the Lens of a try.
var definitionOfTry = newStructReader(reflect.TypeFor[api.NewTry](), api.Properties(reflect.TypeFor[api.NewTry]())[:2])

// tryShape has the members in the order in which their problems are listed.
var tryShape = &shape{members: slices.Concat(definitionOfTry.shape.members, []member{{"fields", &shape{fields: true}}}, members("text", "context"))}

// parseTry reads a try. The fields are compared with the definition's by a later check.
func parseTry(from Source) (*api.TryDefinitionRequest, error) {
	sent, err := parseBody(from.Body, tryShape)
	if err != nil {
		return nil, err
	}
	var r reader
	var t api.TryDefinitionRequest
	if r.is(sent, kindObject) {
		definition, ofLens := definitionOfTry.member("definition").object, definitionOfTry.member("lens").object
		switch d, l := sent.at("definition"), sent.at("lens"); {
		case r.is(d, kindObject):
			t.Definition, t.Lens = r.definition(definition, d, ofLens, l)
		case l.hasValue():
			r.lens(ofLens, l)
		}
		t.Fields, t.Text = r.values(sent)
		t.Context = r.context(sent)
	}
	return &t, r.err()
}
