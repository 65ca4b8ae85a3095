// Package daemon is what every binary has around its service: logs, metrics, traces, the two listeners, and the order of
// starting and stopping.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/mtls"
	"github.com/prism-results/prism/pkg/telemetry"
)

// standalone is the name of the binary with all services.
const standalone = "prism"

// flushLimit bounds the export of the last traces at the end.
const flushLimit = 3 * time.Second

// Daemon is a binary's telemetry and limits.
type Daemon struct {
	Name     string
	Settings Settings // with the limits that follow from Memory
	Memory   int64    // the limit of the Go runtime, in bytes
	Log      *slog.Logger
	Metrics  *prometheus.Registry
	Traces   telemetry.Traces

	allowance []byte
}

// New makes the telemetry of the service called name: "gateway", or "prism" for all of them in one process. It keeps the
// process within its container's memory.
func New(ctx context.Context, name string, s Settings, getenv func(string) string, stderr io.Writer) (*Daemon, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		return nil, fmt.Errorf("PRISM_LOG_LEVEL: %w", err)
	}
	log := telemetry.Logger(stderr, level).With("service", name)
	// OpenTelemetry reports to this global alone, by default in plain text.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("telemetry", "error", err) }))
	service := "prism-" + name
	if name == standalone {
		service = standalone
	}
	traces, err := telemetry.Tracing(ctx, service)
	if err != nil {
		return nil, err
	}
	memory := limitMemory(os.DirFS("/"), getenv)
	s = s.within(memory)
	log.DebugContext(ctx, "limits", "in_flight", s.MaxInFlight, "connections", s.MaxConnections, "body_bytes", int64(s.MaxBodyBytes),
		"response_bytes", int64(s.MaxResponseBytes))
	return &Daemon{
		Name: name, Settings: s, Memory: memory,
		Log:       log,
		Metrics:   telemetry.Registry(service),
		Traces:    traces,
		allowance: allowance(memory, getenv),
	}, nil
}

// Server makes the server of the public API.
func (d *Daemon) Server(trusted httpkit.Proxies) *httpkit.Server {
	return d.server(httpkit.Config{TrustedProxies: trusted})
}

// InternalServer makes a server that only other services call, for bodies up to the limit in bytes. authorized tells whether an
// Authorization header is that of such a service, whose X-Forwarded-For is believed.
func (d *Daemon) InternalServer(
	bodyLimit int, authorized func(header []byte) bool, t mtls.ServerSettings,
) (*httpkit.Server, error) {
	identity, err := t.Open(d.Log, d.Metrics)
	if err != nil {
		return nil, err
	}
	return d.InternalServerWith(bodyLimit, authorized, identity, t.Permissive()), nil
}

// InternalServerWith is InternalServer of a service that has opened its identity, since it calls others too.
func (d *Daemon) InternalServerWith(
	bodyLimit int, authorized func(header []byte) bool, identity *mtls.Identity, plainToo bool,
) *httpkit.Server {
	return d.server(httpkit.Config{
		BodyLimit: bodyLimit, ClosingNotice: true, TrustedCallers: true, TrustTrace: authorized,
		TLS: identity, PlainToo: plainToo, TrustedProxies: httpkit.Everywhere(),
	})
}

func (d *Daemon) server(cfg httpkit.Config) *httpkit.Server {
	cfg.Name, cfg.DrainDelay = d.Name, d.Settings.DrainDelay
	cfg.MaxInFlight, cfg.MaxConnections = d.Settings.MaxInFlight, d.Settings.MaxConnections
	cfg.MaxBodyBytes, cfg.MaxResponseBytes = int(d.Settings.MaxBodyBytes), int(d.Settings.MaxResponseBytes)
	return httpkit.New(cfg, httpkit.Deps{
		Log: d.Log, Metrics: d.Metrics, Tracer: d.Traces.Provider, Propagator: d.Traces.Propagator,
	})
}

// Plan is what Run runs. A worker has no API: it has no Server and no address of one, and Serve works until ctx ends.
type Plan struct {
	API, Admin config.Address
	Server     *httpkit.Server
	// Serve serves the API until ctx ends and the requests in flight are finished. It owns the listener. Server.Run when nil.
	Serve  func(context.Context, net.Listener) error
	Checks []httpkit.Check
	// Prepare runs before the API listens, with the admin port up and readiness false. Optional.
	Prepare func(context.Context) error
	// Background runs beside the server, when Prepare has succeeded. Its context ends when the server has drained. Optional.
	Background func(context.Context) error
}

// Run starts the parts of the plan in order and blocks until ctx ends and the requests in flight are finished.
func (d *Daemon) Run(ctx context.Context, p Plan) (err error) {
	defer d.flush(ctx)
	admin, err := listen(ctx, p.Admin, "PRISM_ADMIN_LISTEN")
	if err != nil {
		return err
	}
	checks := p.Checks
	if p.Server != nil {
		checks = append([]httpkit.Check{{Name: d.Name, Probe: p.Server.Ready}}, checks...)
	}
	outlive, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var parts sync.WaitGroup
	var adminErr, backgroundErr error
	parts.Go(func() { adminErr = httpkit.NewAdmin(d.Log, d.Metrics, checks...).Run(outlive, admin) })
	defer func() {
		stop()
		parts.Wait()
		err = errors.Join(err, adminErr, backgroundErr)
	}()
	if p.Prepare != nil {
		if err := p.Prepare(ctx); err != nil {
			if ctx.Err() != nil { // stopped before it served
				return nil
			}
			return err
		}
	}
	if p.Background != nil {
		parts.Go(func() { backgroundErr = p.Background(outlive) })
	}
	if p.Server == nil {
		d.Log.InfoContext(ctx, "working", "admin", admin.Addr().String())
		return p.Serve(ctx, nil)
	}
	api, err := listen(ctx, p.API, "PRISM_LISTEN")
	if err != nil {
		return err
	}
	d.Log.InfoContext(ctx, "listening", "address", api.Addr().String(), "admin", admin.Addr().String())
	if p.Serve == nil {
		p.Serve = p.Server.Run
	}
	return p.Serve(ctx, api)
}

func listen(ctx context.Context, address config.Address, variable string) (net.Listener, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", string(address))
	if err != nil {
		return nil, fmt.Errorf("%s: %w; choose another address, such as 127.0.0.1:8088", variable, err)
	}
	return ln, nil
}

// flush exports the last traces. A collector that is away is no error of the service.
func (d *Daemon) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	if err := d.Traces.Shutdown(ctx); err != nil {
		d.Log.WarnContext(ctx, "the last traces were not exported", "error", err)
	}
}
