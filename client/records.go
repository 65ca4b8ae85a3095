package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/prism-results/prism/pkg/api"
)

// Record is everything that is kept of the call that made a result. What is not known is nil.
type Record struct {
	ID        string     `json:"id"`
	Prism     string     `json:"prism"`
	Version   int        `json:"version"`
	Status    Status     `json:"status"`
	Error     *string    `json:"error"` // why the result failed, in words
	ErrorCode *ErrorCode `json:"error_code"`
	CreatedAt Time       `json:"created_at"`
	TookMS    int64      `json:"took_ms"`
	Ref       *string    `json:"ref"`
	Context   *string    `json:"context"`
	// Fields has the value of each field.
	Fields         map[string]string `json:"fields"`
	IdempotencyKey *string           `json:"idempotency_key"`
	RetryOf        *string           `json:"retry_of"`   // the result that this one retried
	RetriedBy      *string           `json:"retried_by"` // the result that retried this one
	KeyID          *string           `json:"key_id"`     // of the API key that made the call
	RunID          *string           `json:"run_id"`     // of the file run that made the result
	RunRow         *int64            `json:"run_row"`    // the number of its row; the first is 1
	Model          *RecordModel      `json:"model"`      // whose answers are the result, or that was asked last
	Usage          *RecordUsage      `json:"usage"`
	LabelMass      LabelMass         `json:"label_mass"`
	Absent         Absent            `json:"absent"`
	// OrderDisagreement is nil unless the model is asked in several orders of labels.
	OrderDisagreement OrderDisagreement `json:"order_disagreement"`
	Escalation        *Escalation       `json:"escalation"` // nil: no second model was wanted
	Labels            map[string]Label  `json:"labels"`     // by question
}

// OrderDisagreement is, by question, how far the orders of its labels disagreed: from 0, where all gave the same probabilities,
// to 1.
type OrderDisagreement map[string]float64

// Escalation is both models of a call whose first answers were doubtful.
type Escalation struct {
	Questions []string `json:"questions"` // whose first answers were doubtful
	// ErrorCode says why the first answers are the result. It is nil if the answers of the second model are.
	ErrorCode *ErrorCode    `json:"error_code"`
	First     AnsweredModel `json:"first"`
	Second    AnsweredModel `json:"second"`
}

// AnsweredModel is one of the models of an Escalation.
type AnsweredModel struct {
	Name     *string `json:"name"`
	Provider *string `json:"provider"`
	Model    *string `json:"model"` // what its upstream calls it
	FellBack bool    `json:"fell_back"`
	Answers  Answers `json:"answers"` // nil: it gave none
}

// LabelMass is, by question, the part of the model's probability that its labels had.
type LabelMass map[string]float64

// Absent is, by question, the options or levels, or yes or no, whose labels were not among the tokens that the model returned.
type Absent map[string][]string

// ErrorCode says why a result failed.
type ErrorCode string

// The error codes. A later release may have more.
const (
	ErrorTimeout            ErrorCode = "timeout"
	ErrorUnreachable        ErrorCode = "unreachable"
	ErrorRefused            ErrorCode = "refused"
	ErrorLimited            ErrorCode = "limited"
	ErrorExhausted          ErrorCode = "exhausted"
	ErrorRefusedKey         ErrorCode = "refused_key"
	ErrorNotFoundModel      ErrorCode = "not_found"
	ErrorContent            ErrorCode = "content"
	ErrorTooLong            ErrorCode = "too_long"
	ErrorParameter          ErrorCode = "parameter"
	ErrorUnreadable         ErrorCode = "unreadable"
	ErrorNoUsableAnswer     ErrorCode = "no_usable_answer"
	ErrorLabelMassLow       ErrorCode = "label_mass_low"
	ErrorNoLogProbabilities ErrorCode = "no_log_probabilities"
	ErrorModelNotConfigured ErrorCode = "model_not_configured"
	// ErrorSkipped occurs only in an Escalation: the second model was skipped, as its last calls failed.
	ErrorSkipped ErrorCode = "skipped"
)

// RecordModel is the configured model whose answers are the result, or that was asked last.
type RecordModel struct {
	Name     *string `json:"name"`
	Provider *string `json:"provider"`
	Model    *string `json:"model"` // what its upstream calls it
	Tries    int     `json:"tries"` // calls of upstreams, for all questions and models
	FellBack bool    `json:"fell_back"`
}

// RecordUsage is tokens and their cost.
type RecordUsage struct {
	InputTokens       *int64       `json:"input_tokens"`
	OutputTokens      *int64       `json:"output_tokens"`
	CachedInputTokens *int64       `json:"cached_input_tokens"`
	Cost              *json.Number `json:"cost"` // exact
	Currency          *string      `json:"currency"`
}

// ReadRecord reads everything that is kept of the call that made a result.
func (c *Client) ReadRecord(ctx context.Context, id string, options ...CallOption) (Record, error) {
	return fetch[Record](ctx, c, request("readRecord", http.MethodGet, "results", id, "record"), options)
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
