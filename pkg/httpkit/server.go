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

	"github.com/prism-results/prism/pkg/telemetry"
)

// Config is what a server may be told. Zero values stand for the defaults.
type Config struct {
	// Name is the service in metrics and spans.
	Name string
	// BodyLimit is the largest body that ReadBody accepts; 1 MiB (contract 8). Internal services set more, since what
	// they carry wraps a body of the public API.
	BodyLimit int
	// MaxInFlight is how many requests are handled or answered at once; 4096. Those beyond it get 503 at once.
	MaxInFlight int
	// MaxConnections is how many connections are open at once, idle ones included; 4 times MaxInFlight. One more takes the
	// place of the one that has been idle longest; where none is idle, its request gets 503 and it is closed.
	MaxConnections int
	// MaxBodyBytes is how much of bodies all requests in flight hold together; 256 MiB, and never less than BodyLimit. A
	// body that does not fit gets 503. The first 16 KiB of each are not counted: MaxInFlight bounds those.
	MaxBodyBytes int
	// HeaderLimit is the largest request line with headers, in bytes; 16 KiB. Every connection that was used holds a
	// buffer of this size.
	HeaderLimit int
	// ReadTimeout is how long a whole request may take to arrive, headers and body; 20 s. It is below DrainLimit, so that
	// a slow sender cannot hold a stopping server for longer.
	ReadTimeout time.Duration
	// IdleTimeout is how long a connection may wait between requests; 75 s. It exceeds that of the clients in front, so
	// that they close first and never send into a closing connection.
	IdleTimeout time.Duration
	// WriteTimeout is how long a response may make no progress; 30 s. It is not per response as fasthttp's is: an export
	// may take hours as long as the client keeps reading.
	WriteTimeout time.Duration
	// ClosingNotice sends a 408 that closes the connection to every connection that the server closes while it is idle, or
	// in the middle of a request. A client whose request crosses the 408 on the way takes the 408 for the response, and so
	// knows that the request was not taken (RFC 9110, 15.5.9). It is for internal servers, whose clients expect it.
	ClosingNotice bool
	// DrainDelay is the pause between being told to stop and refusing; none. Load balancers need it to notice.
	DrainDelay time.Duration
	// DrainLimit is how long a stopping server waits for what it took; 30 s: the model's 15 s and saving.
	DrainLimit time.Duration
}

func (c Config) withDefaults() Config {
	c.BodyLimit = cmp.Or(c.BodyLimit, 1<<20)
	c.MaxInFlight = cmp.Or(c.MaxInFlight, 4096)
	c.MaxConnections = cmp.Or(c.MaxConnections, 4*c.MaxInFlight)
	c.MaxBodyBytes = max(cmp.Or(c.MaxBodyBytes, 256<<20), c.BodyLimit)
	c.HeaderLimit = cmp.Or(c.HeaderLimit, 16<<10)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, 20*time.Second)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 75*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	c.DrainLimit = cmp.Or(c.DrainLimit, 30*time.Second)
	return c
}

// Deps is what a server works with. A nil one is replaced by one that does nothing, or by random ids and the wall clock.
type Deps struct {
	Log        *slog.Logger
	Metrics    prometheus.Registerer
	Tracer     trace.TracerProvider
	Propagator propagation.TextMapPropagator
	NewID      func() string // request ids
	Now        func() time.Time
}

func (d Deps) withDefaults() Deps {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Metrics == nil {
		d.Metrics = prometheus.NewRegistry()
	}
	if d.Tracer == nil {
		d.Tracer = noop.NewTracerProvider()
	}
	if d.Propagator == nil {
		d.Propagator = propagation.TraceContext{}
	}
	if d.NewID == nil {
		d.NewID = telemetry.NewRequestID
	}
	if d.Now == nil {
		d.Now = time.Now
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

	after   func(time.Duration) <-chan time.Time // time.After, but for tests
	run     lifetime                             // set before serving begins
	started atomic.Bool
	serving atomic.Bool
}

// lifetime is Run's contexts, which the goroutines of its connections need and fasthttp cannot hand to them.
type lifetime struct {
	told context.Context //nolint:containedctx // done when the server shall stop
	base context.Context //nolint:containedctx // of handlers
}

// New makes a server that does nothing yet. Several servers may share one Registerer.
func New(cfg Config, deps Deps) *Server {
	cfg, deps = cfg.withDefaults(), deps.withDefaults()
	s := &Server{
		cfg:     cfg,
		deps:    deps,
		tracker: newTracker(cfg, deps.Now),
		after:   time.After,
		//nolint:forbidigo // until Run gives its own, and in tests that call App().Test
		run: lifetime{told: context.Background(), base: context.Background()},
	}
	s.observe = newObserver(cfg.Name, deps, s.tracker)
	s.app = fiber.New(fiber.Config{
		AppName:               cfg.Name,
		DisableStartupMessage: true,
		// Decisions 1: paths are exact. UnescapePath stays off so that %2F stays inside its parameter.
		CaseSensitive:                true,
		StrictRouting:                true,
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true, // would read and store a body before its type is refused
		DisableDefaultContentType:    true,
		ReadBufferSize:               cfg.HeaderLimit,
		ReadTimeout:                  cfg.ReadTimeout,
		IdleTimeout:                  cfg.IdleTimeout,
		// No WriteTimeout: fasthttp sets it once per response. Connections bound each write instead.
		// The tracker bounds connections first, with an answer that is the contract's. There is room for those that have
		// lost their place and do not know it yet.
		Concurrency: 2*cfg.MaxConnections + 64,
	})
	s.app.Use(s.route)

	s.fast = s.app.Server()
	s.fast.SecureErrorLogMessage = true
	s.fast.ErrorHandler = s.unparsed
	s.fast.HeaderReceived = s.withoutBody
	s.fast.Handler = s.guard(s.app.Handler())
	return s
}

// App is where routes are registered, before Run. A GET route answers HEAD too.
//
// Handlers return errors rather than write them; see Send, SendStream, ReadBody and Param. Fiber's own strings are views
// into buffers of the connection, and end with the request. Their context is
// c.UserContext(): it carries the span and the request id, and ends neither when the client leaves nor when the server is
// told to stop, only when DrainLimit has passed.
func (s *Server) App() *fiber.App { return s.app }
