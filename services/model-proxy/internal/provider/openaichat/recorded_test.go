package openaichat

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
)

// The replies of testdata are those of real servers to a yes_no question, of SmolLM2-135M-Instruct, but the refusal: LiteLLM
// made it of a refusal in OpenAI's form.
// spec: chat-labels
func TestRepliesOfRealServersAreRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		yes, no float64 // log-probabilities
		cached  bool
	}{
		"xllamacpp-2026.10.11549": {-2.416222333908081, -1.6065491437911987, true},
		"llama-cpp-python-0.3.36": {-2.4540791511535645, -1.6821445226669312, false},
		"litellm-1.104.0":         {-2.443415403366089, -1.6988571882247925, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply := Format(provider.DefaultProfile()).Decode(recorded(t, name), []prism.Question{{Key: "problem", Type: prism.YesNo, Text: "?"}})
			yes, no := math.Exp(c.yes), math.Exp(c.no)
			if a := reply.Answers[0]; a == nil || math.Abs(a.Probability-yes/(yes+no)) > 1e-9 {
				t.Errorf("the answer is %+v, want %v", a, yes/(yes+no))
			}
			if len(reply.LabelMass) != 1 || math.Abs(reply.LabelMass[0].Mass-yes-no) > 1e-9 {
				t.Errorf("the label mass is %+v, want %v", reply.LabelMass, yes+no)
			}
			if reply.Tokens.Input.N != 90 || reply.Tokens.Output.N != 1 || reply.Tokens.Cached.Known != c.cached {
				t.Errorf("tokens %+v", reply.Tokens)
			}
		})
	}
}

// LiteLLM moves a refusal to another member. It must not pass for a model that has no log-probabilities.
func TestARefusalThatLiteLLMHandsOnIsOne(t *testing.T) {
	t.Parallel()
	reply := Format(provider.DefaultProfile()).Decode(recorded(t, "litellm-1.104.0-refusal"), []prism.Question{{Key: "q", Type: prism.YesNo, Text: "?"}})
	if reply.Answers[0] != nil || reply.Missing != "" {
		t.Errorf("the reply is %+v", reply)
	}
}

func recorded(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
