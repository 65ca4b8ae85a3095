package wire

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
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

// Ask implements contract.Models. A call is sent once: a model may be paid for each.
func (m *Models) Ask(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
	return decode[contract.Outcome](m.c.call(ctx, pathAsk, a))
}
