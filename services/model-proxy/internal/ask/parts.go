package ask

import (
	"slices"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
)

// parts are those of the questions of an ask that are asked in parts, by the keys of the parts (spec: asked-parts).
type parts map[string]contract.Asked

// inParts is an ask as a model is asked it, with the questions in parts of whose options any number can be right. The ask itself stays as
// it is.
func inParts(a contract.Ask, m *models.Model) (contract.Ask, parts) {
	if m.API.Whole {
		return a, nil
	}
	asked := contract.AskedOf(a.Definition.Questions)
	byKey := parts{}
	questions := make([]prism.Question, len(asked))
	for i, q := range asked {
		questions[i] = q.Question
		if q.Whole != nil {
			byKey[q.Key] = q
		}
	}
	if len(byKey) == 0 {
		return a, nil
	}
	a.Definition.Questions, a.Definition.Examples = questions, examplesInParts(a.Definition.Examples, byKey)
	return a, byKey
}

// examplesInParts are examples that also say what is right for each part.
func examplesInParts(examples []prism.Example, byKey parts) []prism.Example {
	all := make([]prism.Example, len(examples))
	for i, e := range examples {
		all[i] = e
		all[i].Answers = slices.Clone(e.Answers)
		for _, part := range byKey {
			if value, ok := e.Label(*part.Whole); ok {
				all[i].Answers = append(all[i].Answers, prism.NewExampleAnswer(part.Question, part.Whole.Type.PartOfLabel(value, part.Option)))
			}
		}
	}
	return all
}

// name tells calls what their questions are parts of.
func (p parts) name(calls []provider.Call) {
	if len(p) == 0 {
		return
	}
	wholes := make(map[string]string, len(p))
	for key, part := range p {
		wholes[key] = part.Whole.Key
	}
	for i := range calls {
		calls[i].Wholes = wholes
	}
}

// whole puts the questions that were asked in parts together: the answers if all parts have one, the label masses, the mean of how far the
// orders of their labels disagreed, and the options one of whose labels was absent.
func (j *joined) whole() {
	if len(j.parts) == 0 {
		return
	}
	var all []joinedQuestion
	answers := map[string][]prism.Answer{}
	for _, q := range j.questions {
		part, ok := j.parts[q.key]
		if !ok {
			all = append(all, q)
			continue
		}
		key := part.Whole.Key
		if len(all) == 0 || all[len(all)-1].key != key { // the parts of a question are beside each other
			all = append(all, joinedQuestion{key: key})
		}
		whole := &all[len(all)-1]
		whole.masses = append(whole.masses, q.masses...)
		if len(q.absent) > 0 {
			whole.absent = append(whole.absent, part.Option)
		}
		n := float64(len(part.Whole.Options))
		if q.disagreement != nil {
			if whole.disagreement == nil {
				whole.disagreement = &prism.Disagreement{Question: key}
			}
			whole.disagreement.Distance += q.disagreement.Distance / n
		}
		if q.answer != nil {
			answers[key] = append(answers[key], *q.answer)
		}
		if len(answers[key]) == len(part.Whole.Options) {
			whole.answer = new(part.Whole.Whole(answers[key]))
		}
	}
	j.questions, j.parts = all, nil
}
