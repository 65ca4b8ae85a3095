package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"
	"time"
)

// Keep is the default time for which an unused connection is kept. It is shorter than the time for which a stopping gateway
// still serves, because a gateway cannot announce its end on an unused connection.
const Keep = 10 * time.Second

const (
	// callBudget is longer than any call may take: 35 s for others, 15 s for the model, 10 s for saving.
	callBudget = 75 * time.Second
	// turnover is how many requests there are to one that is the last of its connection, so that new replicas get some.
	turnover = 10
)

// Client calls one Prism with one key.
type Client struct {
	url, key string
	http     *http.Client

	sent     atomic.Int64
	opened   atomic.Int64 // connections
	replayed atomic.Int64 // requests that went over another connection than the first one
}

// NewClient makes a client of the Prism at url. keep is the time for which unused connections are kept.
func NewClient(url, key string, keep time.Duration) *Client {
	return &Client{url: url, key: key, http: &http.Client{
		Timeout: callBudget,
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			MaxIdleConns:        1024,
			MaxIdleConnsPerHost: 1024,
			IdleConnTimeout:     keep,
			DisableCompression:  true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close drops the connections that are kept.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// reply is a response, or the error of a call without a response.
type reply struct {
	status      int
	contentType string
	body        []byte
	err         error
}

func (c *Client) do(ctx context.Context, method, path string, body any) reply {
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return reply{err: err}
		}
		in = bytes.NewReader(b)
	}
	var conns atomic.Int64
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		if conns.Add(1) == 2 {
			c.replayed.Add(1)
		}
		if !got.Reused {
			c.opened.Add(1)
		}
	}})
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, in)
	if err != nil {
		return reply{err: err}
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Close = c.sent.Add(1)%turnover == 0
	resp, err := c.http.Do(req)
	if err != nil {
		return reply{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return reply{status: resp.StatusCode, contentType: resp.Header.Get("Content-Type"), body: b, err: err}
}

// unanswered names the reason of a call without a response.
func unanswered(err error) string {
	var dns *net.DNSError
	var timed net.Error
	switch {
	case errors.As(err, &dns):
		return "name not found"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	case errors.As(err, &timed) && timed.Timeout():
		return "timeout"
	}
	return "no response"
}
