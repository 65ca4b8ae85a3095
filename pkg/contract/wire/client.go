package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/pkg/telemetry"
)

// ClientConfig is where a service is and how it is called.
type ClientConfig struct {
	// URL is http://host:port.
	URL string
	// Token is shown with every call.
	Token string
	// MaxConns bounds the connections to the service; 512 when 0.
	MaxConns int
}

// ClientDeps may all be nil.
type ClientDeps struct {
	Tracer     trace.TracerProvider
	Propagator propagation.TextMapPropagator
}

// idleTime is how long a connection is kept unused: less than the server keeps it, which is a minute.
const idleTime = 30 * time.Second

type client struct {
	cfg        ClientConfig
	links      *links
	host       *fasthttp.HostClient // for services that carry no links
	stream     *http.Client         // for responses that are read while they arrive
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
}

func newClient(cfg ClientConfig, deps ClientDeps) (*client, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Scheme != "http" || u.Host == "" || (u.Path != "" && u.Path != "/") {
		return nil, errors.New("wire: a service's address has the form http://host:port")
	}
	if cfg.MaxConns == 0 {
		cfg.MaxConns = 512
	}
	if deps.Propagator == nil {
		deps.Propagator = propagation.NewCompositeTextMapPropagator()
	}
	c := &client{cfg: cfg, propagator: deps.Propagator}
	if deps.Tracer != nil {
		c.tracer = deps.Tracer.Tracer("github.com/prism-results/prism/pkg/contract/wire")
	}
	c.host = newHost(u.Host, cfg.MaxConns)
	c.links = newLinks(c.host.Addr, cfg.Token)
	c.stream = &http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) { return dial(ctx, addr) },
			// An export may take as long as its reader does; only its first byte has a bound.
			ResponseHeaderTimeout: defaultTimeout,
			MaxConnsPerHost:       cfg.MaxConns,
			IdleConnTimeout:       idleTime,
			DisableCompression:    true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

func newHost(addr string, conns int) *fasthttp.HostClient {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		addr = net.JoinHostPort(addr, "80")
	}
	return &fasthttp.HostClient{
		Addr:                          addr,
		MaxConns:                      conns,
		MaxConnWaitTimeout:            200 * time.Millisecond, // a full pool is a queue, and queues are bounded
		MaxIdleConnDuration:           idleTime,
		NoDefaultUserAgentHeader:      true,
		DisableHeaderNamesNormalizing: false,
		DisablePathNormalizing:        true,
		Dial: func(addr string) (net.Conn, error) {
			conn, err := dial(context.Background(), addr) //nolint:forbidigo // fasthttp has no context here; the dialer has a bound
			if err != nil {
				return nil, err
			}
			return newChecked(conn), nil
		},
		// Nothing is sent twice behind its caller's back, but what was not sent at all may go another way.
		RetryIfErr: func(_ *fasthttp.Request, _ int, err error) (bool, bool) { return false, errors.Is(err, errStale) },
	}
}

// dialError is a connection that was never made: the service took nothing.
type dialError struct{ error }

// dialer gives up early: a service in the same cluster answers at once or not at all.
var dialer = net.Dialer{Timeout: time.Second}

func dial(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, dialError{err}
	}
	return conn, nil
}

// errStale is a kept connection whose server went away before the call was sent.
var errStale = errors.New("stale connection")

func (c *client) close() {
	c.links.close()
	c.host.CloseIdleConnections()
	c.stream.CloseIdleConnections()
}

// post makes one call.
func (c *client) post(ctx context.Context, path string, args any) (a answer, err error) {
	if c.tracer != nil {
		var span trace.Span
		ctx, span = c.tracer.Start(ctx, "POST "+path, trace.WithSpanKind(trace.SpanKindClient))
		defer func() { endSpan(span, err) }()
	}
	body, err := strictjson.Marshal(args)
	if err != nil {
		return answer{}, fmt.Errorf("wire: %w", err)
	}
	timeout := defaultTimeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(time.Until(deadline), maxTimeout)
	} else {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	if timeout <= 0 || ctx.Err() != nil {
		return answer{}, contract.ErrUnavailable // nothing was sent
	}
	a, err = c.linked(ctx, path, timeout, body)
	if errors.Is(err, errPlain) {
		a, err = c.plain(ctx, path, timeout, body)
	}
	switch {
	case err != nil:
		return answer{}, transportError(err)
	case a.status != http.StatusOK:
		return answer{}, decodeError(a.status, a.body)
	}
	return a, nil
}

