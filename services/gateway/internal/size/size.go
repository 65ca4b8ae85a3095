// Package size estimates how much a call sends to the model: the o200k tokens of its fields, context, instructions and
// longest question (spec: size-estimate). It takes linear time on any input, and nothing is counted if the length in bytes
// already shows that the input is within the limit (spec: size-estimate-is-linear).
package size

import (
	"sync"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// Estimator estimates sizes. It is safe for concurrent use. The tokenizer's vocabulary (about 15 MB) is loaded when the
// first text has to be counted, which takes about 50 ms, and shared from then on.
type Estimator struct {
	load func() *vocabulary
}

// New makes an Estimator. It does no work yet.
func New() *Estimator { return &Estimator{load: sync.OnceValue(loadVocabulary)} }

// Check returns apierr.TooLarge for an estimate over the limit.
func (e *Estimator) Check(d prism.Definition, fields []prism.FieldValue, context string) error {
	if tokens, over := e.Estimate(d, fields, context); over {
		return apierr.TooLarge(tokens)
	}
	return nil
}

// Estimate is the size of a call in tokens, and whether it is over apierr.TokenLimit. A number over the limit is exact,
// since the error message shows it. A number within the limit lies between the exact number and the limit.
//
// Each text is counted by itself: the values of the fields, the context, the instructions, and the text, labels and
// descriptions of the question with the most tokens.
func (e *Estimator) Estimate(d prism.Definition, fields []prism.FieldValue, context string) (tokens int, over bool) {
	shared := []string{context, d.Instructions}
	for _, f := range fields {
		shared = append(shared, f.Value)
	}
	// A token has at least one byte, so there are at most as many tokens as bytes.
	bytes := byteLen(shared)
	longest := 0
	for _, q := range d.Questions {
		longest = max(longest, byteLen(QuestionTexts(q)))
	}
	if bytes+longest <= apierr.TokenLimit {
		return bytes + longest, false
	}
	v := e.load()
	tokens = v.countAll(shared)
	if tokens+longest <= apierr.TokenLimit {
		return tokens + longest, false
	}
	longest = 0
	for _, q := range d.Questions {
		if texts := QuestionTexts(q); byteLen(texts) > longest { // a shorter one cannot have more tokens
			longest = max(longest, v.countAll(texts))
		}
	}
	return tokens + longest, tokens+longest > apierr.TokenLimit
}

// QuestionTexts are the texts of a question that the model reads.
func QuestionTexts(q prism.Question) []string {
	texts := append(make([]string, 0, 1+2*(len(q.Options)+1)+len(q.Levels)), q.Text) // + 1: insufficient_information
	switch q.Type {
	case prism.Choice:
		for _, o := range q.Choices() {
			texts = append(texts, o.Label, o.Description)
		}
	case prism.Scale:
		for _, l := range q.Levels {
			texts = append(texts, l.Label)
		}
	case prism.YesNo:
	}
	return texts
}

// Count is the number of tokens of texts, each counted by itself.
func (e *Estimator) Count(texts ...string) int { return e.load().countAll(texts) }

func byteLen(texts []string) (n int) {
	for _, s := range texts {
		n += len(s)
	}
	return n
}
