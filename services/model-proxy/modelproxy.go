// Package modelproxy is the model-proxy service: it implements contract.Models over one decision model. It owns the
// 15-second wait, the retries, the wire formats of the providers, and the computation of probabilities from model output.
// The package does not listen: contract/wire serves it over HTTP, and the standalone binary calls it in process.
package modelproxy

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/model-proxy/internal/ask"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Config selects the model. Provider is always required; the provider decides which other fields are.
type Config struct {
	// Provider is the value of PRISM_MODEL_PROVIDER.
	Provider string
	// BaseURL is the upstream's address without the provider's path, such as http://127.0.0.1:8000/v1
	// (PRISM_MODEL_BASE_URL). Empty selects the provider's own host.
	BaseURL string
	// ModelName is the model to ask (PRISM_MODEL_NAME). Empty selects the provider's default; openai-chat has none.
	ModelName string
	// APIKey authenticates this service (PRISM_MODEL_API_KEY). The providers' own hosts require one.
	APIKey string
	// MaxInFlight limits concurrent asks: one more gets contract.ErrUnavailable (spec: overload). 0 means 256.
	MaxInFlight int
}

// Upstream are the settings of the model that prism and prism-model-proxy share. The provider's setting is not among them:
// only prism has a default for it.
type Upstream struct {
	BaseURL config.URL    `env:"PRISM_MODEL_BASE_URL" example:"http://127.0.0.1:8000/v1" help:"the upstream's address; the provider's own when not set"`
	Model   string        `env:"PRISM_MODEL_NAME" help:"the upstream's model; the provider's own when not set"`
	APIKey  config.Secret `env:"PRISM_MODEL_API_KEY" help:"the upstream's key"`
}

// Config is the configuration of the service with these settings.
func (u Upstream) Config(provider string, maxInFlight int) Config {
	return Config{
		Provider: provider, BaseURL: u.BaseURL.String(), ModelName: u.Model, APIKey: u.APIKey.Reveal(),
		MaxInFlight: maxInFlight,
	}
}

// Deps receive the service's telemetry. A nil field drops what would go there.
type Deps struct {
	// Metrics takes the service's collectors, whose names begin with prism_model_.
	Metrics prometheus.Registerer
	// Log gets one line per failed ask: provider, reason, status and duration.
	Log *slog.Logger
	// Tracer makes a client span per upstream attempt. The attempt's request carries the trace context.
	Tracer trace.TracerProvider
}

// Service implements contract.Models. It is safe for concurrent use and has no goroutines between asks.
type Service struct {
	asker    *ask.Asker
	provider string
	model    contract.Model
	client   *upstream.Client // nil for offline
	metrics  *metrics
	log      *slog.Logger
}

var _ contract.Models = (*Service)(nil)

// New checks the settings and makes the service. It does no I/O. Its error names every wrong setting and repeats no value
// (spec: values-are-never-repeated). It panics when Deps.Metrics already has the service's collectors.
func New(cfg Config, deps Deps) (*Service, error) {
	p, client, err := newProvider(cfg, deps.Tracer)
	if err != nil {
		return nil, err
	}
	return newService(cfg, deps, p, client), nil
}

func newService(cfg Config, deps Deps, p provider.Provider, client *upstream.Client) *Service {
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{provider: p.Name, model: describe(cfg, p.Name), client: client, log: deps.Log}
	asks := ask.Config{MaxInFlight: cfg.MaxInFlight, Log: deps.Log}
	if client != nil { // offline makes no upstream attempts to count
		asks.Attempted = func(r provider.Reply, f *upstream.Fault) { s.metrics.attempted(r, f) }
	}
	s.asker = ask.New(p, asks)
	s.metrics = newMetrics(deps.Metrics, p.Name, s.asker)
	return s
}

// Ask asks the model all questions and returns within the wait, whatever the model does (spec: model-wait-is-hard). The
// Outcome has either answers, as the bytes of format raw in question order, or the error text of the model's fault. The
// error is contract.ErrUnavailable, at once, when MaxInFlight asks are running; any other error is a bug in a provider.
//
// Cancelling ctx does not cancel the model call (spec: client-disconnect). ctx carries the trace.
func (s *Service) Ask(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
	v, err := s.asker.Ask(ctx, a)
	if errors.Is(err, contract.ErrUnavailable) {
		s.metrics.shed.Inc()
	}
	if err != nil {
		return contract.Outcome{}, err
	}
	s.metrics.asked(v.Reason, time.Duration(v.TookMS)*time.Millisecond)
	if v.Reason != ask.OK {
		s.log.WarnContext(ctx, "model call failed", "provider", s.provider, "reason", string(v.Reason),
			"status", v.Status, "cause", v.Cause, "took_ms", v.TookMS)
	}
	return v.Outcome, nil
}

// Close closes idle upstream connections. Running asks continue.
func (s *Service) Close() {
	if s.client != nil {
		s.client.Close()
	}
}
