package wire

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/telemetry"
)

// PassedBody is the largest body that a Proxy passes on, in bytes. It is the BodyLimit of the server behind a Proxy.
const PassedBody = 64 << 10

const (
	// passTime bounds a request that is passed on. A sign-in by OpenID waits for the provider.
	passTime = 20 * time.Second
	// passedResponse bounds a response that is passed back, in bytes.
	passedResponse = 16 << 20
)

// passedHeaders are the headers of a request that are passed on. Authorization is not: it has the token of this edge.
var passedHeaders = []string{
	fiber.HeaderAccept, fiber.HeaderAcceptEncoding, fiber.HeaderAcceptLanguage, fiber.HeaderContentType, fiber.HeaderCookie,
	fiber.HeaderIfNoneMatch, fiber.HeaderOrigin, fiber.HeaderXForwardedProto, "Sec-Fetch-Site",
}

// withheldHeaders are the headers of a response that are not passed back: those of the connection, and those that the server in
// front writes itself.
var withheldHeaders = []string{
	fiber.HeaderConnection, "Keep-Alive", fiber.HeaderProxyAuthenticate, "Proxy-Connection", fiber.HeaderTE, fiber.HeaderTrailer,
	fiber.HeaderTransferEncoding, fiber.HeaderUpgrade, fiber.HeaderContentLength, fiber.HeaderDate, fiber.HeaderServer,
	fiber.HeaderXRequestID,
}

// Proxy passes requests of browsers on to a service that callers do not reach themselves (spec: console-behind-the-gateway). A
// request keeps its path, its query and its Host. X-Forwarded-For has the one address that httpkit.Client tells.
type Proxy struct{ client *client }

// NewProxy makes the proxy. Its first request connects.
func NewProxy(cfg ClientConfig, deps ClientDeps) (*Proxy, error) {
	c, err := newClient(cfg, deps)
	if err != nil {
		return nil, err
	}
	c.host.MaxResponseBodySize = passedResponse
	return &Proxy{c}, nil
}

// Close closes the idle connections; requests under way go on.
func (p *Proxy) Close() { p.client.Close() }

// MountBehind has every path of the app ask for the token that a Proxy shows.
func MountBehind(app *fiber.App, tokens *Tokens) { app.Use(authorize(tokens)) }

// Pass is the handler. Its errors are of the catalogue: those of httpkit.ReadBody, and the 503 if the service is away.
func (p *Proxy) Pass(c *fiber.Ctx) error {
	var body []byte
	if !httpkit.ReadOnly(c.Method()) {
		b, err := httpkit.ReadBody(c)
		if err != nil {
			return err
		}
		if len(b.Bytes) > PassedBody {
			return apierr.BodyTooLarge()
		}
		body = b.Bytes
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), passTime)
	defer cancel()
	resp := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(resp)
	if err := p.pass(ctx, c, body, resp); err != nil {
		return errors.Join(apierr.Unavailable(), err)
	}
	return passBack(c, resp)
}

// pass makes the request with each token until one is accepted.
func (p *Proxy) pass(ctx context.Context, c *fiber.Ctx, body []byte, resp *fasthttp.Response) (err error) {
	if p.client.tracer != nil {
		var span trace.Span
		ctx, span = p.client.tracer.Start(ctx, c.Method()+" "+c.Route().Path, trace.WithSpanKind(trace.SpanKindClient))
		defer func() { endSpan(span, err) }()
	}
	return p.client.withToken(func(t token) error {
		once := func() error { return p.once(ctx, c, body, t, resp) }
		if httpkit.ReadOnly(c.Method()) {
			return untilReceived(func() error { return p.client.untilTaken(once) })
		}
		return p.client.untilTaken(once)
	})
}

func (p *Proxy) once(ctx context.Context, c *fiber.Ctx, body []byte, t token, resp *fasthttp.Response) error {
	deadline, _ := ctx.Deadline()
	timeout := time.Until(deadline)
	if timeout <= 0 {
		return contract.ErrUnavailable
	}
	in, req := c.Request(), fasthttp.AcquireRequest()
	defer fasthttp.ReleaseRequest(req)
	req.Header.SetMethod(c.Method())
	target := string(in.URI().PathOriginal())
	if query := in.URI().QueryString(); len(query) > 0 {
		target += "?" + string(query)
	}
	req.SetRequestURI(target)
	req.Header.SetHost(p.client.host.Addr)
	if host := in.Header.Host(); len(host) > 0 {
		req.Header.SetHostBytes(host)
	}
	for _, name := range passedHeaders {
		if value := bytes.Join(in.Header.PeekAll(name), []byte(", ")); len(value) > 0 {
			req.Header.SetBytesV(name, value)
		}
	}
	req.Header.Set(fasthttp.HeaderAuthorization, t.authorization)
	req.Header.Set(fiber.HeaderXForwardedFor, httpkit.Client(c).String())
	req.Header.Set(headerRequestID, telemetry.RequestID(ctx))
	req.Header.Set(headerAccount, fair.Account(ctx))
	p.client.propagator.Inject(ctx, carrier{&req.Header})
	req.SetBodyRaw(body)
	resp.Reset()
	if err := p.client.host.DoTimeout(req, resp, timeout); err != nil {
		return transportError(err)
	}
	switch {
	case refuses(resp.StatusCode(), resp.ConnectionClose()):
		return errRefused
	case resp.StatusCode() == http.StatusUnauthorized && bytes.Equal(resp.Body(), httpkit.ErrorBody(apierr.InvalidAPIKey())):
		return errToken
	}
	return nil
}

// passBack sends the response. The response of a request that changes something is sent also if there is no room for it.
func passBack(c *fiber.Ctx, resp *fasthttp.Response) error {
	out := &c.Response().Header
	for key, value := range resp.Header.All() {
		name := string(key)
		switch {
		case slices.ContainsFunc(withheldHeaders, func(h string) bool { return strings.EqualFold(h, name) }):
		case name == fiber.HeaderSetCookie:
			out.Add(name, string(value))
		default:
			out.Set(name, string(value))
		}
	}
	out.SetNoDefaultContentType(len(resp.Header.ContentType()) == 0)
	body, tookEffect := bytes.Clone(resp.Body()), !httpkit.ReadOnly(c.Method())
	if err := httpkit.SendOwn(c, resp.StatusCode(), string(resp.Header.ContentType()), body, tookEffect); err != nil {
		return err
	}
	if c.Method() == fiber.MethodHead {
		out.SetContentLength(resp.Header.ContentLength())
	}
	return nil
}
