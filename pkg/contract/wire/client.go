package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/pkg/telemetry"
)

// ClientConfig is the address of a service and how to call it.
type ClientConfig struct {
	// URL is http://host:port.
	URL string
	// Token is sent with every call.
	Token string
	// MaxConns bounds the connections to the service, and so the calls at once; 512 when 0.
	MaxConns int
}

// ClientDeps may all be nil.
type ClientDeps struct {
	Tracer     trace.TracerProvider
	Propagator propagation.TextMapPropagator
}

const (
	// idleTime is how long an unused connection is kept. It is well below the 75 s of the server, so that the client closes
	// first and never sends into a connection that is being closed.
	idleTime = 30 * time.Second
	// connAge is how long a connection is used. Each new connection through a Kubernetes Service goes to a random Pod, so
	// new Pods get their share of the calls within this time.
	connAge = time.Minute
	// dialTime bounds connecting: a service in the same cluster accepts at once or not at all.
	dialTime = time.Second
	// poolWait bounds waiting for one of MaxConns connections.
	poolWait = 200 * time.Millisecond
)

// client calls the methods of one service.
type client struct {
	token      string
	host       *fasthttp.HostClient
	stream     *http.Client // for responses that are read while they arrive
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
	c := &client{token: cfg.Token, host: newHost(u.Host, cfg.MaxConns), propagator: deps.Propagator}
	if deps.Tracer != nil {
		c.tracer = deps.Tracer.Tracer("github.com/prism-results/prism/pkg/contract/wire")
	}
	c.stream = newStream(cfg.MaxConns)
	return c, nil
}

func newHost(addr string, conns int) *fasthttp.HostClient {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		addr = net.JoinHostPort(addr, "80")
	}
	return &fasthttp.HostClient{
		Addr:                     addr,
		MaxConns:                 conns,
		MaxConnWaitTimeout:       poolWait,
		MaxIdleConnDuration:      idleTime,
		MaxConnDuration:          connAge,
		NoDefaultUserAgentHeader: true,
		DisablePathNormalizing:   true,
		DialTimeout: func(addr string, timeout time.Duration) (net.Conn, error) {
			if timeout <= 0 || timeout > dialTime {
				timeout = dialTime
			}
			ctx, cancel := context.WithTimeout(context.Background(), timeout) //nolint:forbidigo // fasthttp has no context here
			defer cancel()
			conn, err := dial(ctx, "tcp", addr)
			if err != nil {
				return nil, err
			}
			return newChecked(conn), nil
		},
		// A request that was not sent is sent on the next connection. Nothing else is sent twice here. The pool may hold as
		// many connections to a server that has gone as there are connections.
		MaxIdemponentCallAttempts: conns + 1,
		RetryIfErr: func(_ *fasthttp.Request, _ int, err error) (bool, bool) {
			var n notSentError
			return false, errors.As(err, &n)
		},
	}
}

func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTime}
	conn, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, notSentError{err}
	}
	return conn, nil
}

// notSentError is a connection on which no byte of the request was sent: the service did not take the call.
type notSentError struct{ error }

func (e notSentError) Unwrap() error { return e.error }

func (c *client) close() {
	c.host.CloseIdleConnections()
	c.stream.CloseIdleConnections()
}

// response is what a call returned: a result of the method, or an error as encodeError makes it.
type response struct {
	status      int
	failed      bool
	contentType string
	body        []byte
	closed      bool // the server closes the connection behind it
}

// refused tells whether the server closes the connection and did not take the call: a stopping server, or one without
// room for the connection.
func (r response) refused() bool {
	return r.closed && (r.status == http.StatusServiceUnavailable || r.status == http.StatusRequestTimeout)
}

// lookUp makes a call that changes nothing. A response that was lost is asked for once more; when the second is lost too,
// nothing has happened.
func (c *client) lookUp(ctx context.Context, path string, args any) (response, error) {
	r, err := c.call(ctx, path, args)
	if errors.Is(err, errLost) && !errors.Is(err, fasthttp.ErrTimeout) {
		r, err = c.call(ctx, path, args)
	}
	if errors.Is(err, errLost) {
		err = errors.Join(contract.ErrUnavailable, err)
	}
	return r, err
}

