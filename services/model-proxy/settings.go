package modelproxy

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/services/model-proxy/internal/modelsfile"
)

// Config selects the models: those of a file, or a single model. A single model requires Provider, and the provider decides
// which other fields are required.
type Config struct {
	// ModelsFile is the YAML file of models (PRISM_MODELS_FILE). With it, the fields of the single model are not used.
	ModelsFile string
	// Getenv reads the variables that the file names. It is os.Getenv by default.
	Getenv func(name string) string

	// EnvironmentProxy: models without a proxy of their own use that of HTTPS_PROXY and NO_PROXY (PRISM_UPSTREAM_PROXY=environment).
	EnvironmentProxy bool

	// Provider is the value of PRISM_MODEL_PROVIDER.
	Provider string
	// BaseURL is the upstream's address without the provider's path, such as http://127.0.0.1:8000/v1
	// (PRISM_MODEL_BASE_URL). Empty selects the provider's own host.
	BaseURL string
	// ModelName is the model to ask (PRISM_MODEL_NAME). Empty selects the provider's default; openai-chat has none.
	ModelName string
	// APIKey authenticates this service (PRISM_MODEL_API_KEY). The providers' own hosts require one.
	APIKey string
	// APIKeyFile is the file with the key instead (PRISM_MODEL_API_KEY_FILE); it is read again when it changes.
	APIKeyFile string

	// MaxInFlight limits concurrent asks of all models: one more gets contract.ErrUnavailable (spec: overload). 0 means 256.
	MaxInFlight int
	// Memory is the memory limit of the process in bytes. The answers of upstreams hold at most a sixteenth of it, and at most 64 MiB,
	// as long as no account is below its share (spec: answer-budget). 0 is no limit.
	Memory int64
}

// Deps receive the service's telemetry. A nil field drops what would go there.
type Deps struct {
	// Metrics takes the service's collectors, whose names begin with prism_model_.
	Metrics prometheus.Registerer
	// Log gets one line for each model that failed an ask: model, provider, reason, status and duration.
	Log *slog.Logger
	// Tracer makes a client span per upstream attempt. The attempt's request carries the trace context.
	Tracer trace.TracerProvider
}

// Upstream are the settings of models that prism and prism-model-proxy share. PRISM_MODEL_PROVIDER is not among them: only prism
// has a default for it.
type Upstream struct {
	File    string        `env:"PRISM_MODELS_FILE" example:"/etc/prism/models.yaml" help:"YAML file of models, instead of the PRISM_MODEL_ variables; read again when it changes"`
	BaseURL config.URL    `env:"PRISM_MODEL_BASE_URL" example:"http://127.0.0.1:8000/v1" help:"the upstream's address; the provider's own when not set"`
	Model   string        `env:"PRISM_MODEL_NAME" help:"the upstream's model; the provider's own when not set"`
	APIKey  config.Secret `env:"PRISM_MODEL_API_KEY" help:"the upstream's key"`
	KeyFile string        `env:"PRISM_MODEL_API_KEY_FILE" help:"file with the upstream's key, instead of PRISM_MODEL_API_KEY; read again when it changes"`
	Proxy   string        `env:"PRISM_UPSTREAM_PROXY" oneof:"environment" help:"environment: models without a proxy of their own use that of HTTPS_PROXY and NO_PROXY"`
}

// Config is the configuration of the service with these settings and the provider. The error lists the settings that a file of
// models excludes (spec: models-file).
func (u Upstream) Config(env config.Environment, provider string) (Config, error) {
	var problems config.Invalid
	if u.Proxy != "" {
		if name := modelsfile.WrongProxy(env.Getenv); name != "" {
			problems = append(problems, config.Problem{Variable: name, Text: "must be the address of a proxy", Example: "http://proxy:3128"})
		}
	}
	c := Config{ModelsFile: u.File, Getenv: env.Getenv, EnvironmentProxy: u.Proxy != ""}
	if u.File == "" {
		c.Provider, c.BaseURL, c.ModelName, c.APIKey = provider, u.BaseURL.String(), u.Model, u.APIKey.Reveal()
		c.APIKeyFile = u.KeyFile
	}
	if u.APIKey != "" && u.KeyFile != "" {
		problems = append(problems, config.Problem{Variable: "PRISM_MODEL_API_KEY_FILE", Text: "cannot be set together with PRISM_MODEL_API_KEY"})
	}
	for _, v := range []struct {
		name string
		set  bool
	}{
		{"PRISM_MODEL_PROVIDER", env.Getenv("PRISM_MODEL_PROVIDER") != ""}, // provider may hold the default
		{"PRISM_MODEL_BASE_URL", !u.BaseURL.IsZero()},
		{"PRISM_MODEL_NAME", u.Model != ""},
		{"PRISM_MODEL_API_KEY", u.APIKey != ""},
		{"PRISM_MODEL_API_KEY_FILE", u.KeyFile != ""},
	} {
		if v.set && u.File != "" {
			problems = append(problems, config.Problem{Variable: v.name, Text: "cannot be set together with PRISM_MODELS_FILE"})
		}
	}
	if len(problems) > 0 {
		return Config{}, problems
	}
	return c, nil
}
