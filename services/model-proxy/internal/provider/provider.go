// Package provider is what the model loop knows of a kind of model: the calls that answer an ask. Each subpackage but
// offline is one wire format of remote models; all formats pass the suite in providertest.
package provider

import (
	"context"

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
	// Probabilities is where they come from.
	Probabilities contract.Probabilities
}

// Call is one upstream call.
type Call struct {
	// Questions are what this call answers, in definition order.
	Questions []prism.Question
	// Order is which of its question's orders of labels the call asks, from 0. The orders of a question are one call each, one
	// behind the other; their answers are pooled (spec: label-orders).
	Order int
	// Do makes one attempt and returns soon after its context ends. It never tries again (spec: one-owner-of-retries). A
	// fault means that there is no reply; a reply that can't be read is a Reply without answers.
	Do func(ctx context.Context) (Reply, *upstream.Fault)
}

// Reply is what a model said.
type Reply struct {
	// Answers belong to the call's Questions, one each in the same order. Nil is "no usable answer".
	Answers []*prism.Answer
	// NoLogProbs: the reply has none, although the answers are read off them.
	NoLogProbs bool
	// Tokens is what the upstream says the call took.
	Tokens Tokens
	// LabelMass is, for each question it is known of, the part of the model's probability that its labels had.
	LabelMass []prism.LabelMass
}
