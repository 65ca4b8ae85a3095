package wire

import (
	"bytes"
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
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/mtls"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/pkg/telemetry"
)

// ClientConfig is the address of a service and how to call it.
type ClientConfig struct {
	// URL is http://host:port, or https://host:port with TLS.
	URL string
	// TLS is what the client shows to the service, and whom it trusts; nil for http.
	TLS *mtls.Identity
	// Tokens authorise every call.
	Tokens *Tokens
	// MaxConns bounds the connections to the service, and so the calls at once; 512 when 0. Streams have connections of their own.
	MaxConns int
	// MaxStreams bounds the streams at once; 64 when 0. One more is refused at once.
	MaxStreams int
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
	// poolWait bounds waiting for one of MaxConns connections.
	poolWait = 200 * time.Millisecond
)

// client calls the methods of one service.
type client struct {
	tokens     *Tokens
	host       *fasthttp.HostClient
	stream     *http.Transport // for responses that are read while they arrive
	streams    chan struct{}   // holds a token for each stream
	tracer     trace.Tracer    // nil: no spans
	propagator propagation.TextMapPropagator
}

func newClient(cfg ClientConfig, deps ClientDeps) (*client, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || (u.Path != "" && u.Path != "/") {
		return nil, errors.New("wire: a service's address has the form http://host:port or https://host:port")
	}
	d := dialer{}
	if u.Scheme == "https" {
		if cfg.TLS == nil {
			return nil, errors.New("an address with https:// needs PRISM_INTERNAL_TLS_DIR")
		}
		d = dialer{identity: cfg.TLS, name: u.Hostname()}
	}
	addr := u.Host
	if u.Port() == "" {
		addr = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	if cfg.MaxConns == 0 {
		cfg.MaxConns = 512
	}
	if cfg.MaxStreams == 0 {
		cfg.MaxStreams = 64
	}
	if deps.Propagator == nil {
		deps.Propagator = propagation.NewCompositeTextMapPropagator()
	}
	c := &client{
		tokens: cfg.Tokens, host: newHost(addr, cfg.MaxConns, d), stream: newStream(d), streams: make(chan struct{}, cfg.MaxStreams),
		propagator: deps.Propagator,
	}
	if deps.Tracer != nil && !telemetry.Untraced(deps.Tracer) { // the caller's trace goes on without a span
		c.tracer = deps.Tracer.Tracer("github.com/prism-results/prism/pkg/contract/wire")
	}
	return c, nil
}

func newHost(addr string, conns int, d dialer) *fasthttp.HostClient {
	return &fasthttp.HostClient{
		Addr:                     addr,
		MaxConns:                 conns,
		MaxConnWaitTimeout:       poolWait,
		MaxIdleConnDuration:      idleTime,
		MaxConnDuration:          connAge,
		NoDefaultUserAgentHeader: true,
		DisablePathNormalizing:   true,
		DialTimeout: func(addr string, timeout time.Duration) (net.Conn, error) {
			conn, socket, err := d.dial(context.Background(), addr, timeout) //nolint:forbidigo // fasthttp has no context here
			if err != nil {
				return nil, err
			}
			return newChecked(conn, socket), nil
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

// notSentError is a connection on which no byte of the request was sent: the service did not take the call.
type notSentError struct{ error }

// Close closes the idle connections. Calls under way go on.
func (c *client) Close() {
	c.host.CloseIdleConnections()
	c.stream.CloseIdleConnections()
}

// lookUp makes a call that changes nothing. A response that was lost is asked for once more; when the second is lost too,
// nothing has happened. The caller's request holds the response until its own response is sent; without room for the response
// the call was not taken.
func (c *client) lookUp(ctx context.Context, path string, args any) (contract.Response, error) {
	var r contract.Response
	err := untilReceived(func() (err error) {
		r, err = c.call(ctx, path, args)
		return err
	})
	if err == nil && !fair.ReserveResponse(ctx, len(r.Body), false) {
		return contract.Response{}, errNoRoom
	}
	return r, err
}

// untilReceived makes a call that changes nothing, and once more when its response was lost. It does not wait twice for one that
// takes too long.
func untilReceived(call func() error) error {
	err := call()
	var wait interface{ Timeout() bool }
	waited := errors.As(err, &wait) && wait.Timeout()
	if errors.Is(err, errLost) && !waited {
		err = call()
	}
	if errors.Is(err, errLost) {
		err = errors.Join(contract.ErrUnavailable, err)
	}
	return err
}

// errNoRoom is a response that does not fit into httpkit.Config.MaxResponseBytes of the caller.
var errNoRoom = fmt.Errorf("%w: no memory for the response", contract.ErrUnavailable)

// call makes one call. Large arguments are a pointer: others are copied to be encoded. When a response was lost, the error is errLost
// and nobody knows whether the call took effect.
func (c *client) call(ctx context.Context, path string, args any) (r contract.Response, err error) {
	if c.tracer != nil {
		var span trace.Span
		ctx, span = c.tracer.Start(ctx, "POST "+path, trace.WithSpanKind(trace.SpanKindClient))
		defer func() { endSpan(span, err) }()
	}
	var m message
	if m.body, err = marshalRequest(args); err != nil {
		return contract.Response{}, fmt.Errorf("wire: %w", err)
	}
	if w, ok := args.(withOctets); ok {
		m = message{args: m.body, body: *w.octets()}
	}
	deadline := time.Now().Add(defaultTimeout)
	if d, ok := ctx.Deadline(); ok {
		deadline = d
	}
	err = c.withToken(func(t token) error {
		return c.untilTaken(func() error {
			r, err = c.send(ctx, path, m, t, deadline)
			return err
		})
	})
	return r, err
}

// withToken calls send with one token after the other until the service knows one.
func (c *client) withToken(send func(token) error) error {
	err := errToken
	for _, t := range c.tokens.list.Get() {
		if err = send(t); !errors.Is(err, errToken) {
			break
		}
	}
	return err
}

// untilTaken sends a request, and once more when the server did not take it.
func (c *client) untilTaken(send func() error) error {
	err := send()
	if errors.Is(err, errRefused) {
		// Other idle connections may lead to the same stopping server. A new one leads to another server, if there is one.
		c.Close()
	}
	if errors.Is(err, errRefused) || errors.Is(err, errHandshake) {
		err = send()
	}
	return err
}

// refuses tells the response of a server that did not take the request and closes the connection.
func refuses(status int, closes bool) bool {
	return closes && (status == http.StatusServiceUnavailable || status == http.StatusRequestTimeout)
}

// message is what a request carries: arguments as its body, or in a header beside octets.
type message struct{ args, body []byte }

// send makes one HTTP request.
func (c *client) send(ctx context.Context, path string, m message, t token, deadline time.Time) (contract.Response, error) {
	timeout := min(time.Until(deadline), maxTimeout)
	if timeout <= 0 || ctx.Err() != nil {
		return contract.Response{}, contract.ErrUnavailable // nothing was sent
	}
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.Header.SetMethod(fasthttp.MethodPost)
	req.SetRequestURI(path)
	req.Header.SetHost(c.host.Addr)
	req.Header.SetContentType(contentJSON)
	set := func(name, value string) { req.Header.SetCanonical([]byte(name), []byte(value)) }
	set(fasthttp.HeaderAuthorization, t.authorization)
	work := timeout - min(timeout/8, responseTime)
	set(headerTimeout, strconv.FormatInt(max(work.Milliseconds(), 1), 10))
	set(headerRequestID, telemetry.RequestID(ctx))
	set(headerAccount, fair.Account(ctx))
	c.propagator.Inject(ctx, carrier{&req.Header})
	if m.args != nil {
		req.Header.SetContentType(contentOctets)
		req.Header.SetBytesV(headerArgs, m.args)
	}
	req.SetBodyRaw(m.body)
	if err := c.host.DoTimeout(req, resp, timeout); err != nil {
		return contract.Response{}, transportError(err)
	}
	switch status := resp.StatusCode(); {
	case refuses(status, resp.ConnectionClose()):
		return contract.Response{}, errRefused
	case status != http.StatusOK:
		return contract.Response{}, decodeError(status, resp.Body())
	}
	return contract.Response{
		ContentType: string(resp.Header.ContentType()),
		Body:        bytes.Clone(resp.Body()),
		Failed:      len(resp.Header.Peek(headerFailed)) > 0,
	}, nil
}

// transportError tells a call that the service did not take from a lost response.
func transportError(err error) error {
	var n notSentError
	if errors.As(err, &n) || errors.Is(err, errHandshake) || errors.Is(err, fasthttp.ErrNoFreeConns) {
		return errors.Join(contract.ErrUnavailable, err)
	}
	return errors.Join(errLost, err)
}

// decode reads a response whose body is JSON.
func decode[A any](r contract.Response, err error) (value A, _ error) {
	if err != nil {
		return value, err
	}
	if err := strictjson.Unmarshal(r.Body, &value); err != nil {
		return value, errors.Join(errFault, err)
	}
	return value, nil
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
