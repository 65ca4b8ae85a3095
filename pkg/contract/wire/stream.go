package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"go.opentelemetry.io/otel/propagation"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/pkg/telemetry"
)

// newStream makes the client of responses that are read while they arrive. The client is of net/http, which cancels with
// the context and reports a body that was cut short; fasthttp does neither.
func newStream(conns int, d dialer) *http.Transport {
	return &http.Transport{
		// The address is an http one for the Transport: the dialer makes the TLS.
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			conn, _, err := d.dial(ctx, addr, 0)
			return conn, err
		},
		// An export may take as long as its reader does; only its first byte has a bound.
		ResponseHeaderTimeout: defaultTimeout,
		MaxConnsPerHost:       conns,
		IdleConnTimeout:       idleTime,
		DisableCompression:    true,
	}
}

// open makes a look-up and returns as soon as the response's header has arrived. The caller reads and closes the body.
func (c *client) open(ctx context.Context, path string, args any) (contract.Stream, error) {
	body, err := strictjson.Marshal(args)
	if err != nil {
		return contract.Stream{}, fmt.Errorf("wire: %w", err)
	}
	stream, err := contract.Stream{}, errToken
	for _, t := range c.tokens.list.Get() {
		if stream, err = c.openWith(ctx, path, body, t); !errors.Is(err, errToken) {
			break
		}
	}
	return stream, err
}

func (c *client) openWith(ctx context.Context, path string, body []byte, t token) (contract.Stream, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.host.Addr+path, bytes.NewReader(body))
	if err != nil {
		return contract.Stream{}, fmt.Errorf("wire: %w", err)
	}
	req.Header.Set("Content-Type", contentJSON)
	req.Header.Set("Authorization", t.authorization)
	req.Header.Set(headerRequestID, telemetry.RequestID(ctx))
	req.Header.Set(headerAccount, fair.Account(ctx))
	c.propagator.Inject(ctx, propagation.HeaderCarrier(req.Header))
	resp, err := c.stream.RoundTrip(req)
	if err != nil {
		return contract.Stream{}, errors.Join(contract.ErrUnavailable, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer func() { _ = resp.Body.Close() }()
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		return contract.Stream{}, decodeError(resp.StatusCode, body)
	}
	return contract.Stream{ContentType: resp.Header.Get("Content-Type"), Body: resp.Body}, nil
}
