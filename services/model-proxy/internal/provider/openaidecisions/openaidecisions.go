// Package openaidecisions is OpenAI's decisions API as openai-go's client.Decisions.New speaks it: POST {base}/decisions
// with an input and named questions, answered in question order.
package openaidecisions

import (
	"math"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/score"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Format answers all questions of an ask with one call (spec: provider-openai-decisions). The default model is the only one
// that OpenAI documents for this API.
func Format() provider.Format {
	return provider.Format{
		Name: "openai-decisions", BaseURL: "https://api.openai.com/v1", Model: "gpt-6-luna",
		Header: upstream.Bearer, Path: "/decisions", Body: body, InputInText: true, Decode: provider.Decoder(read),
		ExamplesInInput: true, Probabilities: api.Native,
	}
}

type request struct {
	Model     string     `json:"model"`
	Input     string     `json:"input"` // as JSON text
	Questions []question `json:"questions"`
}

type question struct {
	Type         string   `json:"type"`
	Name         string   `json:"name"`
	Instructions string   `json:"instructions"`
	Choices      []choice `json:"choices,omitempty"`
	Levels       []level  `json:"levels,omitempty"`
}

type choice struct {
	Value       string `json:"value"`
	Description string `json:"description"`
}

type level struct {
	Label string `json:"label"`
}

func body(model, instructions string, _ []provider.Example, questions []prism.Question) any {
	r := request{Model: model, Input: provider.Input}
	for _, q := range questions {
		asked := question{Type: wireType(q.Type), Name: q.Key, Instructions: provider.Paragraphs(instructions, q.Text)}
		for _, m := range q.Members() {
			if q.Type.Classes() == prism.Ordinal {
				asked.Levels = append(asked.Levels, level{m.Label})
			} else {
				asked.Choices = append(asked.Choices, choice{m.Key, m.Text()})
			}
		}
		r.Questions = append(r.Questions, asked)
	}
	return r
}

func wireType(t prism.QuestionType) string {
	return map[prism.Classes]string{prism.Nominal: "choice", prism.Ordinal: "score", prism.Binary: "predicate"}[t.Classes()]
}

type response struct {
	Answers provider.List[provider.Members[answer]] `json:"answers"`
	Usage   provider.Members[struct {
		Input   provider.Count `json:"input_tokens"`
		Output  provider.Count `json:"output_tokens"`
		Cost    provider.Cost  `json:"cost"` // of OpenRouter
		Details provider.Members[struct {
			Cached provider.Count `json:"cached_tokens"`
		}] `json:"input_tokens_details"`
	}] `json:"usage"`
}

type answer struct {
	Type          provider.Text                                `json:"type"`
	Name          provider.Text                                `json:"name"` // null for a question that had none
	Probability   provider.Number                              `json:"probability"`
	Probabilities provider.List[provider.Members[probability]] `json:"probabilities"`
}

type probability struct {
	// Value is the option's key for a choice, and the level's index in the order asked for a scale. It is typed: the string "true"
	// and the boolean true are two values.
	Value       strictjson.Value `json:"value"`
	Probability provider.Number  `json:"probability"`
}

func read(r response, questions []prism.Question, reply *provider.Reply) {
	used := r.Usage.Value
	reply.Tokens = provider.Tokens{Input: used.Input, Output: used.Output, Cached: used.Details.Value.Cached, Cost: used.Cost}
	byName := make(map[string]answer, len(r.Answers))
	for i, a := range r.Answers {
		if !a.OK {
			continue
		}
		name := string(a.Value.Name)
		if name == "" && i < len(questions) { // answers come in question order
			name = questions[i].Key
		}
		if _, twice := byName[name]; twice { // it can't be known which of the two is meant
			a.Value = answer{}
		}
		byName[name] = a.Value
	}
	for i, q := range questions {
		reply.Answers[i] = answerOf(q, byName[q.Key])
	}
}

// answerOf reads one answer. A refusal has a type of its own, so it is nil like every answer of another type.
func answerOf(q prism.Question, a answer) *prism.Answer {
	if string(a.Type) != wireType(q.Type) {
		return nil
	}
	if q.Type.Classes() == prism.Binary {
		return score.Yes(q, a.Probability.Float())
	}
	byKey := make(map[string]float64, len(a.Probabilities))
	for _, p := range a.Probabilities {
		key, ok := keyOf(q, p.Value.Value)
		if !ok {
			continue
		}
		value := p.Value.Probability.Float()
		if _, twice := byKey[key]; twice { // no answer: NaN fails the check of package score
			value = math.NaN()
		}
		byKey[key] = value
	}
	return score.Options(q, byKey)
}

// keyOf finds the option or level of a value.
func keyOf(q prism.Question, value strictjson.Value) (key string, ok bool) {
	if q.Type.Classes() == prism.Nominal {
		ok = value.Kind() == '"' && provider.Decode(value, &key)
		return key, ok
	}
	var index *int
	if !provider.Decode(value, &index) || index == nil || *index < 0 || *index >= len(q.Levels) {
		return "", false
	}
	return q.Levels[*index].Key, true
}
