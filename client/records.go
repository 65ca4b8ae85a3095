package client

import (
	"context"
	"net/url"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// What is kept of the call that made a result. What is not known is nil.
type (
	// Record is everything that is kept.
	Record = api.Record
	// RecordModel is the configured model whose answers are the result, or that was asked last.
	RecordModel = api.RecordModel
	// RecordUsage is tokens and their cost.
	RecordUsage = api.RecordUsage
	// CallMembers are what is known of the call of a model, in a Record and a Try.
	CallMembers = api.CallMembers
	// LabelMass is, by question, the part of the model's probability that its labels had.
	LabelMass = api.LabelMass
	// Absent is, by question, the options or levels, or yes or no, whose labels were not among the tokens that the model returned.
	Absent = api.Absent
	// OrderDisagreement is, by question, how far the orders of its labels disagreed.
	OrderDisagreement = api.OrderDisagreement
	// Rounds are, by question, the rounds in which its options were asked.
	Rounds = api.Rounds
	// Round is one of these rounds.
	Round = api.Round
	// Escalation is both models of a call whose first answers were doubtful.
	Escalation = api.Escalation
	// AnsweredModel is one of the models of an Escalation.
	AnsweredModel = api.AnsweredModel
	// ErrorCode says why a result failed.
	ErrorCode = api.ErrorCode
)

// The error codes. A later release may have more.
const (
	ErrorTimeout            = prism.CodeTimeout
	ErrorUnreachable        = prism.CodeUnreachable
	ErrorRefused            = prism.CodeRefused
	ErrorLimited            = prism.CodeLimited
	ErrorExhausted          = prism.CodeExhausted
	ErrorRefusedKey         = prism.CodeRefusedKey
	ErrorNotFoundModel      = prism.CodeNotFound
	ErrorContent            = prism.CodeContent
	ErrorTooLong            = prism.CodeTooLong
	ErrorParameter          = prism.CodeParameter
	ErrorUnreadable         = prism.CodeUnreadable
	ErrorNoUsableAnswer     = prism.CodeNoUsableAnswer
	ErrorLabelMassLow       = prism.CodeLabelMassLow
	ErrorNoLogProbabilities = prism.CodeNoLogProbabilities
	ErrorModelNotConfigured = prism.CodeModelNotConfigured
	// ErrorSkipped occurs only in an Escalation: the second model was skipped, as its last calls failed.
	ErrorSkipped = prism.CodeSkipped
)

// ReadRecord reads everything that is kept of the call that made a result.
func (c *Client) ReadRecord(ctx context.Context, id string, options ...CallOption) (Record, error) {
	return fetch[Record](ctx, c, declared(api.ReadRecord, id), options)
}

type (
	// Usage is sums over the results of a period.
	Usage = api.Usage
	// UsageSum is the sum of the results of one day, prism, model or API key whose costs have one currency. Of Day, Prism, Model and
	// KeyID, it has the one that UsageFilter.By names. Model and KeyID are nil where they are not known, and Prism for tries.
	UsageSum = api.UsageSum
	// UsageBy is what usage is added up by.
	UsageBy = api.UsageBy
)

// What usage is added up by.
const (
	ByDay   = api.ByDay
	ByPrism = api.ByPrism
	ByModel = api.ByModel
	ByKey   = api.ByKey
)

// UsageFilter selects what to add up; an empty member selects all.
type UsageFilter struct {
	From  time.Time // the start of a day in UTC, at most 366 days before To; 30 days before To if zero
	To    time.Time // the start of the day after the last one; tomorrow if zero
	By    UsageBy   // ByDay if empty
	Prism string    // slug or id
	Model string    // the name of a configured model
	KeyID string
}

// ReadUsage adds up what the account's calls used. The sums are those of all results that were ever saved.
func (c *Client) ReadUsage(ctx context.Context, f UsageFilter, options ...CallOption) (Usage, error) {
	q := url.Values{}
	setTime(q, "from", f.From)
	setTime(q, "to", f.To)
	set(q, "by", string(f.By))
	set(q, "prism", f.Prism)
	set(q, "model", f.Model)
	set(q, "key_id", f.KeyID)
	return fetch[Usage](ctx, c, declared(api.ReadUsage).where(q), options)
}
