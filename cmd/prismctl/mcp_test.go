package main

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// spec: mcp-stdio
func TestMCPForwardsTheToolsOfTheServer(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	toCommand, fromAgent := io.Pipe()
	toAgent, fromCommand := io.Pipe()
	var stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		env := func(name string) string { return u.env[name] }
		ended <- run(t.Context(), []string{"mcp", "--prism", "language"}, env, toCommand, fromCommand, &stderr)
	}()
	agent := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := agent.Connect(t.Context(), &mcp.IOTransport{Reader: toAgent, Writer: fromAgent}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 10 || !slices.ContainsFunc(list.Tools, func(tool *mcp.Tool) bool { return tool.Name == "ask_language" }) {
		t.Errorf("got %d tools", len(list.Tools))
	}
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask_language", Arguments: map[string]any{"text": "hello"}})
	if err != nil || r.IsError {
		t.Fatalf("got %+v, %v", r, err)
	}
	made, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var result struct{ ID, Status string }
	if err := json.Unmarshal(made, &result); err != nil || result.Status != "ok" {
		t.Errorf("got %s, %v", made, err)
	}
	u.ok("results", "get", result.ID)
	r, err = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_result", Arguments: map[string]any{"result_id": "1"}})
	if err != nil || !r.IsError {
		t.Errorf("got %+v, %v", r, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}

// spec: mcp-stdio
func TestMCPEndsWithoutAKeyThatIsValid(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.env["PRISM_API_KEY"] = "prism_0"
	if s := u.run("mcp"); s.code == exitOK || s.out != "" {
		t.Errorf("got %+v", s)
	}
}
