package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/prism-results/prism/test/internal/history"
)

// callBudget is longer than any call may take: 35 s of waiting for other calls, 15 s for the model, 10 s for saving
// (spec: wait-limit, model-wait, saving-after-the-model).
const callBudget = 75 * time.Second

// Result is the body of a result in format json or raw.
type Result struct {
	ID        string          `json:"id"`
	Ref       *string         `json:"ref"`
	Prism     string          `json:"prism"`
	Version   int             `json:"version"`
	Status    history.Status  `json:"status"`
	Error     *string         `json:"error"`
	TookMS    int64           `json:"took_ms"`
	CreatedAt string          `json:"created_at"`
	Answers   json.RawMessage `json:"answers"`
}

// keep is how long an unused connection is kept: shorter than the time for which a stopping gateway still serves, because a
// gateway cannot announce its end on an unused connection.
const keep = 10 * time.Second

// Client calls Prism.
type Client struct {
	http     *http.Client
	turnover int64
	sent     atomic.Int64
}

// NewClient makes a client with at most so many connections to each server. Each nth request of turnover is the last one of its
// connection; 0 means none.
func NewClient(conns int, turnover int64) *Client {
	return &Client{turnover: turnover, http: &http.Client{
		Timeout: callBudget,
		Transport: &http.Transport{
			MaxIdleConnsPerHost: conns, MaxConnsPerHost: conns, DisableCompression: true, IdleConnTimeout: keep,
			DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Request is one HTTP call. Body is sent as JSON.
type Request struct {
	Method, URL, Key string
	Body             any
	Format           string
}

// Reply is a response, or the error of a call without a response.
type Reply struct {
	Status int
	Body   []byte
	Err    error
}

// Close drops the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Insist sends a request again while the response is the 503 that took nothing, as on a busy machine, until ctx ends.
func (c *Client) Insist(ctx context.Context, in Request) Reply {
	for {
		if r := c.Do(ctx, in); !r.Unavailable() || !Wait(ctx, 100*time.Millisecond) {
			return r
		}
	}
}

// Do sends a request once.
func (c *Client) Do(ctx context.Context, in Request) Reply {
	var body io.Reader
	if in.Body != nil {
		b, err := json.Marshal(in.Body)
		if err != nil {
			return Reply{Err: err}
		}
		body = bytes.NewReader(b)
	}
	url := in.URL
	if in.Format != "" {
		url += "?format=" + in.Format
	}
	req, err := http.NewRequestWithContext(ctx, in.Method, url, body)
	if err != nil {
		return Reply{Err: err}
	}
	req.Header.Set("Authorization", "Bearer "+in.Key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Close = c.turnover > 0 && c.sent.Add(1)%c.turnover == 0
	resp, err := c.http.Do(req)
	if err != nil {
		return Reply{Err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return Reply{Err: err}
	}
	return Reply{Status: resp.StatusCode, Body: b}
}

var retriedAs = regexp.MustCompile(`^This result was already retried as ([0-9a-f-]{36})\.$`)

// unavailable is the body of the 503 (spec: error-service-unavailable).
const unavailable = `{"statusCode":503,"error":"Service Unavailable","message":"Service Unavailable"}`

// read classifies the reply to a create, a retry or a read. A reply that the specification does not have is an error.
func (r Reply) read(kind history.Kind) (history.Response, *Result, error) {
	if r.Err != nil {
		return history.Response{Meaning: unanswered(r.Err)}, nil, nil //nolint:nilerr // a lost response is an outcome too
	}
	switch r.Status {
	case http.StatusOK, http.StatusBadGateway:
		return r.result(kind)
	case http.StatusServiceUnavailable:
		if !r.Unavailable() {
			return history.Response{}, nil, r.unknown()
		}
		return history.Response{Meaning: history.Nothing}, nil, nil
	}
	code, message := r.Error()
	switch by := r.RetriedAs(); fmt.Sprint(r.Status, code) {
	case "500internal_error": // what a read has changed is never unknown
		if kind != history.Read {
			return history.Response{Meaning: history.Unknown}, nil, nil
		}
	case "404not_found":
		if message == "Result not found" && kind != history.Create {
			return history.Response{Meaning: history.NotFound}, nil, nil
		}
	case "409conflict":
		switch {
		case kind == history.Create && message == "This idempotency key was already used for another prism.":
			return history.Response{Meaning: history.OtherPrism}, nil, nil
		case kind == history.Retry && message == "Only a failed result can be retried.":
			return history.Response{Meaning: history.Succeeded}, nil, nil
		case kind == history.Retry && by != "":
			return history.Response{Meaning: history.Retried, By: by}, nil, nil
		}
	}
	return history.Response{}, nil, r.unknown()
}

func (r Reply) unknown() error {
	if r.Err != nil {
		return r.Err
	}
	return fmt.Errorf("a response that the specification does not have: %d %s", r.Status, r.Body)
}

// Unavailable tells whether the response is the 503 of a service that took nothing.
func (r Reply) Unavailable() bool {
	var got, want map[string]any
	_ = json.Unmarshal([]byte(unavailable), &want)
	return r.Status == http.StatusServiceUnavailable && json.Unmarshal(r.Body, &got) == nil && fmt.Sprint(got) == fmt.Sprint(want)
}

// Error is the error in the response; both are empty when the response holds none.
func (r Reply) Error() (code, message string) {
	var body struct {
		Error struct{ Code, Message string }
	}
	_ = json.Unmarshal(r.Body, &body)
	return body.Error.Code, body.Error.Message
}

// RetriedAs is the result that a 409 names.
func (r Reply) RetriedAs() string {
	_, message := r.Error()
	if by := retriedAs.FindStringSubmatch(message); by != nil && r.Status == http.StatusConflict {
		return by[1]
	}
	return ""
}

// Result is the result in the response, or the zero value.
func (r Reply) Result() (res Result) {
	if json.Unmarshal(r.Body, &res) != nil {
		return Result{}
	}
	return res
}

func (r Reply) String() string {
	if r.Err != nil {
		return "nothing: " + r.Err.Error()
	}
	return fmt.Sprintf("%d %s", r.Status, r.Body)
}

func (r Reply) result(kind history.Kind) (history.Response, *Result, error) {
	var res Result
	if err := json.Unmarshal(r.Body, &res); err != nil {
		return history.Response{}, nil, r.unknown()
	}
	status := http.StatusOK
	if res.Status == history.Failed && kind != history.Read {
		status = http.StatusBadGateway
	}
	ok := res.Status == history.OK && res.Error == nil && string(res.Answers) != "null"
	failed := res.Status == history.Failed && res.Error != nil && string(res.Answers) == "null"
	if r.Status != status || !ok && !failed || res.ID == "" || res.Ref == nil {
		return history.Response{}, nil, r.unknown()
	}
	return history.Response{
		Meaning: history.Result, ID: res.ID, Status: res.Status, Prism: res.Prism, Ref: *res.Ref,
	}, &res, nil
}

// unanswered tells a call that was never sent from a lost response.
func unanswered(err error) history.Meaning {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return history.Nothing
	}
	return history.Unknown
}
