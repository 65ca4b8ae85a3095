// Package upstream is the HTTP client of all providers. One Post is one attempt: it never retries or follows a redirect,
// always verifies TLS, limits the response body, and returns when its context ends. net/http itself sends a request again
// only when a kept connection turns out to be closed before the first byte of the request was written.
package upstream

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
)

const (
	userAgent = "prism-model-proxy"
	// connectWait bounds connecting, so that further attempts fit in the model wait when packets to an address are dropped.
	connectWait = 4 * time.Second
	// oneWrite is the size of requests, with their headers, that are sent with one write.
	oneWrite = 32 << 10
)

// Config configures a Client.
type Config struct {
	// Provider names the provider in spans.
	Provider string
	// BaseURL is an absolute http or https URL without user, query and fragment, such as https://api.openai.com/v1.
	BaseURL string
	// Header is sent with every request: credentials and protocol versions.
	Header http.Header
	// Authorizer completes each request with credentials that end. Optional.
	Authorizer Authorizer
	// MaxConns limits the idle connections that are kept. 256 by default.
	MaxConns int
	// Tracer makes one client span per attempt. No spans by default.
	Tracer trace.TracerProvider
	// Answers is the bound of the bytes that answers hold (spec: answer-budget). Without it they are not bounded together.
	Answers *fair.Bound
	// Explain tells whether the bodies of errors are kept for Fault.Message: only for logs at debug level. Never by default.
	Explain func(context.Context) bool
	// Proxy is the HTTP proxy of all calls, whose user may have a password; nil is none.
	Proxy *url.URL
	// Roots are the authorities that may sign the certificate of the upstream; nil are those of the system.
	Roots *x509.CertPool
	// Dial opens connections. A net.Dialer by default; tests replace it.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Authorizer gives requests credentials that end, such as tokens. It is safe for concurrent use.
type Authorizer interface {
	// Authorize adds the credentials to a request that is otherwise complete.
	Authorize(ctx context.Context, request *http.Request, body Body) error
	// Refused tells that the upstream refused the credentials.
	Refused()
}

// Client posts to one upstream. It is safe for concurrent use.
type Client struct {
	base    string
	header  http.Header
	http    *http.Client
	tracer  trace.Tracer
	answers *fair.Bound
	auth    Authorizer // or nil
	// explain is Config.Explain, or nil; secrets are the values of headers.
	explain func(context.Context) bool
	secrets []string
	span    trace.SpanStartOption // the attributes of spans
}

// New checks the configuration and makes a client. It opens no connection. Its error does not repeat the address, which may
// contain a password.
func New(c Config) (*Client, error) {
	u, err := url.Parse(c.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, errors.New("must be an absolute http or https URL without user, query and fragment")
	}
	if c.Dial == nil {
		c.Dial = (&net.Dialer{Timeout: connectWait, KeepAlive: 30 * time.Second}).DialContext
	}
	if c.Tracer == nil {
		c.Tracer = noop.NewTracerProvider()
	}
	header := http.Header{"User-Agent": {userAgent}, "Content-Type": {"application/json"}, "Accept": {"application/json"}}
	maps.Copy(header, c.Header)
	var secrets []string
	for _, values := range c.Header {
		for _, v := range values {
			secrets = append(secrets, strings.TrimPrefix(v, "Bearer "))
		}
	}
	if c.Proxy != nil {
		if password, ok := c.Proxy.User.Password(); ok {
			secrets = append(secrets, password)
		}
	}
	return &Client{
		base:    strings.TrimRight(c.BaseURL, "/"),
		header:  header,
		auth:    c.Authorizer,
		explain: c.Explain, secrets: secrets, answers: c.Answers,
		tracer: c.Tracer.Tracer("github.com/prism-results/prism/services/model-proxy"),
		span: trace.WithAttributes(attribute.String("http.request.method", http.MethodPost),
			attribute.String("prism.model.provider", c.Provider)),
		http: &http.Client{
			// A redirect would send fields and the key to an address that is not configured.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				Proxy:                  http.ProxyURL(c.Proxy), // HTTP_PROXY and its relatives are ignored: only the configuration decides
				OnProxyConnectResponse: connected,
				TLSClientConfig:        &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12},
				DialContext:            c.Dial,
				ForceAttemptHTTP2:      true, // without this, setting DialContext switches HTTP/2 off
				TLSHandshakeTimeout:    connectWait,
				MaxIdleConnsPerHost:    cmp.Or(c.MaxConns, 256),
				IdleConnTimeout:        90 * time.Second,
				MaxResponseHeaderBytes: 64 << 10,
				WriteBufferSize:        oneWrite,
				// Of a stream that nobody reads yet, no more than this is in memory: by default 4 MiB.
				HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10, MaxReceiveBufferPerConnection: 1 << 20},
			},
		},
	}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Body is the body of a request in parts, which are sent one behind the other.
