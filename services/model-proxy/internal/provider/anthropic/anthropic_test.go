package anthropic

import (
	"fmt"
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/model-proxy/internal/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func wire() providertest.Wire {
	return providertest.Wire{
		Format: Format(),
		Path:   "/messages",
		Header: http.Header{"X-Api-Key": {providertest.Secret}, "Anthropic-Version": {"2023-06-01"}},
		Render: render,
		Refusals: []string{
			messageOf(providertest.Stated(providertest.Says()[:1]), "max_tokens"),
			messageOf("I would rather not.", "end_turn"),
			messageOf("", "end_turn"),
		},
		Filtered: []string{
			messageOf("I would rather not.", "refusal"),
			messageOf(providertest.Stated(providertest.Says()[:1]), "refusal"),
		},
	}
}

func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, wire())
}

// spec: provider-anthropic
func TestTheRequestIsTheOneThatIsKept(t *testing.T) {
	t.Parallel()
	providertest.SameAsKept(t, wire())
}

func render(says []providertest.Say) string { return messageOf(providertest.Stated(says), "end_turn") }

func messageOf(text, stop string) string {
	return fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[
		{"type":"thinking","thinking":"{}","signature":"s"},{"type":"text","text":%s,"citations":null}],
		"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":40,"output_tokens":60,
		"cache_creation_input_tokens":2,"cache_read_input_tokens":100}}`, strictjson.AppendString(nil, text), stop)
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(render(providertest.Says())))
	f.Add([]byte(messageOf(`{"team":{"billing":-1},"urgent":"x","tone":[]}`, "end_turn")))
	f.Add([]byte(messageOf(`{"urgent":1e999}`, "end_turn")))
	providertest.Fuzz(f, Format().Decode)
}