// call makes one call. When a response was lost, the error is errLost and nobody knows whether the call took effect.
func (c *client) call(ctx context.Context, path string, args any) (r response, err error) {
	if c.tracer != nil {
		var span trace.Span
		ctx, span = c.tracer.Start(ctx, "POST "+path, trace.WithSpanKind(trace.SpanKindClient))
		defer func() { endSpan(span, err) }()
	}
	body, err := strictjson.Marshal(args)
	if err != nil {
		return response{}, fmt.Errorf("wire: %w", err)
	}
	deadline := time.Now().Add(defaultTimeout)
	if d, ok := ctx.Deadline(); ok {
		deadline = d
	}
	r, err = c.send(ctx, path, body, deadline)
	if err == nil && r.refused() {
		// Other idle connections may lead to the same stopping server. A new one leads to another server, if there is one.
		c.host.CloseIdleConnections()
		r, err = c.send(ctx, path, body, deadline)
	}
	switch {
	case err != nil:
		return response{}, err
	case r.status != http.StatusOK:
		return response{}, decodeError(r.status, r.body)
	}
	return r, nil
}

// send makes one HTTP request.
func (c *client) send(ctx context.Context, path string, body []byte, deadline time.Time) (response, error) {
	timeout := min(time.Until(deadline), maxTimeout)
	if timeout <= 0 || ctx.Err() != nil {
		return response{}, contract.ErrUnavailable // nothing was sent
	}
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.Header.SetMethod(fasthttp.MethodPost)
	req.SetRequestURI(path)
	req.Header.SetHost(c.host.Addr)
	req.Header.SetContentType(contentJSON)
	req.Header.Set(fasthttp.HeaderAuthorization, "Bearer "+c.token)
	req.Header.Set(headerTimeout, strconv.FormatInt(max(timeout.Milliseconds(), 1), 10))
	req.Header.Set(headerRequestID, telemetry.RequestID(ctx))
	c.propagator.Inject(ctx, carrier{&req.Header})
	req.SetBodyRaw(body)
	if err := c.host.DoTimeout(req, resp, timeout); err != nil {
		return response{}, transportError(err)
	}
	return response{
		status:      resp.StatusCode(),
		failed:      len(resp.Header.Peek(headerFailed)) > 0,
		contentType: string(resp.Header.ContentType()),
		body:        append([]byte(nil), resp.Body()...),
		closed:      resp.ConnectionClose(),
	}, nil
}

// transportError tells a call that the service did not take from a lost response.
func transportError(err error) error {
	var n notSentError
	if errors.As(err, &n) || errors.Is(err, fasthttp.ErrNoFreeConns) {
		return errors.Join(contract.ErrUnavailable, err)
	}
	return errors.Join(errLost, err)
}

// decode reads the JSON of a response.
func decode[A any](r response, err error) (found A, _ error) {
	if err != nil {
		return found, err
	}
	if err := strictjson.Unmarshal(r.body, &found); err != nil {
		return found, errors.Join(errFault, err)
	}
	return found, nil
}

// passOn is a response as it travels on to the caller of Prism.
func passOn(r response, err error) (contract.Response, error) {
	if err != nil {
		return contract.Response{}, err
	}
	return contract.Response{ContentType: r.contentType, Body: r.body, Failed: r.failed}, nil
}

// endSpan marks a call that failed. Errors of the catalogue are responses, not failures.
func endSpan(span trace.Span, err error) {
	if errors.Is(err, errFault) || errors.Is(err, errLost) || errors.Is(err, contract.ErrUnavailable) {
		span.SetStatus(codes.Error, "internal call failed")
	}
	span.End()
}

// carrier lets the propagator write headers.
type carrier struct{ h *fasthttp.RequestHeader }

func (c carrier) Get(key string) string { return string(c.h.Peek(key)) }
func (c carrier) Set(key, value string) { c.h.Set(key, value) }
func (c carrier) Keys() []string        { return nil }
