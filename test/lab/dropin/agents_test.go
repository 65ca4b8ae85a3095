package dropin

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// readGuideToAgents returns the programs, lines and settings of docs/agents.md in a language, in their order.
func readGuideToAgents(t *testing.T, p *prism, language string, want int) (blocks []string) {
	t.Helper()
	page := readPage(t, p.root, "docs/agents.md")
	for _, block := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, block[1])
	}
	if len(blocks) != want {
		t.Fatalf("the guide has %d blocks of %s, want %d", len(blocks), language, want)
	}
	return blocks
}

// The official clients of Python and of TypeScript list the tools of a new Prism, ask its prism, and are told what is wrong, by the programs of
// docs/agents.md as they stand there.
//
// spec: mcp, mcp-tools, mcp-calls, mcp-errors
func TestTheProgramsOfTheGuideToAgentsAskPrism(t *testing.T) {
	t.Parallel()
	prism := newGuided(t)
	for _, p := range []guided{
		{"python", "mcp", readGuideToAgents(t, prism, "python", 2)[1]}, {"js", "mcp", readGuideToAgents(t, prism, "js", 1)[0]},
	} {
		t.Run(p.language, func(t *testing.T) {
			script := prism.model.Script(model.Answer(model.Answers{"refund": model.Yes(0.875)}))
			output, err := prism.run(t, p, script.Tag)
			yes := map[string]string{"python": "True", "js": "true"}[p.language]
			if want := yes + " 0.875\n" + yes + " ask: Prism not found"; err != nil || strings.TrimSpace(output) != want {
				t.Errorf("it says %q, %v, want %q", output, err, want)
			}
			if calls := script.Calls(); calls != 1 {
				t.Errorf("%d calls of the model", calls)
			}
		})
	}
}

// openAI answers an agent as OpenAI's Responses API does: first with a call of a tool, and then with what the tool said of a refund.
type openAI struct {
	t     *testing.T
	text  string   // of the ticket that it asks of
	tools []string // that it was offered
	calls int
}

