package chathost

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// token is a token with its log-probability.
type token struct {
	text string
	p    float64
}

func (t token) logProb() float64 { return math.Log(t.p) }

var labelsOf = regexp.MustCompile(`Reply with one of: ([A-Za-z, ]+)$`)

// answer is the body of the reply to a request that is not refused.
func (s *Server) answer(in request) string {
	var messages []struct{ Content string }
	_ = json.Unmarshal(in.body["messages"], &messages) // without messages there is no answer in the reply
	prompt := ""
	if len(messages) > 0 {
		prompt = messages[len(messages)-1].Content
	}
	var choices []string
	for i := range max(in.number("n"), 1) {
		var choice string
		if labels := labelsOf.FindStringSubmatch(prompt); labels != nil {
			choice = s.wrap(fmt.Sprintf("%q", "A"), likely(strings.Split(labels[1], ", "), max(in.number("top_logprobs"), in.number("logprobs"))))
		} else {
			text, _ := json.Marshal(s.write(schemaOf(in, prompt)))
			choice = s.wrap(string(text), nil)
		}
		choices = append(choices, fmt.Sprintf(`{"index":%d,%s}`, i, choice))
	}
	return `{"id":"chatcmpl-1","object":"chat.completion","created":1790000000,"model":"` + Model + `","choices":[` + strings.Join(choices, ",") +
		`],"usage":{"prompt_tokens":90,"completion_tokens":7,"total_tokens":97,"prompt_tokens_details":{"cached_tokens":64}}}`
}

// likely are the labels with their probabilities, at most as many as were asked for, and a token that is none.
func likely(labels []string, most int) (list []token) {
	for i, p := range shares(len(labels)) {
		list = append(list, token{labels[i], p})
	}
	return list[:min(len(list), most)]
}

// shares are the probabilities of n keys.
func shares(n int) []float64 {
	list := []float64{Certain}
	for range n - 1 {
		list = append(list, (1-Certain)/float64(n-1))
	}
	return list
}

// schema is a JSON schema, whose properties keep their order.
type schema struct {
	Type       string
	Enum       []string
	Required   []string
	Properties map[string]schema
	Items      *schema // of an array
}

// schemaOf is the schema of a request: its response_format, or the one in the prompt.
func schemaOf(in request, prompt string) (wanted schema) {
	var format struct {
		JSON struct{ Schema json.RawMessage } `json:"json_schema"`
	}
	_ = json.Unmarshal(in.body["response_format"], &format) // without a schema the model writes null
	raw := []byte(format.JSON.Schema)
	if len(raw) == 0 {
		_, shown, _ := strings.Cut(prompt, "JSON schema:\n")
		raw = []byte(shown)
	}
	_ = json.Unmarshal(raw, &wanted)
	return wanted
}

// write is an object of the schema. Of five samples the last one has the second key of each enum.
func (s *Server) write(wanted schema) string {
	s.mu.Lock()
	s.drawn++
	last := s.drawn%5 == 0
	s.mu.Unlock()
	var b bytes.Buffer
	write(&b, wanted, last)
	return b.String()
}

func write(b *bytes.Buffer, wanted schema, last bool) {
	switch {
	case wanted.Enum != nil:
		fmt.Fprintf(b, "%q", wanted.Enum[map[bool]int{last: 1}[true]])
	case wanted.Type == "number":
		fmt.Fprint(b, Certain)
	case wanted.Type == "array" && wanted.Items != nil: // of what is most probable
		b.WriteByte('[')
		write(b, *wanted.Items, last)
		b.WriteByte(']')
	case wanted.Type == "object":
		ps, numbers := shares(len(wanted.Required)), !slices.ContainsFunc(wanted.Required, func(k string) bool { return wanted.Properties[k].Type != "number" })
		for i, key := range wanted.Required {
			b.WriteByte("{,"[min(i, 1)])
			fmt.Fprintf(b, "%q:", key)
			if p := wanted.Properties[key]; numbers && len(ps) > 1 {
				fmt.Fprint(b, math.Round(ps[i]*1e4)/1e4)
			} else {
				write(b, p, last)
			}
		}
		b.WriteByte('}')
	default:
		b.WriteString("null")
	}
}
