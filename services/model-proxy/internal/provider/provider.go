// Package provider is what package ask knows of a kind of model: the calls that answer an ask. Each subpackage except offline and
// providertest is one wire format of remote models; all formats pass the suite in providertest.
package provider

import (
	"context"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Provider speaks to one kind of model. It is safe for concurrent use.
type Provider struct {
	// Name is the provider's value of PRISM_MODEL_PROVIDER.
	Name string
	// Calls returns the upstream calls that together answer every question of the ask, in question order. They are
	// independent: they may run at the same time and be repeated. Calls itself does no I/O.
	Calls func(a contract.Ask) []Call
	// LastRound returns the calls that ask questions which Calls asked in groups of their options, with the most probable of these
	// options (spec: option-groups). They are as those of Calls. It is nil if no question is asked in groups.
	LastRound func(a contract.Ask, questions []prism.Question) []Call
	// FlatOptions is the most options that a question of LastRound may have.
	FlatOptions int
	// Probabilities is where the probabilities come from.
	Probabilities api.ProbabilitySource
	// Whole: questions of whose options any number can be right are asked as they are, and not in parts (spec: asked-parts).
	Whole bool
}

// Call is one upstream call.
type Call struct {
	// Questions are the questions that this call answers, in definition order.
	Questions []prism.Question
	// Wholes are the keys of the questions that some of Questions are parts of, by the keys of the parts. Package ask sets them.
	Wholes map[string]string
	// Grouped has, for each of Questions that asks a group of the options of a question, that question; others have nil. It is nil if
	// none does.
	Grouped []*prism.Question
	// Later is how many calls of the last round this call leads to.
	Later int
	// Order is the number of the order of labels in which the call asks its question, from 0. Each order of a question is a call;
	// these calls follow each other in the list, and their answers are pooled (spec: label-orders). So are calls that draw samples
	// of the answers to the same questions.
	Order int
	// Samples is how many answers to each question the call draws. 0: its reply has Answers, and no Counts.
	Samples int
	// Do makes one attempt and returns soon after its context ends. It never tries again (spec: one-owner-of-retries). With a
	// fault there is no reply. A response that can't be read is a Reply without answers.
	Do func(ctx context.Context) (Reply, *upstream.Fault)
}

// Reply is what a model said.
type Reply struct {
	// Answers belong to the call's Questions, one each in the same order. Nil is "no usable answer".
	Answers []*prism.Answer
	// Counts are how often samples chose each of a question's ReplyKeys, for each of the call's Questions (spec: sampled-answers).
	Counts [][]int
	// Missing says why a question has no usable answer, when there is more to say: no_log_probabilities.
	Missing prism.ErrorCode
	// Fault: the reply is an error, is filtered, or is none. Then there are no answers.
	Fault *upstream.Fault
	// Thinks: the model thought, or began to, before it answered.
	Thinks bool
	// Tokens is the number of tokens that the upstream reports.
	Tokens Tokens
	// LabelMass is the part of the model's probability that the labels of a question had, for each question of which it is known.
	LabelMass []prism.LabelMass
	// Absent are the labels of questions that were not among the tokens that the model returned.
	Absent []prism.Absent
}

// Name is the key by which people know one of the call's Questions: its own, or that of the question that it is a part of.
func (c Call) Name(q prism.Question) string {
	if whole, ok := c.Wholes[q.Key]; ok {
		return whole
	}
	return q.Key
}
