package contract_test

import (
	"encoding/hex"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Services of two releases name a definition by its hash, so that of a definition must not change.
// spec: version-is-immutable
func TestTheModelIsPartOfTheHashOfADefinition(t *testing.T) {
	t.Parallel()
	d := prism.Definition{
		Instructions: "i", Fields: []prism.Field{{Key: "f"}}, Questions: []prism.Question{{Key: "q", Type: prism.YesNo, Text: "t"}},
	}
	without, _ := contract.HashDefinition(d)
	if got := hex.EncodeToString(without[:]); got != "d8cad12fbec4d99b4efe699bb1a985faced2788cbf521ebd57046e9a94b68211" {
		t.Errorf("the hash of a definition without a model is %s", got)
	}
	d.Model = "fast"
	fast, _ := contract.HashDefinition(d)
	d.Model = "strong"
	strong, _ := contract.HashDefinition(d)
	if fast == without || fast == strong {
		t.Error("definitions with different models have one hash")
	}
}
