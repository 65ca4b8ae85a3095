package modelproxy

import (
	"reflect"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
)

// spec: models-list
func TestTheModelOfTheSettingsIsListed(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		provider, name, want string
		probabilities        contract.Probabilities
	}{
		{"systemone", "", "jev-latest", contract.Native},
		{"systemone", " mine\n", "mine", contract.Native},
		{"openai-decisions", "", "gpt-6-luna", contract.Native},
		{"openai-chat", "qwen3-8b", "qwen3-8b", contract.Logprobs},
		{"anthropic", "", "claude-haiku-5-5", contract.Stated},
		{"offline", "ignored", "offline", contract.Simulated},
	} {
		s, err := New(Config{Provider: row.provider, ModelName: row.name, APIKey: "a-secret", BaseURL: "http://127.0.0.1:1"}, Deps{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		want := []contract.Model{{
			Name: "default", Provider: row.provider, Model: row.want, Default: true, Probabilities: row.probabilities,
			Fallback: []string{},
		}}
		if got, err := s.List(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("listed %+v, %v, want %+v", got, err, want)
		}
	}
}