type Body [][]byte

func (b Body) size() (n int) {
	for _, part := range b {
		n += len(part)
	}
	return n
}

// open joins a small body: net/http writes the headers, and then each part, by itself unless the body is a bytes.Reader.
func (b Body) open() io.ReadCloser {
	if b.size() <= oneWrite {
		return io.NopCloser(bytes.NewReader(bytes.Join(b, nil)))
	}
	parts := net.Buffers(slices.Clone(b)) // reading takes the parts away
	return io.NopCloser(&parts)
}

// Post asks so many questions: it sends body to path below the base URL, once, and has read take the body of a 2xx response, unless it
// is larger than such an answer can be. read returns a fault if the body is none.
func (c *Client) Post(ctx context.Context, path string, body Body, questions int, read func(answer []byte) *Fault) (fault *Fault) {
	ctx, span := c.tracer.Start(ctx, "POST", trace.WithSpanKind(trace.SpanKindClient), c.span)
	defer func() {
		if fault != nil {
			span.SetStatus(codes.Error, fault.Cause)
		}
		span.End()
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, http.NoBody)
	if err != nil { // not possible: New has checked the address
		return connectionFault(ctx, err)
	}
	req.Header = c.header.Clone()
	if req.ContentLength = int64(body.size()); req.ContentLength > 0 {
		req.Body, req.GetBody = body.open(), func() (io.ReadCloser, error) { return body.open(), nil }
	}
	if c.auth != nil {
		if err := c.auth.Authorize(ctx, req, body); err != nil {
			if ctx.Err() != nil {
				return connectionFault(ctx, err)
			}
			return &Fault{Class: failure.Unavailable, Cause: NoCredentials}
		}
	}
	// Baggage stays between Prism's services.
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(req.Header))
	resp, err := c.http.Do(req)
	if err != nil {
		return sendFault(ctx, err)
	}
	defer resp.Body.Close() //nolint:errcheck // the body was read or is not wanted
	span.SetAttributes(attribute.Int("http.response.status_code", resp.StatusCode))
	if c.auth != nil && (resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden) {
		c.auth.Refused()
	}
	a := answer{budget: c.answers, account: fair.Account(ctx)}
	defer a.release()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		// What a host that failed says is not read unless it is logged: it may never end.
		var said []byte
		explained := c.explain != nil && c.explain(ctx)
		if (explained || resp.StatusCode < 500) && a.count(headersOf(resp)+maxErrorBody) {
			said = errorBody(resp.Body)
		}
		return c.explainable(Refused(resp.StatusCode, resp.Header, said), req, body, explained)
	}
	raw, err := a.read(resp, questions)
	switch {
	case errors.Is(err, errNoRoom):
		return &Fault{Class: failure.Unavailable, Cause: NoRoom}
	case errors.Is(err, errTooLarge):
		return unreadable(tooLarge)
	case err != nil:
		return bodyFault(ctx, err)
	}
	fault = read(raw)
	if fault == nil {
		return nil
	}
	if fault.Cause == InBody {
		fault.heed(resp.Header)
	}
	return c.explainable(fault, req, body, c.explain != nil && c.explain(ctx))
}

// explainable names the parameter of the request that was refused, and keeps the beginning of the body for Message if the fault is to be
// explained.
func (c *Client) explainable(f *Fault, sent *http.Request, request Body, explained bool) *Fault {
	if f.Class == failure.Parameter {
		f.Parameter = readRefusal(f.body).parameter(request)
	}
	if !explained {
		f.body = nil
		return f
	}
	f.body, f.secrets = bytes.Clone(f.body[:min(len(f.body), maxErrorBody)]), c.secrets
	if c.auth != nil {
		f.secrets = slices.Concat(f.secrets, secretsOf(sent.Header))
	}
	return f
}

// secretsOf are the credentials that an Authorizer adds.
func secretsOf(h http.Header) (secrets []string) {
	for _, name := range []string{"Authorization", "X-Amz-Security-Token"} {
		if v := h.Get(name); v != "" {
			secrets = append(secrets, strings.TrimPrefix(v, "Bearer "))
		}
	}
	return secrets
}

// Bearer is an Authorization header with the key, or no header without a key.
func Bearer(key string) http.Header {
	if key == "" {
		return nil
	}
	return http.Header{"Authorization": {"Bearer " + key}}
}

// CheckKey returns an error for a key that an HTTP header cannot hold. The error does not repeat the key.
func CheckKey(key string) error {
	if i := strings.IndexFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }); i >= 0 {
		return fmt.Errorf("holds a character at byte %d that no header can carry", i)
	}
	return nil
}
