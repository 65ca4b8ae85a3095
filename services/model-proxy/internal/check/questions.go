// Package check says what works of a model, from what it did with two known questions, and what to write in the file of models when
// something does not (spec: model-check).
package check

import (
	_ "embed" // of questions.json
	"slices"
	"sync"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

//go:embed questions.json
var questionsFile []byte

// questions are the known questions: whether something is broken, which is not so, and which colour is named, which is green.
var questions = sync.OnceValue(func() (d prism.Definition) {
	if err := strictjson.Unmarshal(questionsFile, &d); err != nil {
		panic(err) // a bug in questions.json, which the tests find
	}
	return d
})

const (
	text  = "The parcel arrived this morning. It is painted green, and nothing is missing or damaged."
	green = "green"
)

// Definition is what the asks of a check ask together, which counts as one use.
func Definition() prism.Definition { return questions() }

// Asks are the two known questions, and the second one again with its options in the other order.
func Asks() []contract.Ask {
	known := questions().Questions
	turned := known[1]
	turned.Options = slices.Clone(turned.Options)
	slices.Reverse(turned.Options)
	ask := func(questions ...prism.Question) contract.Ask {
		return contract.Ask{Definition: prism.Definition{Questions: questions}, Fields: []prism.FieldValue{{Key: "text", Value: text}}}
	}
	return []contract.Ask{ask(known...), ask(turned)}
}
