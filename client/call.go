package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prism-results/prism/pkg/api"
)

// call is one operation with its request.
type call struct {
	operation string
	method    string
	path      string // below /v1, escaped
	query     url.Values
	body      any                 // JSON; none when nil
	octets    []byte              // the body as it is, in place of JSON
	ifMatch   string              // the ETag; "" for none
	ifLatest  int                 // 0 for none
	taken     *ExamplesFromLabels // nil for none
	dryRun    bool                // adds dry_run to body
	want      int                 // the status of success
	timeout   time.Duration       // of an attempt
	attempts  int                 // at most; 0: those of the client
	meta      *Meta               // nil if it is not asked for
	err       error               // why the call can't be made
	// repeatable calls are idempotent (spec: idempotency-key).
	repeatable bool
	// dryRunAllowed calls can have WithDryRun, and ifUnchangedAllowed calls IfUnchanged.
	dryRunAllowed, ifUnchangedAllowed bool
	// result calls return a result, so a 502 may be a failed result (spec: failed-result-is-not-an-error).
	result bool
	format Format // of results; "" for calls without formats
	asked  bool   // the format was asked for by WithFormat
	// try calls return a Try, also with a 502.
	try bool
	// etag is where the ETag of the response goes; nil for calls without one.
	etag *string
}

// declared is a call of a declared operation, whose path has these parameters.
func declared[In, Out any](op api.Op[In, Out], parameters ...string) call {
	k := call{
		operation: op.Name, method: op.Method, want: op.SuccessStatus(), timeout: Timeout, repeatable: op.Repeatable || op.Method != http.MethodPost,
		ifUnchangedAllowed: op.IfMatch(), dryRunAllowed: op.DryRun(), result: op.Failing && len(op.Media) > 0, try: op.Failing && len(op.Media) == 0,
	}
	for _, segment := range strings.Split(strings.TrimPrefix(op.Path, "/v1/"), "/") {
		if strings.HasPrefix(segment, "{") {
			segment, parameters = parameters[0], parameters[1:]
		}
		k.path += "/" + url.PathEscape(segment)
	}
	return k
}

// sending is the call with a body.
func (k call) sending(body any) call {
	k.body = body
	return k
}

// formatted is a call that returns results, which are Raw unless another format is asked for.
func (k call) formatted() call {
	k.setFormat(Raw)
	return k
}

func (k *call) setFormat(f Format) {
	if k.query == nil {
		k.query = url.Values{}
	}
	k.query.Set("format", string(f))
	k.format = f
}

func (k call) where(q url.Values) call {
	k.query = q
	return k
}

// fetchPrism makes a call whose response is a prism, with its ETag.
func (c *Client) fetchPrism(ctx context.Context, k call, options []CallOption) (p Prism, err error) {
	var etag string
	k.etag = &etag
	p, err = fetch[Prism](ctx, c, k, options)
	p.ETag = etag
	return p, err
}

// fetch makes a call and decodes its JSON response.
func fetch[T any](ctx context.Context, c *Client, k call, options []CallOption) (v T, err error) {
	err = c.do(ctx, k.with(options), func(b *body) error {
		text, err := b.all()
		if err != nil {
			return err
		}
		return b.decode(k, text, &v)
	})
	return v, err
}

// decode reads a response body of JSON.
func (b *body) decode(k call, text []byte, v any) error {
	err := decode(text, v)
	if err == nil {
		return nil
	}
	what := "a response body that is not the expected JSON"
	var lacking *api.LackingError
	if errors.As(err, &lacking) {
		what = "a response without " + lacking.Error()
	}
	return b.unexpected(k.want, what)
}

// checkType returns an error unless the body is of the media type.
func (b *body) checkType(mediaTypes ...string) error {
	if slices.ContainsFunc(mediaTypes, func(t string) bool { return isOf(b.contentType, t) }) {
		return nil
	}
	return b.unexpected(http.StatusOK, "a response body that is not "+strings.Join(mediaTypes, ", "))
}

// unexpected is the error of a response that no Prism sends.
func (b *body) unexpected(status int, problem string) *Error {
	return &Error{
		Operation: b.operation, Status: status, Code: CodeUnexpected, Message: b.server + " sent " + problem, RequestID: b.requestID,
	}
}

