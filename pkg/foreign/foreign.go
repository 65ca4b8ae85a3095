// Package foreign is the formats in which clients of others ask and are answered: OpenAI's decisions and TypeSafe's System One
// (spec: formats-of-others). It says which questions a definition has in a format, and how answers to them are written.
package foreign

import (
	"strconv"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// The types of questions in the formats.
var (
	decisionTypes  = map[prism.Classes]string{prism.Binary: "predicate", prism.Nominal: "choice", prism.Ordinal: "score"}
	systemOneTypes = map[prism.Classes]string{prism.Binary: "noul", prism.Nominal: "choice", prism.Ordinal: "score"}
)

// Types are the words of a format for the types of questions.
func Types(f api.Format) []string {
	words := wordsOf(f)
	return []string{words[prism.Binary], words[prism.Nominal], words[prism.Ordinal]}
}

// TypeOf is the type of question that has a word in a format; "" if none has.
func TypeOf(f api.Format, word string) prism.QuestionType {
	for _, name := range prism.QuestionType("").Values() {
		if t := prism.QuestionType(name); word != "" && wordsOf(f)[t.Classes()] == word {
			return t
		}
	}
	return ""
}

func wordsOf(f api.Format) map[prism.Classes]string {
	if f == api.SystemOne {
		return systemOneTypes
	}
	return decisionTypes
}

// Question is a question of a definition as the formats have it. A question of whose options any number can be right is one question
// for each option, as the formats know none like it.
type Question struct {
	prism.Question
	// Parent is the key of the question of the definition, and Part that of the option; "" for a question that is whole.
	Parent, Part string
}

// Name is what the formats call the question.
func (q Question) Name() string {
	if q.Part == "" {
		return q.Parent
	}
	return q.Parent + "." + q.Part
}

// Questions are those of a definition in its order.
func Questions(d prism.Definition) (all []Question) {
	for _, q := range d.Questions {
		parts := q.Parts()
		for _, part := range parts {
			all = append(all, Question{part, q.Key, part.Key})
		}
		if len(parts) == 0 {
			all = append(all, Question{q, q.Key, ""})
		}
	}
	return all
}

// answer finds the answer to a question; false if there is none, or one of another kind.
func (q Question) answer(all prism.Answers) (prism.Answer, bool) {
	for _, a := range all {
		if a.Question != q.Parent {
			continue
		}
		if q.Part != "" {
			return a.Part(q.Part)
		}
		return a, a.Type == q.Type
	}
	return prism.Answer{}, false
}

// confidence is that of the most probable option or level (spec: confidence).
func confidence(a prism.Answer) float64 { return prism.Confidence(a.Certainty(), len(a.Probabilities)) }

// score is the average of the levels, of which the first is 0.
func score(a prism.Answer) (sum float64) {
	for i, p := range a.Probabilities {
		sum += float64(float64(i) * p.Probability) // the conversion forbids fusing: the same digits on every processor
	}
	return sum
}

// Model is what a prism and a version are called where the formats have the name of a model.
func Model(slug string, version int32) string { return slug + "@" + strconv.Itoa(int(version)) }
