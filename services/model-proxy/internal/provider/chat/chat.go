// Package chat is what the providers share that speak OpenAI's chat completions: POST {base}/chat/completions as the profile of a host
// wants it, and why a reply ended.
package chat

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Name is the value of PRISM_MODEL_PROVIDER.
const Name = "openai-chat"

// Format is the format of a host without what is asked and read. There is no default model: what models can do differs from host to
// host.
func Format(p provider.Profile) provider.Format {
	return provider.Format{
		Name: Name, BaseURL: p.BaseURL, Header: p.Header, Path: p.Target(), InputInText: true, Probabilities: p.Probabilities,
	}
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Prompt is what a model is told: the turns of examples come before the input of the user.
type Prompt struct {
	System, User string
	Examples     []provider.Turn
}

func (p Prompt) messages() []message {
	all := []message{{"system", p.System}}
	for _, t := range p.Examples {
		all = append(all, message{"user", t.User}, message{"assistant", t.Assistant})
	}
	return append(all, message{"user", p.User})
}

// Body is the body of a request: what the profile wants, with further members behind it. limit is how many tokens the reply needs.
func Body(p provider.Profile, model string, prompt Prompt, limit int, temperature float64, members ...provider.Member) provider.Object {
	body := provider.Object{{Name: "model", Value: model}, {Name: "messages", Value: prompt.messages()}}
	if p.LimitParameter != provider.None {
		body = append(body, provider.Member{Name: p.LimitParameter, Value: max(p.Limit, limit)})
	}
	if !p.OmitTemperature {
		body = append(body, provider.Member{Name: "temperature", Value: temperature})
	}
	return slices.Concat(body, members, p.Extra)
}

// JSON is the member of a body that has the reply follow a schema.
func JSON(p provider.Profile, schema any) provider.Member {
	format := provider.Object{{Name: "type", Value: p.ResponseFormat}}
	if p.ResponseFormat == provider.JSONSchema {
		format = append(format, provider.Member{Name: "json_schema", Value: provider.Object{
			{Name: "name", Value: "answers"}, {Name: "strict", Value: true}, {Name: "schema", Value: schema},
		}})
	}
	return provider.Member{Name: "response_format", Value: format}
}

// ObjectSchema is the JSON schema of an object that has all of its properties and no others.
func ObjectSchema(properties provider.Object) provider.Object {
	var required []string
	for _, p := range properties {
		required = append(required, p.Name)
	}
	return provider.Object{
		{Name: "type", Value: "object"},
		{Name: "properties", Value: properties},
		{Name: "required", Value: required},
		{Name: "additionalProperties", Value: false},
	}
}

// SchemaText is the schema in words, for a host that takes none.
func SchemaText(p provider.Profile, schema any) string {
	if p.ResponseFormat == provider.JSONSchema {
		return ""
	}
	return "Reply with a JSON object that follows this JSON schema:\n" + string(provider.Encode(schema))
}

// Response is the body of a reply, with C as its choices.
type Response[C any] struct {
	Choices C `json:"choices"`
	Usage   provider.Members[struct {
		Prompt     provider.Count `json:"prompt_tokens"`
		Completion provider.Count `json:"completion_tokens"`
		Cost       provider.Cost  `json:"cost"` // of OpenRouter
		Details    provider.Members[struct {
			Cached provider.Count `json:"cached_tokens"`
		}] `json:"prompt_tokens_details"`
		Output provider.Members[struct {
			Reasoning provider.Count `json:"reasoning_tokens"`
		}] `json:"completion_tokens_details"`
	}] `json:"usage"`
}

// Tokens are those that the reply reports.
func (r Response[C]) Tokens() provider.Tokens {
	used := r.Usage.Value
	return provider.Tokens{Input: used.Prompt, Output: used.Completion, Cached: used.Details.Value.Cached, Cost: used.Cost}
}

// Thought tells whether the reply reports tokens of thoughts.
func (r Response[C]) Thought() bool { return r.Usage.Value.Output.Value.Reasoning.N > 0 }

// Choice is one reply of a model, with M as what is read of its message.
type Choice[M any] struct {
	Error        strictjson.Value `json:"error"` // of OpenRouter
	FinishReason provider.Text    `json:"finish_reason"`
	Message      provider.Members[struct {
		Refusal provider.Text `json:"refusal"`
		// LiteLLM moves the refusal here.
		Specific provider.Members[struct {
			Refusal provider.Text `json:"refusal"`
		}] `json:"provider_specific_fields"`
		Said M `json:",embed"`
	}] `json:"message"`
}

// Refused tells whether the model refused in words.
func (c Choice[M]) Refused() bool {
	m := c.Message.Value
	return m.Refusal+m.Specific.Value.Refusal != ""
}

// Complete tells whether the model said all that it wanted to say. At the token limit a text need not follow the schema, even where it
// happens to parse.
func (c Choice[M]) Complete() bool { return c.FinishReason != "length" && !c.Refused() }

// filtered are parts of the reasons for which hosts end a text that they filter, in lower case: those of OpenAI and Azure, and of
// Gemini, which has its own behind a colon.
var filtered = []string{"content_filter", "safety", "prohibited_content", "blocklist", "recitation", "spii"}

// Fault is that of a choice that is an error or was filtered (spec: errors-in-a-200).
func (c Choice[M]) Fault() *upstream.Fault {
	reason := strings.ToLower(string(c.FinishReason))
	switch {
	case reason == "error", provider.IsProblem(c.Error):
		return upstream.ErrorInBody([]byte(`{"error":` + cmp.Or(string(c.Error), "{}") + `}`))
	case slices.ContainsFunc(filtered, func(part string) bool { return strings.Contains(reason, part) }):
		return upstream.ContentFault()
	}
	return nil
}
