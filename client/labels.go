package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"

	"github.com/prism-results/prism/pkg/api"
)

// LabelSample is how the labelled results were chosen.
type LabelSample = api.LabelSample

// The samples. Labels of the uncertain sample, where the model was not sure, are not measured.
const (
	RandomSample    = api.RandomSample
	UncertainSample = api.UncertainSample
)

// MaxLabels is how many labels AddLabels takes at once.
const MaxLabels = api.MaxLabels

type (
	// LabelValue is the key of an option or level, "true" or "false" for a yes_no question, or what LabelOf returns for a tags question. ""
	// removes a label, where labels are put.
	LabelValue = api.LabelValue
	// Label is what was right for a question of a result.
	Label = api.Label
	// LabelledResult is a result with its labels by question.
	LabelledResult = api.LabelledResult
	// AddedLabels is what became of many labels.
	AddedLabels = api.AddedLabels
	// InvalidLabel is a label that was not stored, and why.
	InvalidLabel = api.InvalidLabel
)

// LabelOf is the value of a label of a tags question: the keys of the options that are right. Without one, none is.
func LabelOf(keys ...string) LabelValue { return api.LabelOf(keys...) }

// NewLabels are labels to put, by question.
type NewLabels struct {
	Labels    map[string]LabelValue `json:"labels"`
	Sample    LabelSample           `json:"sample,omitempty"` // as the queue says
	Annotator string                `json:"annotator,omitempty"`
}

// PutLabels replaces labels of a result, removes those whose value is "", and returns all that it has then. A failed result is
// ErrConflict.
func (c *Client) PutLabels(ctx context.Context, resultID string, l NewLabels, options ...CallOption) (LabelledResult, error) {
	return fetch[LabelledResult](ctx, c, declared(api.PutLabels, resultID).sending(l), options)
}

// ReadLabels reads the labels of a result.
func (c *Client) ReadLabels(ctx context.Context, resultID string, options ...CallOption) (LabelledResult, error) {
	return fetch[LabelledResult](ctx, c, declared(api.ReadLabels, resultID), options)
}

// NewLabel is a label of a result, which ResultID or Ref names: a ref stands for the newest ok result that has it.
type NewLabel struct {
	ResultID string     `json:"result_id,omitempty"`
	Ref      *string    `json:"ref,omitempty"`
	Question string     `json:"question"`
	Value    LabelValue `json:"value"`
}

// ManyLabels are labels of results of a prism, at most MaxLabels.
type ManyLabels struct {
	Labels    []NewLabel  `json:"labels"`
	Sample    LabelSample `json:"sample,omitempty"`
	Annotator string      `json:"annotator,omitempty"`
	Version   int         `json:"version,omitempty"` // of the results; 0: any
}

// AddLabels labels many results of a prism. It stores every valid label; the response names the others. The call is idempotent.
func (c *Client) AddLabels(ctx context.Context, prism string, l ManyLabels, options ...CallOption) (AddedLabels, error) {
	return fetch[AddedLabels](ctx, c, declared(api.AddLabels, prism).sending(l), options)
}

// LabelFilter selects labels of a list; zero values select all.
type LabelFilter struct {
	Version  int
	Question string
}

func (f LabelFilter) query(o PageOptions) url.Values {
	q := o.query()
	if f.Version != 0 {
		q.Set("version", strconv.Itoa(f.Version))
	}
	if f.Question != "" {
		q.Set("question", f.Question)
	}
	return q
}

// ListLabels returns one page of the labelled results of a prism, newest first.
func (c *Client) ListLabels(
	ctx context.Context, prism string, f LabelFilter, o PageOptions, options ...CallOption,
) (Page[LabelledResult], error) {
	k := declared(api.ListLabels, prism).where(f.query(o))
	return fetch[Page[LabelledResult]](ctx, c, k, options)
}

// Labels iterates over the labelled results of a prism, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Labels(
	ctx context.Context, prism string, f LabelFilter, options ...CallOption,
) iter.Seq2[LabelledResult, error] {
	return pages(func(cursor string) (Page[LabelledResult], error) {
		return c.ListLabels(ctx, prism, f, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}

// LabelQueue selects results that have no label for a question.
type LabelQueue struct {
	Question string
	Order    LabelSample // RandomSample when empty
	Version  int         // 0: any
	// Assignee is the id of a member to whom results are assigned, "me", or "none" for nobody.
	Assignee string
	ResultSearch
}

// QueuedResult is a result to label.
type QueuedResult struct {
	ResultID  string            `json:"result_id"`
	Ref       *string           `json:"ref"`
	CreatedAt Time              `json:"created_at"`
	Version   int               `json:"version"`
	Context   *string           `json:"context"`
	Fields    map[string]string `json:"fields"`
	Answers   Answers           `json:"answers"`
}

// LabelQueuePage is a page of results to label. Send their labels with Sample.
type LabelQueuePage struct {
	Data       []QueuedResult `json:"data"`
	Sample     LabelSample    `json:"sample"`
	NextCursor *string        `json:"next_cursor"` // nil on the last page
}

// ListLabelQueue returns one page of results to label. It may be empty before the last one.
func (c *Client) ListLabelQueue(
	ctx context.Context, prism string, q LabelQueue, o PageOptions, options ...CallOption,
) (LabelQueuePage, error) {
	query := LabelFilter{q.Version, q.Question}.query(o)
	setSearch(query, q.ResultSearch)
	if q.Assignee != "" {
		query.Set("assignee", q.Assignee)
	}
	if q.Order != "" {
		query.Set("order", string(q.Order))
	}
	k := declared(api.ListLabelQueue, prism).where(query)
	return fetch[LabelQueuePage](ctx, c, k, options)
}

// LabelQueue iterates over results to label, and reads a page at a time. An error ends the iteration.
func (c *Client) LabelQueue(
	ctx context.Context, prism string, q LabelQueue, options ...CallOption,
) iter.Seq2[QueuedResult, error] {
	return pages(func(cursor string) (Page[QueuedResult], error) {
		page, err := c.ListLabelQueue(ctx, prism, q, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
		return Page[QueuedResult]{Data: page.Data, NextCursor: page.NextCursor}, err
	})
}
