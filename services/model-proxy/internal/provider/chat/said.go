package chat

import (
	"strings"

	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
)

// Said is a message of which a JSON object is read. What a model thought is in other members, or in parts of another type.
type Said struct {
	Content content `json:"content"`
	Calls   provider.First[provider.Members[struct {
		Function provider.Members[struct {
			Arguments content `json:"arguments"`
		}] `json:"function"`
	}]] `json:"tool_calls"`
}

// JSON is the object that the model wrote: the content, without what it thought before it and a code fence round it, else the
// arguments of a tool call (spec: stated-replies).
func (s Said) JSON() []byte {
	text := strings.TrimSpace(string(s.Content))
	if thought, ok := strings.CutPrefix(text, "<think>"); ok {
		_, text, _ = strings.Cut(thought, "</think>")
		text = strings.TrimSpace(text)
	}
	if fenced, ok := strings.CutPrefix(text, "```"); ok {
		_, text, _ = strings.Cut(fenced, "\n") // a language may stand behind the fence
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "```"))
	}
	if call := s.Calls.Value.Value.Function.Value.Arguments; call != "" && !strings.HasPrefix(text, "{") {
		text = string(call)
	}
	return []byte(text)
}

// content is a text, the texts among the parts of a list, or an object as JSON.
type content string

// UnmarshalJSONFrom implements the JSON library's UnmarshalerFrom.
func (c *content) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	*c = ""
	kind := d.PeekKind()
	if kind == '{' {
		raw, err := d.ReadValue()
		*c = content(raw)
		return err
	}
	if kind == '[' {
		var parts provider.List[provider.Members[struct {
			Type provider.Text `json:"type"`
			Text provider.Text `json:"text"`
		}]]
		err := parts.UnmarshalJSONFrom(d)
		for _, p := range parts {
			if p.Value.Type == "text" {
				*c += content(p.Value.Text)
			}
		}
		return err
	}
	var text provider.Text
	err := text.UnmarshalJSONFrom(d)
	*c = content(text)
	return err
}
