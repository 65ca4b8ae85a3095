package modelproxy

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/anthropic"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/offline"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/openaichat"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/openaidecisions"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/systemone"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// newProvider makes the provider, and its client unless the provider is offline.
func newProvider(cfg Config, tracer trace.TracerProvider) (p provider.Provider, client *upstream.Client, err error) {
	if cfg.Provider == offline.Name {
		return offline.New(), nil, nil
	}
	for _, f := range formats() {
		if f.Name == cfg.Provider {
			return open(f, cfg, tracer)
		}
	}
	return p, nil, fmt.Errorf("PRISM_MODEL_PROVIDER: unknown provider %q", cfg.Provider)
}

// formats are those of the providers that have an upstream.
func formats() []provider.Format {
	return []provider.Format{systemone.Format(), openaidecisions.Format(), openaichat.Format(), anthropic.Format()}
}

// open makes the provider. Its error lists every wrong setting.
func open(f provider.Format, cfg Config, tracer trace.TracerProvider) (p provider.Provider, client *upstream.Client, err error) {
	// Secrets that are mounted as files often end in a line break.
	key := strings.TrimSpace(cfg.APIKey)
	base, model := strings.TrimSpace(cfg.BaseURL), cmp.Or(strings.TrimSpace(cfg.ModelName), f.Model)
	var problems []error
	if base == "" {
		base = f.BaseURL
		if key == "" {
			problems = append(problems, fmt.Errorf("PRISM_MODEL_API_KEY: required by %s's own host, "+
				"unless PRISM_MODEL_BASE_URL names another (for example PRISM_MODEL_BASE_URL=http://127.0.0.1:8000/v1)", f.Name))
		}
	}
	if err := upstream.CheckKey(key); err != nil {
		problems = append(problems, fmt.Errorf("PRISM_MODEL_API_KEY: %w", err))
	}
	if model == "" {
		problems = append(problems, fmt.Errorf("PRISM_MODEL_NAME: required by provider %s (for example PRISM_MODEL_NAME=gpt-4.1-mini)", f.Name))
	}
	client, err = upstream.New(upstream.Config{
		Provider: f.Name, BaseURL: base, Header: f.Header(key), MaxConns: cfg.MaxInFlight, Tracer: tracer,
	})
	if err != nil {
		problems = append(problems, fmt.Errorf("PRISM_MODEL_BASE_URL: %w", err))
	}
	if len(problems) > 0 {
		return p, nil, errors.Join(problems...)
	}
	return f.Open(client, model), client, nil
}
