package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/telemetry"
)

const (
	// streamIdle bounds the wait for the next bytes of a stream. It exceeds idleTime and defaultTimeout together, because the
	// reading of a kept connection begins before the next request does.
	streamIdle = time.Minute
	// streamBuffer is the kernel's receive buffer of a stream, which would else grow to several MiB while its reader stalls.
	streamBuffer = 256 << 10
)

// errStreams is a stream beyond ClientConfig.MaxStreams.
var errStreams = fmt.Errorf("%w: too many streams", contract.ErrUnavailable)

// newStream makes the client of responses that are read while they arrive. The client is of net/http, which cancels with
// the context and reports a body that was cut short; fasthttp does neither.
func newStream(d dialer) *http.Transport {
	return &http.Transport{
		// The address is an http one for the Transport: the dialer makes the TLS.
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			conn, socket, err := d.dial(ctx, addr, 0)
			if err != nil {
				return nil, err
			}
			if tcp, ok := socket.(*net.TCPConn); ok {
				_ = tcp.SetReadBuffer(streamBuffer)
			}
			return patient{conn}, nil
		},
		// An export may take as long as its reader does; only its first byte has a bound.
		ResponseHeaderTimeout: defaultTimeout,
		IdleConnTimeout:       idleTime,
		DisableCompression:    true,
	}
}

// patient is a connection of which no read waits for ever.
type patient struct{ net.Conn }

func (p patient) Read(b []byte) (int, error) {
	if err := p.SetReadDeadline(time.Now().Add(streamIdle)); err != nil {
		return 0, err
	}
	return p.Conn.Read(b)
}

// open makes a look-up and returns as soon as the response's header has arrived. The caller reads and closes the body. From
// then on the call counts for the account that the service has found.
func (c *client) open(ctx context.Context, path string, args any) (contract.Stream, error) {
	body, err := marshalRequest(args)
	if err != nil {
		return contract.Stream{}, fmt.Errorf("wire: %w", err)
	}
	select {
	case c.streams <- struct{}{}:
	default:
		return contract.Stream{}, errStreams
	}
	release := sync.OnceFunc(func() { <-c.streams })
	var stream contract.Stream
	send := func(t token) error {
		return c.untilTaken(func() (err error) {
			stream, err = c.openWith(ctx, path, body, t)
			return err
		})
	}
	if err := untilReceived(func() error { return c.withToken(send) }); err != nil {
		release()
		return contract.Stream{}, err
	}
	stream.Body = counted{stream.Body, release}
	return stream, nil
}

// counted is a stream's body that releases its place when it is closed.
type counted struct {
	io.ReadCloser
	release func()
}

func (c counted) Close() error {
	defer c.release()
	return c.ReadCloser.Close()
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
		return contract.Stream{}, transportError(err)
	}
	if refuses(resp.StatusCode, resp.Close) {
		_ = resp.Body.Close()
		return contract.Stream{}, errRefused
	}
	if resp.StatusCode != http.StatusOK {
		defer func() { _ = resp.Body.Close() }()
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		return contract.Stream{}, decodeError(resp.StatusCode, body)
	}
	if account := resp.Header.Get(headerAccount); account != "" {
		fair.Identify(ctx, account)
	}
	return contract.Stream{ContentType: resp.Header.Get("Content-Type"), Body: resp.Body}, nil
}
