package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/mtls"
)

// Callees are the settings of a process that calls results and model-proxy.
type Callees struct {
	Results config.URL `env:"PRISM_RESULTS_URL" required:"true" schemes:"http https" example:"http://127.0.0.1:8081" help:"where results is"`
	Models  config.URL `env:"PRISM_MODEL_PROXY_URL" required:"true" schemes:"http https" example:"http://127.0.0.1:8082" help:"where model-proxy is"`
	Tokens  struct {
		Results ResultsTokens
		Models  ModelsTokens
	}
	TLS mtls.Settings
}

// Clients are the clients of both services.
type Clients struct {
	Results Results
	Models  Models
	TLS     *mtls.Identity // of this process; nil without one
}

// Close closes the idle connections; calls under way go on.
func (c Clients) Close() {
	c.Results.Close()
	c.Models.Close()
}

// Open makes the clients, with so many connections at most to each service. Their first calls connect.
func (c Callees) Open(
	ctx context.Context, deps ClientDeps, log *slog.Logger, metrics prometheus.Registerer, toResults, toModels int,
) (clients Clients, err error) {
	resultsTokens, err := c.Tokens.Results.Open(log)
	if err != nil {
		return clients, err
	}
	modelsTokens, err := c.Tokens.Models.Open(log)
	if err != nil {
		return clients, err
	}
	identity, err := OpenIdentity(ctx, c.TLS, log, metrics, Callee{"results", c.Results}, Callee{"model_proxy", c.Models})
	if err != nil {
		return clients, err
	}
	clients.TLS = identity
	clients.Results, err = NewResults(ClientConfig{
		URL: c.Results.String(), TLS: identity, Tokens: resultsTokens, MaxConns: toResults,
	}, deps)
	if err != nil {
		return clients, fmt.Errorf("PRISM_RESULTS_URL: %w (for example PRISM_RESULTS_URL=http://127.0.0.1:8081)", err)
	}
	clients.Models, err = NewModels(ClientConfig{
		URL: c.Models.String(), TLS: identity, Tokens: modelsTokens, MaxConns: toModels,
	}, deps)
	if err != nil {
		clients.Results.Close()
		return clients, fmt.Errorf("PRISM_MODEL_PROXY_URL: %w (for example PRISM_MODEL_PROXY_URL=http://127.0.0.1:8082)", err)
	}
	return clients, nil
}

// Callee is a service that a process calls, by its name in logs.
type Callee struct {
	Name string
	URL  config.URL
}

// OpenIdentity opens the identity of a process that calls services; nil without one. It warns if calls are in plain text despite of it.
func OpenIdentity(
	ctx context.Context, s mtls.Settings, log *slog.Logger, metrics prometheus.Registerer, called ...Callee,
) (*mtls.Identity, error) {
	identity, err := s.Open(log, metrics)
	if err != nil || identity == nil {
		return nil, err
	}
	plain, schemes := false, make([]any, 0, 2*len(called))
	for _, c := range called {
		plain = plain || c.URL.Scheme() != "https"
		schemes = append(schemes, c.Name, c.URL.Scheme())
	}
	if plain {
		log.WarnContext(ctx, "calls are in plain text: PRISM_INTERNAL_TLS_DIR is set, but an address has no https://", schemes...)
	}
	return identity, nil
}

// BehindGateway are the settings of a gateway that has a console behind it (spec: console-behind-the-gateway).
type BehindGateway struct {
	URL    config.URL `env:"PRISM_CONSOLE_URL" schemes:"http https" example:"http://127.0.0.1:8083" help:"where the console is; without it there is none"`
	Tokens ConsoleTokens
}

// Open makes the proxy; nil without a console. It has at most so many connections.
func (b BehindGateway) Open(identity *mtls.Identity, deps ClientDeps, log *slog.Logger, conns int) (*Proxy, error) {
	if b.URL.IsZero() {
		return nil, nil
	}
	tokens, err := b.Tokens.Open(log)
	if err != nil {
		return nil, err
	}
	if tokens == nil {
		return nil, errors.New("PRISM_CONSOLE_TOKEN: is required with PRISM_CONSOLE_URL: the token that the console accepts")
	}
	proxy, err := NewProxy(ClientConfig{URL: b.URL.String(), TLS: identity, Tokens: tokens, MaxConns: conns}, deps)
	if err != nil {
		return nil, fmt.Errorf("PRISM_CONSOLE_URL: %w (for example PRISM_CONSOLE_URL=http://127.0.0.1:8083)", err)
	}
	return proxy, nil
}