// linked makes the call on a shared connection. Nothing is sent twice, but what was not sent at all may go another way.
func (c *client) linked(ctx context.Context, path string, timeout time.Duration, body []byte) (a answer, err error) {
	head := callHead{path: path, timeout: max(timeout, time.Millisecond), requestID: telemetry.RequestID(ctx)}
	c.propagator.Inject(ctx, &head.headers)
	raw := head.bytes()
	for range 2 {
		l, err := c.links.get(ctx)
		if err != nil {
			return answer{}, err
		}
		if a, err = l.call(ctx, raw, body); !errors.Is(err, errStale) {
			return a, err
		}
	}
	return answer{}, errStale
}

// plain makes the call as a request of its own.
func (c *client) plain(ctx context.Context, path string, timeout time.Duration, body []byte) (answer, error) {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.Header.SetMethod(fasthttp.MethodPost)
	req.SetRequestURI(path)
	req.Header.SetHost(c.host.Addr)
	req.Header.SetContentType(contentJSON)
	req.Header.Set(fasthttp.HeaderAuthorization, "Bearer "+c.cfg.Token)
	req.Header.Set(headerTimeout, strconv.FormatInt(timeout.Milliseconds(), 10))
	req.Header.Set(headerRequestID, telemetry.RequestID(ctx))
	c.propagator.Inject(ctx, carrier{&req.Header})
	req.SetBodyRaw(body)
	if err := c.host.DoTimeout(req, resp, timeout); err != nil {
		return answer{}, err
	}
	return answer{
		status:      resp.StatusCode(),
		failed:      len(resp.Header.Peek(headerFailed)) > 0,
		contentType: string(resp.Header.ContentType()),
		body:        append([]byte(nil), resp.Body()...),
	}, nil
}

// transportError tells a service that took nothing from a call that was lost on the way.
func transportError(err error) error {
	var d dialError
	if errors.As(err, &d) || errors.Is(err, errStale) || errors.Is(err, fasthttp.ErrNoFreeConns) || errors.Is(err, contract.ErrUnavailable) {
		return errors.Join(contract.ErrUnavailable, err)
	}
	return errors.Join(errLost, err)
}

func callJSON[A any](ctx context.Context, c *client, path string, args any) (found A, err error) {
	a, err := c.post(ctx, path, args)
	if err != nil {
		return found, err
	}
	if err := strictjson.Unmarshal(a.body, &found); err != nil {
		return found, errors.Join(errFault, err)
	}
	return found, nil
}

func callDocument(ctx context.Context, c *client, path string, args any) (contract.Response, error) {
	a, err := c.post(ctx, path, args)
	if err != nil {
		return contract.Response{}, err
	}
	return contract.Response{ContentType: a.contentType, Body: a.body, Failed: a.failed}, nil
}

// callStream returns as soon as the response's header is there; its body is read on by the caller, who closes it. It goes
// through net/http, which cancels with the context and reports a body that was cut short.
func callStream(ctx context.Context, c *client, path string, args any) (contract.Stream, error) {
	body, err := strictjson.Marshal(args)
	if err != nil {
		return contract.Stream{}, fmt.Errorf("wire: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.host.Addr+path, bytes.NewReader(body))
	if err != nil {
		return contract.Stream{}, fmt.Errorf("wire: %w", err)
	}
	req.Header.Set("Content-Type", contentJSON)
	req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	req.Header.Set(headerRequestID, telemetry.RequestID(ctx))
	c.propagator.Inject(ctx, propagation.HeaderCarrier(req.Header))
	resp, err := c.stream.Do(req)
	if err != nil {
		return contract.Stream{}, transportError(err)
	}
	if resp.StatusCode != http.StatusOK {
		defer func() { _ = resp.Body.Close() }()
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		return contract.Stream{}, decodeError(resp.StatusCode, body)
	}
	return contract.Stream{ContentType: resp.Header.Get("Content-Type"), Body: resp.Body}, nil
}

// carrier lets the propagator write headers.
type carrier struct{ h *fasthttp.RequestHeader }

func (c carrier) Get(key string) string { return string(c.h.Peek(key)) }
func (c carrier) Set(key, value string) { c.h.Set(key, value) }
func (c carrier) Keys() []string        { return nil }
