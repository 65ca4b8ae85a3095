package httpkit

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/prism-results/prism/pkg/mtls"
	"github.com/prism-results/prism/pkg/telemetry"
)

// BodyLimit is how large a body of the public API is at most (spec: body-limit).
const BodyLimit = 1 << 20

// Config is the settings of a server. A zero value means the default, which the comment of the field gives behind a semicolon.
type Config struct {
	// Name is the service in metrics and spans.
	Name string
	// BodyLimit is the largest body that ReadBody accepts; httpkit.BodyLimit. Internal services set more,
	// since their bodies contain bodies of the public API.
	BodyLimit int
	// MaxInFlight is how many requests are handled at once; 4096. A request beyond it gets 503 at once (spec: overload). With
	// ShareByAccount the accounts share it, which may take up to twice as many, and reads keep a tenth that others cannot take
	// (spec: fair-shares).
	MaxInFlight int
	// MaxArriving is how many requests wait for the rest of their body at once; as many as MaxInFlight. Each client address
	// has a tenth of them. A request beyond gets 503 at once (spec: arriving-bodies).
	MaxArriving int
	// TrustedProxies are the proxies whose X-Forwarded-For tells the address of a client; none.
	TrustedProxies Proxies
	// TrustedCallers is for internal servers, which a few services call: a client address has no bound of its own, and reads
	// have no reserve.
	TrustedCallers bool
	// MaxConnections is how many connections are open at once, idle ones included; 4 times MaxInFlight. A new one takes the place
	// of the connection that has been idle longest, for 5 s at least. If there is none, the new one is served only while its
	// address has fewer connections than its share. Otherwise its first request gets 503, and it is closed.
	MaxConnections int
	// MaxBodyBytes is how many bytes of bodies all requests in flight hold together; 256 MiB, and never less than BodyLimit.
	// A body that does not fit gets 503. The first 16 KiB of each body are not counted: MaxInFlight bounds them.
	MaxBodyBytes int
	// MaxResponseBytes is how many bytes of response bodies all requests in flight hold together; 64 MiB. The accounts share
	// it, and may hold up to twice as many (spec: fair-shares). A response of SendOwn or SendStream that does not fit, or of an
	// error with a long list of problems, becomes the 503, unless its request has taken effect. The first 16 KiB of each are
	// not counted: MaxInFlight bounds them.
	MaxResponseBytes int
	// MaxStreams is how many responses of SendStream are sent at once; the smaller of 64 and half of MaxInFlight.
	// MaxStreamsOfAccount of them may be one account's; 8. One more gets 503 at once (spec: export-limits).
	MaxStreams          int
	MaxStreamsOfAccount int
	// MaxEventStreams is how many responses of SendEvents are sent at once; a quarter of MaxInFlight. The accounts share them, which
	// may take up to twice as many, and MaxEventStreamsOfAccount of them may be one account's; 100. One more gets 503 at once
	// (spec: event-streams).
	MaxEventStreams          int
	MaxEventStreamsOfAccount int
	// HeaderLimit is the largest request line with headers, in bytes; 16 KiB. Every connection that was used holds a
	// buffer of this size.
	HeaderLimit int
	// HeaderTimeout is how long the headers of a request may take to arrive from their first byte on; 5 s, and never more
	// than ReadTimeout.
	HeaderTimeout time.Duration
	// ReadTimeout is how long a whole request may take to arrive, headers and body; 20 s. A body must arrive at a least rate
	// too (spec: arriving-bodies).
	ReadTimeout time.Duration
	// IdleTimeout is how long a connection may wait between requests; 75 s. It exceeds that of the clients in front, so
	// that they close first and never send on a connection that is being closed.
	IdleTimeout time.Duration
	// WriteTimeout is how long a response may make no progress; 30 s. fasthttp's bound is on the whole response, but an
	// export may take hours while the client keeps reading (spec: export-is-streamed).
	WriteTimeout time.Duration
	// StopStall takes the place of WriteTimeout when the server stops and refuses requests; 5 s, and never more than
	// WriteTimeout.
	StopStall time.Duration
	// ClosingNotice sends a 408 that closes the connection to every connection that the server closes while it is idle, or
	// in the middle of a request. A client whose request crosses the 408 on the way takes the 408 for the response, and so
	// knows that the request was not taken (RFC 9110, 15.5.9). It is for internal servers, whose clients expect it.
	ClosingNotice bool
	// TLS has every connection speak mutual TLS (spec: internal-tls); nil: plain HTTP.
	TLS *mtls.Identity
	// PlainToo takes connections in plain HTTP beside TLS (spec: internal-tls-modes).
	PlainToo bool
	// TrustTrace tells by the Authorization header whether a request comes from one of our services, whose decision to record
	// the trace holds here too; nil: no request does (spec: traces-own-decision).
	TrustTrace func(authorization []byte) bool
	// DrainDelay is the pause between the signal to stop and the first refusal; none (spec: drain-delay). Load balancers
	// need it to stop sending requests.
	DrainDelay time.Duration
	// DrainLimit is how long a stopping server waits for requests in flight; 30 s: the model's 15 s and the save.
	DrainLimit time.Duration
}

