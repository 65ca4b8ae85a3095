package contract

import (
	"strconv"

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

// MaxAsked is how many questions a model is asked by one call: more than a version has, but not more than it has with all their parts.
const MaxAsked = 256

// Asked is a question as a model is asked it: a question of a version, or a part of one (spec: asked-parts).
type Asked struct {
	prism.Question
	Whole  *prism.Question // of a part
	Option string          // of the Whole that the part is about
}

// maxKey is how long the key of a part is at most, as that of a question is: hosts refuse longer names.
const maxKey = 64

// AskedOf are the questions that a model is asked for questions of a version: those of whose options any number can be right in their parts.
// The key of a part has a hyphen, which no key of a question has, so that it is not that of another one: behind it is the key of the option,
// or, if that is too long, a number.
func AskedOf(questions []prism.Question) (all []Asked) {
	for i := range questions {
		q := &questions[i]
		parts := q.Parts()
		for _, part := range parts {
			option := part.Key
			part.Key = q.Key + "-" + option
			if len(part.Key) > maxKey {
				number := "-" + strconv.Itoa(len(all))
				part.Key = q.Key[:min(len(q.Key), maxKey-len(number))] + number
			}
			all = append(all, Asked{part, q, option})
		}
		if parts == nil {
			all = append(all, Asked{Question: *q})
		}
	}
	return all
}

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
	case m.Probabilities == api.Simulated:
		return 1
	case m.Samples != nil: // a host that gives several samples by one call needs fewer calls
		return *m.Samples * together(questions)
	case m.Probabilities != api.Logprobs:
		return together(questions)
	}
	for _, q := range AskedOf(questions) {
		groups, last := Rounds(m, q.Question)
		n += groups + last
	}
	return n
}

// together is how many calls ask questions once that are asked together.
func together(questions []prism.Question) int {
	return max(1, (len(AskedOf(questions))+MaxAsked-1)/MaxAsked)
}
