package wire

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Models is contract.Models over HTTP.
type Models struct{ c *client }

var _ contract.Models = (*Models)(nil)

// NewModels makes the client. Its first call connects.
func NewModels(cfg ClientConfig, deps ClientDeps) (*Models, error) {
	c, err := newClient(cfg, deps)
	return &Models{c}, err
}

// Close closes the idle connections. Calls under way go on.
func (m *Models) Close() { m.c.close() }

// Ask implements contract.Models. A model is called once at most: only what called no model is sent again.
func (m *Models) Ask(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
	if a.Hash != (prism.DefinitionHash{}) {
		outcome, err := decode[contract.Outcome](m.c.call(ctx, pathAskByHash, ask{Hash: a.Hash, Fields: a.Fields, Context: a.Context}))
		if !errors.Is(err, errUnknownDefinition) {
			return outcome, err
		}
	}
	return decode[contract.Outcome](m.c.call(ctx, pathAsk, a))
}
