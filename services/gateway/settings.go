package gateway

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/httpkit"
)

// Config is what differs between deployments.
type Config struct {
	// RedisURL is the Redis that keeps the locks. Without one they are in memory, which is enough for a single gateway.
	RedisURL string
	// RedisAuth overrides the credentials of the Redis URL.
	RedisAuth RedisAuth
	// DrainDelay is how long calls are still served after a signal to stop. It is the server's setting.
	DrainDelay time.Duration
	// HasConsole tells that the console's routes are on the same server, so that browsers begin there. Deps.Console says so too.
	HasConsole bool
}

// Deps are what a Gateway works with; all but Now and Console are required.
type Deps struct {
	Results contract.Results
	Models  contract.Models
	Server  *httpkit.Server
	Metrics prometheus.Registerer
	Log     *slog.Logger
	Tracer  trace.TracerProvider
	Now     func() time.Time // the clock of limits and of unknown keys; time.Now unless given
	// Console passes requests below /console on to the console; nil if it is in this process, or there is none.
	Console *wire.Proxy
}
