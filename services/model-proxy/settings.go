package modelproxy

import "github.com/prism-results/prism/pkg/config"

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