func (c Config) withDefaults() Config {
	c.BodyLimit = cmp.Or(c.BodyLimit, BodyLimit)
	c.MaxInFlight = cmp.Or(c.MaxInFlight, 4096)
	c.MaxArriving = cmp.Or(c.MaxArriving, c.MaxInFlight)
	c.MaxConnections = cmp.Or(c.MaxConnections, 4*c.MaxInFlight)
	c.MaxBodyBytes = max(cmp.Or(c.MaxBodyBytes, 256<<20), c.BodyLimit)
	c.MaxResponseBytes = cmp.Or(c.MaxResponseBytes, 64<<20)
	c.MaxStreams = cmp.Or(c.MaxStreams, min(64, max(c.MaxInFlight/2, 1)))
	c.MaxStreamsOfAccount = cmp.Or(c.MaxStreamsOfAccount, 8)
	c.MaxEventStreams = cmp.Or(c.MaxEventStreams, max(c.MaxInFlight/4, 1))
	c.MaxEventStreamsOfAccount = cmp.Or(c.MaxEventStreamsOfAccount, 100)
	c.HeaderLimit = cmp.Or(c.HeaderLimit, 16<<10)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, 20*time.Second)
	c.HeaderTimeout = min(cmp.Or(c.HeaderTimeout, 5*time.Second), c.ReadTimeout)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 75*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	c.StopStall = min(cmp.Or(c.StopStall, 5*time.Second), c.WriteTimeout)
	c.DrainLimit = cmp.Or(c.DrainLimit, 30*time.Second)
	return c
}

// Deps are the dependencies of a server. A nil Log, Metrics or Tracer does nothing; a nil Propagator reads traceparent; NewID,
// Now and After default to random ids and the wall clock.
type Deps struct {
	Log        *slog.Logger
	Metrics    prometheus.Registerer
	Tracer     trace.TracerProvider
	Propagator propagation.TextMapPropagator
	NewID      func() string // request ids
	Now        func() time.Time
	After      func(time.Duration) <-chan time.Time // bounds the steps of a stop
}

func (d Deps) withDefaults() Deps {
	d.Log = cmp.Or(d.Log, slog.New(slog.DiscardHandler))
	d.Metrics = cmp.Or(d.Metrics, prometheus.Registerer(prometheus.NewRegistry()))
	d.Tracer = cmp.Or(d.Tracer, trace.TracerProvider(noop.NewTracerProvider()))
	d.Propagator = cmp.Or(d.Propagator, propagation.TextMapPropagator(propagation.TraceContext{}))
	if d.NewID == nil {
		d.NewID = telemetry.NewRequestID
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.After == nil {
		d.After = time.After
	}
	return d
}

// Server is one HTTP server. Make it with New, register routes on App, then Run it once.
type Server struct {
	cfg     Config
	deps    Deps
	app     *fiber.App
	fast    *fasthttp.Server
	tracker *tracker
	observe *observer

	accountOf func(*fasthttp.RequestCtx) string // or nil

	run atomic.Pointer[lifetime] // unstarted until Run
}

// lifetime is the contexts of Run, for the goroutines of the connections. fasthttp has no way to pass a context to them.
type lifetime struct {
	stop context.Context //nolint:containedctx // done when the server is to stop
	base context.Context //nolint:containedctx // of handlers
}

// unstarted is the lifetime of a server before Run, and in tests that call App().Test.
//
//nolint:forbidigo // Run's own contexts take its place
var unstarted = &lifetime{stop: context.Background(), base: context.Background()}

// New makes a server that does nothing yet. Several servers may share one Registerer.
func New(cfg Config, deps Deps) *Server {
	cfg, deps = cfg.withDefaults(), deps.withDefaults()
	s := &Server{
		cfg:     cfg,
		deps:    deps,
		tracker: newTracker(cfg, deps.Now),
	}
	s.run.Store(unstarted)
	s.observe = newObserver(cfg, deps, s.tracker)
	s.app = fiber.New(fiber.Config{
		AppName:               cfg.Name,
		DisableStartupMessage: true,
		// Paths are exact (spec: exact-paths). UnescapePath stays off so that %2F stays inside its parameter.
		CaseSensitive:                true,
		StrictRouting:                true,
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true, // would read and store a body before its type is refused
		DisableDefaultContentType:    true,
		ReadBufferSize:               cfg.HeaderLimit,
		ReadTimeout:                  cfg.ReadTimeout,
		IdleTimeout:                  cfg.IdleTimeout,
		// No WriteTimeout: fasthttp sets it once per response. Connections bound each write instead.
		// The tracker bounds connections first. This bound leaves room for connections that the tracker has closed and
		// fasthttp has not yet given up.
		Concurrency: 2 * (cfg.MaxConnections + maxRefused),
	})
	s.app.Use(s.route)

	s.fast = s.app.Server()
	s.fast.SecureErrorLogMessage = true
	s.fast.ErrorHandler = s.unparsed
	s.fast.HeaderReceived = withoutBody
	s.fast.Handler = s.guard(s.app.Handler())
	return s
}

// App is where routes are registered, before Run. A GET route answers HEAD too.
//
// Handlers return errors rather than write them; see Send, SendOwn, SendStream, ReadBody and Param. Strings of Fiber are views
// into buffers of the connection, and end with the request. The context of a handler is c.UserContext(): it carries the span and
// the request id. It does not end with a client disconnect or when the server is told to stop, but only after DrainLimit
// (spec: client-disconnect).
func (s *Server) App() *fiber.App { return s.app }

// ShareByAccount has the accounts share the bound on requests in flight. The function reads the account of a request from its
// headers. A request for which the function returns "" counts for its client address. Without a function all requests are of one
// account. Call ShareByAccount before Run. fair.Account tells handlers the account.
func (s *Server) ShareByAccount(account func(*fasthttp.RequestCtx) string) { s.accountOf = account }
