package modelproxy

import (
	"cmp"
	"context"
	"strings"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/anthropic"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/offline"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/openaichat"
)

// defaultName is the name of the model of the settings PRISM_MODEL_*.
const defaultName = "default"

// List implements contract.Models: the one model of the settings.
func (s *Service) List(context.Context) ([]contract.Model, error) {
	return []contract.Model{s.model}, nil
}

// describe is what is shown of the model of the settings: no address, key or header.
func describe(cfg Config, provider string) contract.Model {
	model := strings.TrimSpace(cfg.ModelName)
	for _, f := range formats() {
		if f.Name == provider {
			model = cmp.Or(model, f.Model)
		}
	}
	if provider == offline.Name {
		model = offline.Name // whatever the settings say
	}
	return contract.Model{
		Name: defaultName, Provider: provider, Model: model, Default: true, Probabilities: probabilitiesOf(provider),
		Fallback: []string{},
	}
}

// probabilitiesOf says where the probabilities of a provider's models come from (spec: models-list).
func probabilitiesOf(provider string) contract.Probabilities {
	switch provider {
	case openaichat.Format().Name:
		return contract.Logprobs
	case anthropic.Format().Name:
		return contract.Stated
	case offline.Name:
		return contract.Simulated
	default:
		return contract.Native
	}
}