// stream makes a call and returns the response body, of one of the media types, unread.
func (c *Client) stream(ctx context.Context, k call, options []CallOption, mediaTypes ...string) (stream io.ReadCloser, err error) {
	err = c.do(ctx, k.with(options), func(b *body) error {
		if err := b.checkType(mediaTypes...); err != nil {
			_ = b.Close()
			return err
		}
		stream = b
		return nil
	})
	return stream, err
}

// The most bytes that are read of a response body.
const (
	maxBody  = 256 << 20 // more than a page of a hundred prisms of 1 MiB
	maxError = 64 << 20  // a failed result
)

// do makes a call, repeats it while that is safe, and passes the body of a success to use, which closes the body.
func (c *Client) do(ctx context.Context, k call, use func(*body) error) error {
	if k.err != nil {
		return k.err
	}
	payload := k.octets
	if k.body != nil {
		if err := notUTF8(k.operation, k.body); err != nil {
			return err
		}
		var err error
		if payload, err = json.Marshal(k.body); err != nil {
			return fmt.Errorf("client: %s: %w", k.operation, err)
		}
		if k.dryRun { // no body is {}
			payload = append([]byte(`{"dry_run":true,`), payload[1:]...)
		}
	}
	if k.meta == nil {
		k.meta = &Meta{}
	}
	*k.meta = Meta{}
	for n := 1; ; n++ {
		k.meta.Attempts = n
		b, err := c.attempt(ctx, k, payload)
		if err == nil {
			err = use(b)
		}
		if err == nil || n >= cmp.Or(k.attempts, c.attempts) || !safeToRepeat(k, err) || !c.pause.wait(ctx, n, RetryAfter(err)) {
			return err
		}
	}
}

// safeToRepeat tells whether a repeat is safe and may help: Prism did nothing (spec: error-service-unavailable), or the call
// is idempotent.
func safeToRepeat(k call, err error) bool {
	var cut *ConnectionError
	if errors.As(err, &cut) {
		return !cut.Sent || k.repeatable
	}
	var refused *Error
	if !errors.As(err, &refused) {
		return false // a failed result is a response
	}
	return refused.Code == CodeUnavailable || k.repeatable && refused.Status >= 500
}

