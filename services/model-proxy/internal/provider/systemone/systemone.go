// Package systemone is the wire format of decision models: POST {base}/systemone with a state and typed questions, answered
// with a probability for every option. TypeSafe, vLLM, llama.cpp, Ollama, Upstage and others serve it.
package systemone

import (
	"strconv"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/score"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Format answers all questions of an ask with one call (spec: provider-systemone). The defaults are TypeSafe's, who defined
// the format: jev-latest is the alias of the newest decision model.
func Format() provider.Format {
	return provider.Format{
		Name: "systemone", BaseURL: "https://api.typesafe.ai/v1", Model: "jev-latest",
		Header: upstream.Bearer, Path: "/systemone",
		Split: func(a contract.Ask) []provider.Request {
			return []provider.Request{{
				Questions: a.Definition.Questions,
				Body:      func(model string) any { return newRequest(model, a) },
				Decode:    decode,
			}}
		},
	}
}

// request has its questions, and their options, in definition order: hosts label options in the order they come.
type request struct {
	Model     string          `json:"model"`
	State     provider.Object `json:"state"`
	Questions provider.Object `json:"questions"`
}

// question has no further members: vLLM refuses a question with any other, and only vLLM knows instructions outside of
// questions.
type question struct {
	Type         string `json:"type"`
	Instructions string `json:"instructions"`
	Criteria     any    `json:"criteria,omitzero"` // of a choice the options' texts by key, of a scale the levels' labels
}

func newRequest(model string, a contract.Ask) request {
	r := request{Model: model, State: provider.State(a)}
	for _, q := range a.Definition.Questions {
		asked := question{Type: wireType(q.Type), Instructions: provider.Instruction(a.Definition, q)}
		switch q.Type {
		case prism.Choice:
			var options provider.Object
			for _, o := range q.Choices() {
				options = append(options, provider.Member{Name: o.Key, Value: provider.OptionText(o)})
			}
			asked.Criteria = options
		case prism.Scale:
			labels := make([]string, len(q.Levels))
			for i, l := range q.Levels {
				labels[i] = l.Label
			}
			asked.Criteria = labels
		case prism.YesNo:
		}
		r.Questions = append(r.Questions, provider.Member{Name: q.Key, Value: asked})
	}
	return r
}

func wireType(t prism.QuestionType) string {
	switch t {
	case prism.Choice:
		return "choice"
	case prism.Scale:
		return "score"
	case prism.YesNo:
	}
	return "noul"
}

type response struct {
	Answers     map[string]provider.Lenient[answer]                       `json:"answers"`
	Usage       provider.Lenient[provider.Usage]                          `json:"usage"`
	Diagnostics provider.Lenient[map[string]provider.Lenient[diagnostic]] `json:"diagnostics"`
}

type answer struct {
	Type          string                                `json:"type"`
	Probabilities provider.Lenient[map[string]*float64] `json:"probabilities"`
	Noul          provider.Lenient[*float64]            `json:"noul"`
}

type diagnostic struct {
	LabelMass *float64 `json:"label_mass"`
}

func decode(raw []byte, questions []prism.Question) provider.Reply {
	reply := provider.Reply{Answers: make([]*prism.Answer, len(questions))}
	var r response
	if !provider.Decode(raw, &r) {
		return reply
	}
	reply.Tokens = r.Usage.Value.Tokens()
	for i, q := range questions {
		reply.Answers[i] = answerOf(q, r.Answers[q.Key].Value)
		if mass := r.Diagnostics.Value[q.Key].Value.LabelMass; mass != nil {
			reply.LabelMass = append(reply.LabelMass, *mass)
		}
	}
	return reply
}

// answerOf reads one answer, which is zero when the host could not give it. Some hosts leave the type out.
func answerOf(q prism.Question, a answer) *prism.Answer {
	if a.Type != "" && a.Type != wireType(q.Type) {
		return nil
	}
	switch q.Type {
	case prism.Choice:
		return provider.Answered(score.Options(q, a.Probabilities.Value))
	case prism.Scale: // by the level's index, "0" being the lowest
		byKey := make(map[string]*float64, len(q.Levels))
		for i, l := range q.Levels {
			byKey[l.Key] = a.Probabilities.Value[strconv.Itoa(i)]
		}
		return provider.Answered(score.Options(q, byKey))
	case prism.YesNo:
		return provider.Answered(score.YesNo(q, a.Noul.Value))
	}
	return nil
}