func (o *openAI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Tools []struct{ Name string }
		Input []struct {
			Type   string
			Output json.RawMessage
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/v1/responses" {
		o.t.Errorf("%s: %v", r.URL.Path, err)
	}
	o.calls++
	for _, tool := range asked.Tools {
		o.tools = append(o.tools, tool.Name)
	}
	output := map[string]any{"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed", "name": "ask_tickets"}
	arguments, err := json.Marshal(map[string]string{"text": o.text})
	if err != nil {
		o.t.Error(err)
	}
	output["arguments"] = string(arguments)
	for _, in := range asked.Input {
		if in.Type != "function_call_output" {
			continue
		}
		said := regexp.MustCompile(`refund_probability\W+0\.\d+`).FindString(string(in.Output))
		output = map[string]any{
			"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": strings.ReplaceAll(said, `\`, ""), "annotations": []any{}}},
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(map[string]any{
		"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "m", "output": []any{output},
		"parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{},
		"usage": map[string]any{
			"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
			"input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
		},
	}); err != nil {
		o.t.Error(err)
	}
}

// The agent of the guide, by OpenAI's Agents SDK, asks the prism that its model chooses, and its model is told the answer.
//
// spec: mcp, mcp-tools, mcp-calls
func TestTheAgentOfTheGuideAsksPrism(t *testing.T) {
	t.Parallel()
	p := newGuided(t)
	script := p.model.Script(model.Answer(model.Answers{"refund": model.Yes(0.875)}))
	o := &openAI{t: t, text: said + " " + script.Tag}
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	p.env = []string{"OPENAI_BASE_URL=" + server.URL + "/v1", "OPENAI_API_KEY=k", "OPENAI_AGENTS_DISABLE_TRACING=1"}
	command := p.command(t, "python", readGuideToAgents(t, p, "python", 2)[0])
	output, err := p.execute(t, p.root, command[0], command[1:]...)
	if want := `refund_probability":0.875`; err != nil || strings.TrimSpace(output) != want {
		t.Errorf("it says %q, %v, want %q", output, err, want)
	}
	if !slices.Contains(o.tools, "ask_tickets") || o.calls != 2 || script.Calls() != 1 {
		t.Errorf("%d calls of the agent's model, with the tools %v, and %d of the prism's", o.calls, o.tools, script.Calls())
	}
}

// Claude and VS Code are not run. A stand-in takes the arguments of the lines for Claude, whose form is the one of its documentation; what
// these and the settings of VS Code say leads to the tools of the prisms they name, with the key that the guide makes.
//
// spec: mcp, mcp-tools, mcp-stdio
func TestTheSettingsOfTheGuideToAgentsLeadToPrism(t *testing.T) {
	t.Parallel()
	p := newGuided(t)
	added := p.claude(t)
	t.Run("Claude", func(t *testing.T) {
		args := added["http"]
		if len(args) != 8 || !slices.Equal(args[:5], []string{"mcp", "add", "--transport", "http", "prism"}) || args[6] != "--header" {
			t.Fatalf("claude %q", args)
		}
		name, value, _ := strings.Cut(args[7], ": ")
		p.wantTools(t, args[5], map[string]string{name: value}, "ask_tickets", "ask_refunds")
	})
	t.Run("Claude and prismctl", func(t *testing.T) {
		args := added["stdio"]
		if len(args) < 6 || !slices.Equal(args[:5], []string{"mcp", "add", "prism", "--", "prismctl"}) {
			t.Fatalf("claude %q", args)
		}
		ctl, err := program.Binary(t.Context(), "cmd/prismctl")
		if err != nil {
			t.Fatal(err)
		}
		in, out := io.Pipe()
		mcp, err := program.Launch(program.Command{
			Path: ctl, Args: args[5:], Stdin: in, Env: map[string]string{"PRISM_URL": p.url, "PRISM_API_KEY": p.key, "HOME": t.TempDir()},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(mcp.Kill)
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`,
		} {
			if _, err := io.WriteString(out, line+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		(&receiving{Process: mcp}).says(t, `"id":2\D`)
		if said := mcp.Stdout(); !strings.Contains(said, `"ask_tickets"`) || strings.Contains(said, `"ask_refunds"`) {
			t.Errorf("it says %s", said)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("VS Code", func(t *testing.T) {
		var settings struct {
			Inputs []struct {
				ID, Type, Description string
				Password              bool
			}
			Servers map[string]struct {
				Type, URL string
				Headers   map[string]string
			}
		}
		if err := json.Unmarshal([]byte(readGuideToAgents(t, p, "json", 1)[0]), &settings); err != nil {
			t.Fatal(err)
		}
		server := settings.Servers["prism"]
		if len(settings.Inputs) != 1 || settings.Inputs[0].Type != "promptString" || !settings.Inputs[0].Password || server.Type != "http" {
			t.Fatalf("the settings are %+v", settings)
		}
		for name, value := range server.Headers {
			server.Headers[name] = strings.ReplaceAll(value, "${input:"+settings.Inputs[0].ID+"}", p.key)
		}
		p.wantTools(t, strings.Replace(server.URL, hostOfTheGuide, p.url, 1), server.Headers, "ask_tickets", "")
	})
}

// hostOfTheGuide is where a new Prism is.
const hostOfTheGuide = "http://127.0.0.1:8080"

// claude runs the lines of the guide for Claude, and returns the arguments of claude by the transport.
func (p *prism) claude(t *testing.T) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	const standIn = "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$ADDED\"\n"
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte(standIn), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(p.service.Bin, filepath.Join(dir, "bin/prism")); err != nil {
		t.Fatal(err)
	}
	shell := readGuideToAgents(t, p, "sh", 3)
	lines := "set -e\ncd " + dir + "\n" + shell[0] + "export ADDED=http\n" + shell[1] + "export ADDED=stdio\n" + shell[2]
	env := maps.Clone(p.service.Env)
	env["PATH"] = dir + string(os.PathListSeparator) + os.Getenv("PATH")
	if _, err := program.Run(t.Context(), program.Command{
		Path: "/bin/sh", Args: []string{"-c", strings.ReplaceAll(lines, hostOfTheGuide, p.url)}, Env: env,
	}); err != nil {
		t.Fatal(err)
	}
	added := map[string][]string{}
	for _, transport := range []string{"http", "stdio"} {
		args, err := os.ReadFile(filepath.Join(dir, transport))
		if err != nil {
			t.Fatal(err)
		}
		added[transport] = strings.Split(strings.TrimSuffix(string(args), "\n"), "\n")
	}
	return added
}

// wantTools holds that a server of tools has one, and that it does not have another unless that is empty.
func (p *prism) wantTools(t *testing.T, url string, header map[string]string, has, not string) {
	t.Helper()
	if !strings.HasPrefix(url, p.url+"/mcp") {
		t.Errorf("the URL is %s", url)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(body), `"`+has+`"`) {
		t.Errorf("%s: %s %s, %v", url, response.Status, body, err)
	}
	if not != "" && strings.Contains(string(body), `"`+not+`"`) {
		t.Errorf("%s has %s too", url, not)
	}
}