func (c *Client) attempt(ctx context.Context, k call, payload []byte) (*body, error) {
	b := newBody(ctx, k.operation, k.timeout)
	b.server = c.base
	// The request was certainly not sent only if the transport asked for a connection and got none.
	var asked, got atomic.Bool
	ctx = httptrace.WithClientTrace(b.ctx, &httptrace.ClientTrace{
		GetConn: func(string) { asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { got.Store(true) },
	})
	res, err := c.send(ctx, k, payload) //nolint:bodyclose // it is closed with the body that is returned
	if err != nil {
		defer b.stop()
		return nil, &ConnectionError{Operation: k.operation, Sent: got.Load() || !asked.Load(), Err: b.reason(err)}
	}
	b.timer.Stop()
	b.from, b.requestID, b.contentType = res.Body, res.Header.Get("X-Request-Id"), res.Header.Get("Content-Type")
	k.meta.RequestID, k.meta.Status, k.meta.Header = b.requestID, res.StatusCode, res.Header
	if res.StatusCode == k.want {
		if k.etag != nil {
			*k.etag = res.Header.Get("ETag")
		}
		return b, nil
	}
	defer func() { _ = b.Close() }()
	return nil, refusal(k, res, b)
}

func (c *Client) send(ctx context.Context, k call, payload []byte) (*http.Response, error) {
	address := c.base + "/v1" + k.path
	if len(k.query) > 0 {
		address += "?" + k.query.Encode()
	}
	var content io.Reader
	if payload != nil {
		content = bytes.NewReader(payload)
	}
	req, err := http.NewRequestWithContext(ctx, k.method, address, content)
	if err != nil {
		return nil, err
	}
	switch {
	case k.octets != nil:
		req.Header.Set("Content-Type", "application/octet-stream")
	case payload != nil:
		req.Header.Set("Content-Type", "application/json")
	}
	if k.ifMatch != "" {
		req.Header.Set("If-Match", k.ifMatch)
	}
	req.Header.Set("User-Agent", c.agent)
	c.authorize(req.Header)
	return c.http.Do(req)
}

// refusal reads a response that is not a success.
func refusal(k call, res *http.Response, b *body) error {
	e := b.unexpected(res.StatusCode, "a response that is not Prism's")
	if seconds, err := strconv.ParseUint(res.Header.Get("Retry-After"), 10, 31); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	text, err := io.ReadAll(io.LimitReader(b, maxError))
	if err != nil {
		return err
	}
	if k.result && res.StatusCode == http.StatusBadGateway {
		if failed := failedResult(k, b.contentType, text); failed != nil {
			failed.RequestID = b.requestID
			return failed
		}
		return e
	}
	if k.try && res.StatusCode == http.StatusBadGateway {
		failed := &FailedError{Operation: k.operation, Body: text, RequestID: b.requestID}
		if decode(text, &failed.Try) != nil || failed.Try == nil || failed.Try.Status != Failed {
			return e // of a proxy
		}
		return failed
	}
	var outer struct {
		Error      json.RawMessage
		Message    string
		StatusCode int
	}
	if json.Unmarshal(text, &outer) != nil {
		return e
	}
	var inner struct {
		Code    Code
		Message string
	}
	switch {
	case res.StatusCode == http.StatusServiceUnavailable && outer.StatusCode == http.StatusServiceUnavailable &&
		outer.Message == unavailable && string(outer.Error) == `"`+unavailable+`"`:
		e.Code, e.Message = CodeUnavailable, unavailable
	case json.Unmarshal(outer.Error, &inner) == nil && inner.Code != "":
		e.Code, e.Message = inner.Code, inner.Message
	}
	return e
}

// unavailable is the text of both string members of Prism's own 503. The 503 of a proxy has another body, and does not
// mean that Prism did nothing.
const unavailable = "Service Unavailable"

// failedResult reads a 502 of Prism: a result in the requested format. It returns nil for the 502 of a proxy.
func failedResult(k call, contentType string, text []byte) *FailedError {
	failed := &FailedError{Operation: k.operation, Body: text}
	is := isOf(contentType, mediaTypes[string(k.format)])
	if !k.format.Tabular() {
		is = decode(text, &failed.Result) == nil && failed.Result != nil && failed.Result.ID != "" && failed.Result.Status == Failed
	}
	if !is {
		return nil
	}
	return failed
}

// body is a response body. It ends its request when the response, or a read, takes too long; the time between reads does
// not count.
type body struct {
	ctx         context.Context //nolint:containedctx // of the request, which ends with the body
	cancel      context.CancelCauseFunc
	timer       *time.Timer
	operation   string
	server      string // its address
	from        io.ReadCloser
	requestID   string
	contentType string
}

func newBody(ctx context.Context, operation string, limit time.Duration) *body {
	ctx, cancel := context.WithCancelCause(ctx)
	return &body{ctx: ctx, cancel: cancel, timer: time.AfterFunc(limit, func() { cancel(timeoutError{}) }), operation: operation}
}

// Read may take Timeout.
func (b *body) Read(p []byte) (int, error) {
	b.timer.Reset(Timeout)
	n, err := b.from.Read(p)
	b.timer.Stop()
	if err != nil && err != io.EOF {
		err = &ConnectionError{Operation: b.operation, Sent: true, Err: b.reason(err)}
	}
	return n, err
}

func (b *body) Close() error {
	b.stop()
	return b.from.Close()
}

// all reads the rest and closes the body.
func (b *body) all() ([]byte, error) {
	defer func() { _ = b.Close() }()
	return io.ReadAll(io.LimitReader(b, maxBody))
}

func (b *body) stop() {
	b.timer.Stop()
	b.cancel(nil)
}

// reason is err without the address, whose query must not be logged, or the timeout that caused err.
func (b *body) reason(err error) error {
	var late timeoutError
	if errors.As(context.Cause(b.ctx), &late) {
		return late
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	return err
}

// pauses are the times between attempts: each up to twice the previous one, with a random part so that clients that failed
// together do not return together.
type pauses struct {
	first, longest time.Duration
}

// maxRetryAfter is the longest pause that the client makes for a server: beyond it, the caller decides whether to try again.
const maxRetryAfter = time.Minute

// wait makes the pause after attempt n, of at least the time that the server asked for. It returns false if the context ends
// before the pause does. It returns false at once if the context's deadline is before the end of the pause, or if the server
// asks for more than maxRetryAfter.
func (p pauses) wait(ctx context.Context, n int, asked time.Duration) bool {
	if asked > maxRetryAfter {
		return false
	}
	longest := min(p.first<<min(n-1, 16), p.longest)
	pause := max(longest/2, asked) + rand.N(longest/2+1) //nolint:gosec // jitter needs no secrecy
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= pause {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
