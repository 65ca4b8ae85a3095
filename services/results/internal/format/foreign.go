package format

import (
	"fmt"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/foreign"
	"github.com/prism-results/prism/pkg/prism"
)

// Foreign is a result that is ok in a format of others, as the version that answered asked (spec: formats-of-others). The Lens has no part
// in it.
func Foreign(f contract.Format, slug string, answered prism.Definition, r prism.Result, names []api.NamesOfQuestion) (contract.Response, error) {
	stored, err := answerjson.Parse(r.Answers)
	if err != nil {
		return contract.Response{}, fmt.Errorf("format: result %s: %w", r.ID, err)
	}
	a := foreign.Answered{Model: foreign.Model(slug, r.Version), Answers: stored, Names: names}
	if r.Call != nil {
		a.Usage = r.Call.Usage
	}
	body := foreign.Append(make([]byte, 0, sizeOfOne+2*len(r.Answers)), f, foreign.Questions(answered), a)
	return contract.Response{ContentType: ContentType(contract.JSON), Body: body}, nil
}
