package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/api"
)

// NewIdempotencyKey makes a key that no other call has. Keep the key as long as you may repeat the call: a repeat with the
// same key returns the stored result, or retries it if it failed.
func NewIdempotencyKey() string { return rand.Text() }

// CreateResult answers a text through a prism, given by its slug or id, and saves the result. If the model gives no usable
// answer, the error is a *FailedError with the saved result.
func (c *Client) CreateResult(ctx context.Context, prism string, r NewResult, options ...CallOption) (Result, error) {
	k := declared(api.CreateResult, prism).sending(r)
	k.timeout, k.repeatable = AnswerTimeout, r.IdempotencyKey != ""
	return c.result(ctx, k, options)
}

// result makes a call and reads the result in the format of the call.
func (c *Client) result(ctx context.Context, k call, options []CallOption) (r Result, err error) {
	k = k.formatted().with(options)
	err = c.do(ctx, k, func(b *body) error {
		text, err := b.all()
		switch {
		case err != nil:
			return err
		case k.format.Tabular():
			r = Result{Body: text}
			return b.checkType(mediaTypes[string(k.format)])
		}
		if err = b.decode(k, text, &r); k.asked {
			r.Body = text
		}
		return err
	})
	return r, err
}

// ReadResult reads a saved result, also a failed one. It does not call the model.
func (c *Client) ReadResult(ctx context.Context, id string, options ...CallOption) (Result, error) {
	return c.result(ctx, declared(api.ReadResult, id), options)
}

// RetryResult sends a failed result's fields to the model again and saves a new result, to which the idempotency key moves. A
// result can be retried once; the second retry is ErrConflict. If the model fails again, the error is a *FailedError with the
// new result, which can be retried in turn.
func (c *Client) RetryResult(ctx context.Context, id string, options ...CallOption) (Result, error) {
	k := declared(api.RetryResult, id)
	k.timeout = AnswerTimeout
	return c.result(ctx, k, options)
}

// ResultFilter selects the results of a list; an empty member selects all.
type ResultFilter struct {
	Prism    string // the slug or id
	Status   Status
	Ref      string
	EmptyRef bool // only results whose ref is ""
	Version  int
	From     time.Time // only results created then or later
	To       time.Time // only results created before then
	Model    string    // only results of this configured model
	KeyID    string    // only results of calls with this API key
	Run      string    // only results of this file run, in the order of its rows
	Assignee string    // only results of this member, "me", or "none"
	Fields   bool      // whether each result has its Fields and Context
	ResultSearch
	Sort string // the order, such as "-refund"; see the description of the API
}

// Coverage tells what a search did not look at.
type Coverage = api.Coverage

// ResultPage is a part of a list of results. Its Coverage is empty if nothing was searched for.
type ResultPage struct {
	Page[Result]
	Coverage
}

func (f ResultFilter) query(o PageOptions) url.Values {
	q := o.query()
	setSearch(q, f.ResultSearch)
	set(q, "sort", f.Sort)
	set(q, "prism", f.Prism)
	set(q, "status", string(f.Status))
	set(q, "ref", f.Ref)
	if f.EmptyRef {
		q.Set("ref", "")
	}
	if f.Version != 0 {
		q.Set("version", strconv.Itoa(f.Version))
	}
	setTime(q, "from", f.From)
	setTime(q, "to", f.To)
	set(q, "model", f.Model)
	set(q, "key_id", f.KeyID)
	set(q, "assignee", f.Assignee)
	set(q, "run", f.Run)
	if f.Fields {
		q.Set("fields", "true")
	}
	return q
}

// ListResults returns one page of the account's results: newest first, or those of a run in row order, or in the order of Sort.
func (c *Client) ListResults(ctx context.Context, f ResultFilter, o PageOptions, options ...CallOption) (ResultPage, error) {
	return fetch[ResultPage](ctx, c, declared(api.ListResults).where(f.query(o)).formatted(), options)
}

// Results iterates over the account's results in the order of ListResults, and reads a page at a time. An error ends the
// iteration.
func (c *Client) Results(ctx context.Context, f ResultFilter, options ...CallOption) iter.Seq2[Result, error] {
	return pages(func(cursor string) (Page[Result], error) {
		page, err := c.ListResults(ctx, f, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
		return page.Page, err
	})
}

// ResultCounts are how many results match, and how many of them have each value.
type ResultCounts = api.ResultCounts

// ValueCount is how many results have a value.
type ValueCount = api.ValueCount

// CountResults counts the results that match by keys of questions, their labels ("topic@label"), "@version", "@model", "@status" and
// "@labelled". The filter's Fields and Sort mean nothing here.
func (c *Client) CountResults(ctx context.Context, f ResultFilter, by []string, options ...CallOption) (ResultCounts, error) {
	f.Fields, f.Sort = false, ""
	q := f.query(PageOptions{})
	set(q, "by", strings.Join(by, ","))
	return fetch[ResultCounts](ctx, c, declared(api.CountResults).where(q), options)
}

// Export selects results of a prism and a format.
type Export struct {
	Format   Format    // CSV, TSV, JSONL, XLSX or Parquet; CSV when empty
	Status   Status    // only these
	Ref      string    // only results with this ref
	EmptyRef bool      // only results whose ref is ""
	Version  int       // only results of this version
	From     time.Time // only results created then or later
	To       time.Time // only results created before then
	Model    string    // only results of this configured model
	KeyID    string    // only results of calls with this API key
	Assignee string    // only results of this member, "me", or "none"
	Run      string    // only results of this file run
	ResultSearch
	// After selects only results whose id is greater: those behind the result with this id, which need not exist.
	After string
	TextStyle
	// Raw gives Parquet a column of the stored answers with every probability. Parquet takes no After, and the other formats no Raw.
	Raw bool
}

// ExportResults streams the results of a prism, oldest first; csv and tsv begin with one header row. A stream whose
// connection is lost ends with a *ConnectionError, never with io.EOF. The caller closes the stream.
func (c *Client) ExportResults(ctx context.Context, prism string, e Export, options ...CallOption) (io.ReadCloser, error) {
	q := ResultFilter{
		Status: e.Status, Ref: e.Ref, EmptyRef: e.EmptyRef, Version: e.Version, From: e.From, To: e.To, Model: e.Model, KeyID: e.KeyID,
		Run: e.Run, Assignee: e.Assignee, ResultSearch: e.ResultSearch,
	}.query(PageOptions{})
	set(q, "format", string(e.Format))
	set(q, "after", e.After)
	setStyle(q, e.TextStyle)
	setRaw(q, e.Raw)
	return c.stream(ctx, declared(api.ExportResults, prism).where(q), options, mediaTypes[string(cmp.Or(e.Format, CSV))])
}

// ExportSelected streams the results of a prism that have some ids, at most 1,000, oldest first, as CSV when the format is empty. The
// caller closes the stream.
func (c *Client) ExportSelected(ctx context.Context, prism string, ids []string, format Format, options ...CallOption) (io.ReadCloser, error) {
	sent := struct {
		IDs    []string `json:"ids"`
		Format Format   `json:"format,omitempty"`
	}{ids, format}
	return c.stream(ctx, declared(api.ExportSelected, prism).sending(sent), options, mediaTypes[string(cmp.Or(format, CSV))])
}
