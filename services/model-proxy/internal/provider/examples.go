package provider

import (
	"slices"
	"strings"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// Example is an example of a version as a call shows it. It is data as the input is: its values are JSON, which no value can leave, and
// stand in turns of the user or in the input (spec: examples-in-a-call).
type Example struct {
	Input string // the fields as JSON, as the input of a call
	// Replies are what is right for each question of the call, of its ReplyKeys; "" for one that the example does not answer.
	Replies []string
}

// Turn is an example in a conversation.
type Turn struct{ User, Assistant string }

// Turns are examples as turns before the input. The first shows the prompt with its input in place of Input, so that a model knows the
// questions before it sees an answer; the others show their input alone. answer is what the model would have said.
func Turns(examples []Example, prompt string, answer func(Example) string) []Turn {
	turns := make([]Turn, len(examples))
	for i, e := range examples {
		user := "Input:\n" + e.Input
		if i == 0 {
			user = strings.Replace(prompt, Input, e.Input, 1)
		}
		turns[i] = Turn{user, answer(e)}
	}
	return turns
}

// shown are the examples that answer any of the questions of a call. Of an option that is not in the group that a call asks, the label for
// none of them is right; one that is not in the last round has no answer there.
func shown(examples []prism.Example, a asked) (list []Example) {
	for _, e := range examples {
		s := Example{Replies: make([]string, len(a.questions))}
		answers := false
		for i, q := range a.questions {
			whole, grouped := q, a.grouped != nil && a.grouped[i] != nil
			if grouped {
				whole = *a.grouped[i]
			}
			value, ok := e.Label(whole)
			if !ok {
				continue
			}
			reply := q.ReplyOf(value)
			if reply == "" && grouped {
				keys := q.AnswerKeys()
				reply = keys[len(keys)-1] // none of the group
			}
			s.Replies[i], answers = reply, answers || reply != ""
		}
		if answers {
			s.Input = string(appendInput(nil, contract.Ask{Fields: e.Fields}, nil))
			list = append(list, s)
		}
	}
	return list
}

// examplesMember is examples as a member of an input: each is its fields, with what is right by question. A level is named as a decision
// model is told of it, by its label.
func examplesMember(examples []Example, questions []prism.Question) []byte {
	type example struct {
		Input   any    `json:"input"`
		Answers Object `json:"answers"`
	}
	list := make([]example, len(examples))
	for i, e := range examples {
		list[i].Input = strictjson.Value(e.Input)
		for n, q := range questions {
			reply := e.Replies[n]
			if reply == "" {
				continue
			}
			if at := slices.Index(q.AnswerKeys(), reply); q.Type.Classes() == prism.Ordinal {
				reply = q.Members()[at].Label
			}
			list[i].Answers = append(list[i].Answers, Member{q.Key, reply})
		}
	}
	return Encode(list)
}
