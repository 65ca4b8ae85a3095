package portkey

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// team is a header that the gateway hands on, because x-portkey-forward-headers says so.
const team, key = "support-4711", "upstreamkeymark-19c2"

// spec: model-headers
func TestAGatewayThatNeedsHeadersAnswersWithThem(t *testing.T) {
	t.Parallel()
	behind := newModel(t)
	gateway := startGateway(t)
	const file = `
default: with
models:
  - name: with
    provider: openai-chat
    base_url: %[1]s
    model: m-1
    api_key_env: GATEWAY_KEY
    headers:
      x-portkey-provider: openai
      x-portkey-custom-host: %[2]s
      x-portkey-forward-headers: x-team
      x-team: {env: TEAM}
  - name: without
    provider: openai-chat
    base_url: %[1]s
    model: m-1
    api_key_env: GATEWAY_KEY
`
	text := fmt.Sprintf(file, gateway, behind.url+"/v1")

	result, err := ask(t, text)
	if err != nil {
		t.Fatal(err)
	}
	if urgent, err := result.Answers.YesNo("urgent"); err != nil || urgent.Probability < 0.7 {
		t.Errorf("the answer is %+v: %v", urgent, err)
	}
	seen := behind.take()
	if len(seen) != 1 || seen[0].Get("Authorization") != "Bearer "+key || seen[0].Get("X-Team") != team {
		t.Errorf("the model behind the gateway was asked with %v", seen)
	}

	_, err = ask(t, strings.Replace(text, "default: with\n", "default: without\n", 1))
	var failed *client.FailedError
	if !errors.As(err, &failed) || failed.Result == nil ||
		*failed.Result.Error != "The model service refused the call (status 400)." {
		t.Errorf("without headers: %v", err)
	}
	if seen := behind.take(); len(seen) != 0 {
		t.Errorf("without headers the model behind the gateway was asked with %v", seen)
	}
}

// ask starts a Prism with a file of models, and calls it once.
func ask(t *testing.T, models string) (client.Result, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "models.yaml")
	if err := os.WriteFile(file, []byte(models), 0o600); err != nil {
		t.Fatal(err)
	}
	prism, err := launch.New(t.Context(), launch.Prism, map[string]string{
		"PRISM_DATA_DIR": t.TempDir(), "PRISM_MODELS_FILE": file, "GATEWAY_KEY": key, "TEAM": team,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := prism.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	prism.Process().StopAfter(t)
	token, err := prism.DemoKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Config{URL: prism.URL(), Key: token})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreatePrism(t.Context(), client.NewPrism{Slug: "urgency", NewVersion: client.NewVersion{
		Definition: client.Definition{
			Fields:    []client.Field{{Key: "text"}},
			Questions: []client.Question{{Key: "urgent", Type: client.YesNo, Text: "Is it urgent?"}},
		},
	}}); err != nil {
		t.Fatal(err)
	}
	return c.CreateResult(t.Context(), "urgency", client.NewResult{Text: "The roof is on fire."})
}

// startGateway returns the base URL of Portkey's gateway.
func startGateway(t *testing.T) string {
	t.Helper()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(root, ".tools/portkey/node_modules/@portkey-ai/gateway/build/start-server.js")
	if _, err := os.Stat(script); err != nil {
		t.Fatal("this test needs Portkey's gateway from npm: make deps")
	}
	addr, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(addr, ":")
	node, err := program.Find("node")
	if err != nil {
		t.Fatal(err)
	}
	p, err := program.Launch(program.Command{
		Name: "portkey", Path: node, Args: []string{script, "--headless", "--port=" + port},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if _, err := p.AwaitOutput(t.Context(), regexp.MustCompile("Ready for connections")); err != nil {
		t.Fatal(err)
	}
	return "http://" + addr + "/v1"
}

// chatModel says yes to everything.
type chatModel struct {
	url  string
	mu   sync.Mutex
	seen []http.Header
}

func newModel(t *testing.T) *chatModel {
	t.Helper()
	m := &chatModel{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Model    string `json:"model"`
			LogProbs bool   `json:"logprobs"`
			Top      int    `json:"top_logprobs"`
		}
		err := json.NewDecoder(r.Body).Decode(&asked)
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" || asked.Model != "m-1" ||
			!asked.LogProbs || asked.Top != 20 {
			t.Errorf("the gateway sent %s %s with %+v, %v", r.Method, r.URL.Path, asked, err)
		}
		m.mu.Lock()
		m.seen = append(m.seen, r.Header.Clone())
		m.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"c-1","object":"chat.completion","created":1790000000,"model":"m-1","choices":[{"index":0,
			"finish_reason":"length","message":{"role":"assistant","content":"Yes"},"logprobs":{"content":[{"token":"Yes","bytes":null,
			"logprob":-0.25,"top_logprobs":[{"token":"Yes","bytes":null,"logprob":-0.25},{"token":"No","bytes":null,"logprob":-1.75}]}]}}],
			"usage":{"prompt_tokens":90,"completion_tokens":1,"total_tokens":91}}`)
	}))
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// take returns the headers of the calls since the last take.
func (m *chatModel) take() []http.Header {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := slices.Clone(m.seen)
	m.seen = nil
	return seen
}
