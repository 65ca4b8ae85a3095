package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

// LabelSample is how the labelled results were chosen.
type LabelSample string

// The samples. Labels of the uncertain sample, where the model was not sure, are not measured.
const (
	RandomSample    LabelSample = "random"
	UncertainSample LabelSample = "uncertain"
)

// MaxLabels is how many labels AddLabels takes at once.
const MaxLabels = 1000

// LabelValue is what was right: the key of an option or level, or "true" or "false" for a yes_no question. "" removes a label,
// where labels are put.
type LabelValue string

// MarshalJSON writes null for "", a boolean for "true" and "false", and else a string. Prism reads a boolean as its text.
func (v LabelValue) MarshalJSON() ([]byte, error) {
	switch v {
	case "":
		return []byte("null"), nil
	case "true", "false":
		return []byte(v), nil
	}
	return json.Marshal(string(v))
}

// UnmarshalJSON reads a string, a boolean as its text, or null as "".
func (v *LabelValue) UnmarshalJSON(b []byte) error {
	var value any
	if err := json.Unmarshal(b, &value); err != nil {
		return err
	}
	switch value := value.(type) {
	case nil:
		*v = ""
	case string:
		*v = LabelValue(value)
	case bool:
		*v = LabelValue(strconv.FormatBool(value))
	default:
		return fmt.Errorf("client: %T is no label", value)
	}
	return nil
}

// Label is what was right for a question of a result.
type Label struct {
	Value      LabelValue   `json:"value"`
	Sample     *LabelSample `json:"sample"`    // nil: not said
	Annotator  *string      `json:"annotator"` // nil: not said
	Origin     string       `json:"origin"`    // "call", or "file" of a run's column
	KeyID      string       `json:"key_id"`    // the API key or member that put it
	LabelledAt Time         `json:"labelled_at"`
}

// LabelledResult is a result with its labels by question.
type LabelledResult struct {
	ResultID string           `json:"result_id"`
	Ref      *string          `json:"ref"`
	Version  int              `json:"version"`
	Labels   map[string]Label `json:"labels"`
}

// NewLabels are labels to put, by question.
type NewLabels struct {
	Labels    map[string]LabelValue `json:"labels"`
	Sample    LabelSample           `json:"sample,omitempty"` // as the queue says
	Annotator string                `json:"annotator,omitempty"`
}

// PutLabels replaces labels of a result, removes those whose value is "", and returns all that it has then. A failed result is
// ErrConflict.
func (c *Client) PutLabels(ctx context.Context, resultID string, l NewLabels, options ...CallOption) (LabelledResult, error) {
	k := request("putLabels", http.MethodPut, "results", resultID, "labels")
	k.body = l
	return fetch[LabelledResult](ctx, c, k, options)
}

// ReadLabels reads the labels of a result.
func (c *Client) ReadLabels(ctx context.Context, resultID string, options ...CallOption) (LabelledResult, error) {
	return fetch[LabelledResult](ctx, c, request("readLabels", http.MethodGet, "results", resultID, "labels"), options)
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

// AddedLabels is what became of many labels.
type AddedLabels struct {
	Labelled int            `json:"labelled"`
	NotFound []int          `json:"not_found"` // positions, from 0
	Invalid  []InvalidLabel `json:"invalid"`
}

// InvalidLabel is a label that was not stored, and why.
type InvalidLabel struct {
	Index   int    `json:"index"` // from 0
	Message string `json:"message"`
}

// AddLabels labels many results of a prism. It stores every valid label; the response names the others. The call is idempotent.
func (c *Client) AddLabels(ctx context.Context, prism string, l ManyLabels, options ...CallOption) (AddedLabels, error) {
	k := request("addLabels", http.MethodPost, "prisms", prism, "labels").idempotent()
	k.body = l
	return fetch[AddedLabels](ctx, c, k, options)
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
	k := request("listLabels", http.MethodGet, "prisms", prism, "labels").where(f.query(o))
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
	if q.Order != "" {
		query.Set("order", string(q.Order))
	}
	k := request("listLabelQueue", http.MethodGet, "prisms", prism, "label-queue").where(query)
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
