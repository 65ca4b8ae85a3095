// Package anthropic asks a model that shows no log-probabilities to state its probabilities as structured output:
// POST {base}/messages as anthropic-sdk-go speaks it, with a JSON schema of every question in output_config.format.
package anthropic

import (
	"net/http"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/stated"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

const version = "2023-06-01"

// Format answers all questions of an ask with one call (spec: provider-anthropic). The default model is the fastest of those
// that the SDK names: an answer has 15 seconds.
func Format() provider.Format {
	return provider.Format{
		Name: "anthropic", BaseURL: "https://api.anthropic.com/v1", Model: "claude-haiku-5-5",
		Header: header, Path: "/messages", Body: body, InputInText: true, Decode: provider.Decoder(read),
		Probabilities: api.Stated,
	}
}

// header has the headers that Anthropic requires; its key is no bearer token.
func header(key string) http.Header {
	h := http.Header{"Anthropic-Version": {version}}
	if key != "" {
		h.Set("X-Api-Key", key)
	}
	return h
}

type request struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    []block   `json:"system"`
	Messages  []message `json:"messages"`
	Output    struct {
		Format struct {
			Type   string `json:"type"`
			Schema any    `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func body(model, instructions string, examples []provider.Example, questions []prism.Question) any {
	r := request{
		Model: model, MaxTokens: stated.MaxTokens(questions),
		System: []block{{"text", provider.Paragraphs(stated.System, instructions)}},
	}
	prompt := stated.Prompt(questions)
	for _, t := range stated.Turns(examples, prompt, questions) {
		r.Messages = append(r.Messages, message{"user", []block{{"text", t.User}}}, message{"assistant", []block{{"text", t.Assistant}}})
	}
	r.Messages = append(r.Messages, message{"user", []block{{"text", prompt}}})
	r.Output.Format.Type, r.Output.Format.Schema = "json_schema", stated.Schema(questions)
	return r
}

type response struct {
	Content provider.List[provider.Members[struct {
		Type provider.Text `json:"type"`
		Text provider.Text `json:"text"`
	}]] `json:"content"`
	StopReason provider.Text `json:"stop_reason"`
	Usage      provider.Members[struct {
		Input   provider.Count `json:"input_tokens"` // without those that a cache wrote or gave
		Output  provider.Count `json:"output_tokens"`
		Created provider.Count `json:"cache_creation_input_tokens"`
		Read    provider.Count `json:"cache_read_input_tokens"`
		Cost    provider.Cost  `json:"cost"` // of OpenRouter
	}] `json:"usage"`
}

func read(r response, questions []prism.Question, reply *provider.Reply) {
	used := r.Usage.Value
	reply.Tokens = provider.Tokens{Input: used.Input, Output: used.Output, Cached: used.Read, Cost: used.Cost}
	if used.Input.Known { // hosts without a cache leave the other two out
		reply.Tokens.Input = used.Input.Add(used.Created).Add(used.Read)
	}
	if r.StopReason == "refusal" { // by a classifier, not in words
		reply.Fault = upstream.ContentFault()
		return
	}
	// At the token limit the text need not follow the schema, even where it happens to parse.
	if r.StopReason != "end_turn" {
		return
	}
	var text string
	for _, block := range r.Content { // thinking comes in blocks of its own
		if block.Value.Type == "text" {
			text += string(block.Value.Text)
		}
	}
	stated.Read([]byte(text), questions, reply)
}
