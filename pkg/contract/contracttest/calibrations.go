package contracttest

import (
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// calibrated is a call of each method that takes a Lens, with a calibrated column.
func calibrated() []called {
	bySlug := prism.Ref{Slug: odd}
	l := prism.Lens{Columns: []prism.Column{{Name: "is", Question: "is", Show: prism.ShowAnswer, Calibrated: true}}}
	version := contract.NewVersion{Definition: prism.Definition{Fields: []prism.Field{}, Questions: []prism.Question{}}, Lens: &l}
	return []called{
		{"CreatePrism", []any{digest, contract.NewPrism{Slug: odd, NewVersion: version}}},
		{"AddVersion", []any{digest, bySlug, version}},
		{"PutLens", []any{digest, bySlug, contract.NewLens{Lens: l, DryRun: true}}},
		{"PreviewLens", []any{digest, bySlug, contract.LensPreview{Lens: l, Results: []prism.ResultID{}}}},
		{"FinishTry", []any{contract.Try{
			Account: account, Key: keyID, Definition: version.Definition, Lens: &l, Outcome: contract.Outcome{Answers: []byte(`{}`)},
		}}},
	}
}
