// Package systemone is the wire format of decision models: POST {base}/systemone with a state and typed questions, answered
// with a probability for every option. TypeSafe, vLLM, llama.cpp, Ollama, Upstage and others serve it.
package systemone

import (
	"strconv"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/score"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Format answers all questions of an ask with one call (spec: provider-systemone). The defaults are those of TypeSafe, which
// defined the format: jev-latest is the alias of the newest decision model.
func Format() provider.Format {
	return provider.Format{
		Name: "systemone", BaseURL: "https://api.typesafe.ai/v1", Model: "jev-latest",
		Header: upstream.Bearer, Path: "/systemone", Body: body, Decode: provider.Decoder(read),
		ExamplesInInput: true, Probabilities: api.Native,
	}
}

// request has its questions, and their options, in definition order: hosts label options in the order they come.
type request struct {
	Model     string          `json:"model"`
	State     string          `json:"state"`
	Questions provider.Object `json:"questions"`
}

// question has no further members: vLLM refuses a question with any other, and only vLLM knows instructions outside of
// questions.
type question struct {
	Type         string `json:"type"`
	Instructions string `json:"instructions"`
	Criteria     any    `json:"criteria,omitzero"` // for a choice the options' texts by key, for a scale the levels' labels
}

func body(model, instructions string, _ []provider.Example, questions []prism.Question) any {
	r := request{Model: model, State: provider.Input}
	for _, q := range questions {
		asked := question{Type: wireType(q.Type), Instructions: provider.Paragraphs(instructions, q.Text)}
		switch q.Type.Classes() {
		case prism.Nominal:
			var options provider.Object
			for _, m := range q.Members() {
				options = append(options, provider.Member{Name: m.Key, Value: m.Text()})
			}
			asked.Criteria = options
		case prism.Ordinal:
			var labels []string
			for _, m := range q.Members() {
				labels = append(labels, m.Label)
			}
			asked.Criteria = labels
		case prism.Binary, prism.Multiple: // asked in parts
		}
		r.Questions = append(r.Questions, provider.Member{Name: q.Key, Value: asked})
	}
	return r
}

func wireType(t prism.QuestionType) string {
	return map[prism.Classes]string{prism.Nominal: "choice", prism.Ordinal: "score", prism.Binary: "noul"}[t.Classes()]
}

type response struct {
	Answers     provider.Dict[provider.Members[answer]] `json:"answers"`
	Usage       provider.Members[usage]                 `json:"usage"`
	Diagnostics provider.Dict[provider.Numbers]         `json:"diagnostics"`
}

type usage struct {
	Input  provider.Count `json:"input_tokens"`
	Output provider.Count `json:"output_tokens"`
	Cost   provider.Cost  `json:"cost"` // of OpenRouter
}

type answer struct {
	Type          provider.Text    `json:"type"`
	Probabilities provider.Numbers `json:"probabilities"`
	Noul          provider.Number  `json:"noul"`
}

func read(r response, questions []prism.Question, reply *provider.Reply) {
	reply.Tokens = provider.Tokens{Input: r.Usage.Value.Input, Output: r.Usage.Value.Output, Cost: r.Usage.Value.Cost}
	for i, q := range questions {
		reply.Answers[i] = answerOf(q, r.Answers[q.Key].Value)
		if mass, ok := r.Diagnostics[q.Key]["label_mass"]; ok {
			reply.LabelMass = append(reply.LabelMass, prism.LabelMass{Question: q.Key, Mass: mass})
		}
	}
}

// answerOf reads one answer, which is zero when the host could not give it. Some hosts leave the type out.
func answerOf(q prism.Question, a answer) *prism.Answer {
	switch {
	case a.Type != "" && string(a.Type) != wireType(q.Type):
		return nil
	case q.Type.Classes() == prism.Binary:
		return score.Yes(q, a.Noul.Float())
	case q.Type.Classes() == prism.Nominal:
		return score.Options(q, a.Probabilities)
	}
	byKey := map[string]float64{} // the host names levels by index, "0" being the lowest
	for i, key := range q.AnswerKeys() {
		if p, ok := a.Probabilities[strconv.Itoa(i)]; ok {
			byKey[key] = p
		}
	}
	return score.Options(q, byKey)
}
