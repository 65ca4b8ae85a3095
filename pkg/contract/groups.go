package contract

import (
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// The bounds of questions with more options than a model is asked at once (spec: option-groups, calls-of-a-result).
const (
	// FlatOptions is how many options a chat model that is asked by log-probabilities gets at once: hosts return 20 of them.
	FlatOptions = 20
	// GroupOptions is how many options a group has then, and Candidates how many the last round asks together.
	GroupOptions = 16
	Candidates   = 16
	// MaxCalls is how many calls of its upstream a model is asked for one result, before any of them is tried again.
	MaxCalls = 512
)

// mostOrders bounds the orders of a question's labels.
const mostOrders = 8

// Orders is how many orders of its labels a model with cyclic orders is asked a question in: one for each label, at most 8
// (spec: label-orders).
func Orders(q prism.Question) int {
	return min(len(q.ReplyKeys()), mostOrders)
}

// Rounds are how many calls ask a model a question in each round: those of the groups of its options, 0 if they are asked at once, and
// those of the last round, which are the orders of the labels of a model that has some (spec: option-groups, label-orders).
func Rounds(m api.Model, q prism.Question) (groups, last int) {
	last = 1
	if m.Order != nil {
		last = Orders(q)
	}
	if m.Probabilities == api.Logprobs && len(q.Options) > 0 && len(q.AnswerKeys()) > FlatOptions {
		groups = len(q.Groups(GroupOptions))
	}
	return groups, last
}

// Calls is how many calls of its upstream a model is asked questions with. Decision models, which may be asked in groups too, have fewer
// than MaxCalls: each call of a round has a group of every question.
func Calls(m api.Model, questions []prism.Question) (n int) {
	switch {
	case m.Samples != nil: // a host that gives several samples by one call needs fewer calls
		return *m.Samples
	case m.Probabilities != api.Logprobs:
		return 1
	}
	for _, q := range questions {
		groups, last := Rounds(m, q)
		n += groups + last
	}
	return n
}
