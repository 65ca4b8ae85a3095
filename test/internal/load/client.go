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

// client calls one Prism.
type client struct {
	http     *http.Client
	turnover int64
	sent     atomic.Int64
}

func newClient(conns int, turnover int64) *client {
	return &client{turnover: turnover, http: &http.Client{
		Timeout: callBudget,
		Transport: &http.Transport{
			MaxIdleConnsPerHost: conns, MaxConnsPerHost: conns, DisableCompression: true, IdleConnTimeout: keep,
			DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// request is one HTTP call.
type request struct {
	method, url, key string
	body             any
	format           string
}

// reply is a response, or the error of a call without a response.
type reply struct {
	status int
	body   []byte
	err    error
}

func (c *client) do(ctx context.Context, in request) reply {
	var body io.Reader
	if in.body != nil {
		b, err := json.Marshal(in.body)
		if err != nil {
			return reply{err: err}
		}
		body = bytes.NewReader(b)
	}
	url := in.url
	if in.format != "" {
		url += "?format=" + in.format
	}
	req, err := http.NewRequestWithContext(ctx, in.method, url, body)
	if err != nil {
		return reply{err: err}
	}
	req.Header.Set("Authorization", "Bearer "+in.key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Close = c.turnover > 0 && c.sent.Add(1)%c.turnover == 0
	resp, err := c.http.Do(req)
	if err != nil {
		return reply{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{err: err}
	}
	return reply{status: resp.StatusCode, body: b}
}

var retriedAs = regexp.MustCompile(`^This result was already retried as ([0-9a-f-]{36})\.$`)

// unavailable is the body of the 503 (spec: error-service-unavailable).
const unavailable = `{"statusCode":503,"error":"Service Unavailable","message":"Service Unavailable"}`

// read classifies the reply to a create, a retry or a read. A reply that the specification does not have is an error.
func (r reply) read(kind history.Kind) (history.Response, *Result, error) {
	if r.err != nil {
		return history.Response{Meaning: unanswered(r.err)}, nil, nil //nolint:nilerr // a lost response is an outcome too
	}
	switch r.status {
	case http.StatusOK, http.StatusBadGateway:
		return r.result(kind)
	case http.StatusServiceUnavailable:
		return history.Response{Meaning: history.Nothing}, nil, r.unavailable()
	}
	var body struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal(r.body, &body); err != nil {
		return history.Response{}, nil, r.unknown()
	}
	message := body.Error.Message
	switch by := retriedAs.FindStringSubmatch(message); fmt.Sprint(r.status, body.Error.Code) {
	case "500internal_error":
		return history.Response{Meaning: history.Unknown}, nil, nil
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
		case kind == history.Retry && by != nil:
			return history.Response{Meaning: history.Retried, By: by[1]}, nil, nil
		}
	}
	return history.Response{}, nil, r.unknown()
}

func (r reply) unknown() error {
	if r.err != nil {
		return r.err
	}
	return fmt.Errorf("a response that the specification does not have: %d %s", r.status, r.body)
}

func (r reply) unavailable() error {
	var got, want map[string]any
	_ = json.Unmarshal([]byte(unavailable), &want)
	if err := json.Unmarshal(r.body, &got); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		return r.unknown()
	}
	return nil
}

func (r reply) result(kind history.Kind) (history.Response, *Result, error) {
	var res Result
	if err := json.Unmarshal(r.body, &res); err != nil {
		return history.Response{}, nil, r.unknown()
	}
	status := http.StatusOK
	if res.Status == history.Failed && kind != history.Read {
		status = http.StatusBadGateway
	}
	ok := res.Status == history.OK && res.Error == nil && string(res.Answers) != "null"
	failed := res.Status == history.Failed && res.Error != nil && string(res.Answers) == "null"
	if r.status != status || !ok && !failed || res.ID == "" || res.Ref == nil {
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
