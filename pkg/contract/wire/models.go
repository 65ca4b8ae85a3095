package wire

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// Models is contract.Models over HTTP. Close closes the idle connections; calls under way go on.
type Models interface {
	contract.Models
	Close()
}

type models struct{ *client }

// NewModels makes the client. Its first call connects.
func NewModels(cfg ClientConfig, deps ClientDeps) (Models, error) {
	c, err := newClient(cfg, deps)
	return models{c}, err
}

// Ask implements contract.Models. A model is called once at most: only what called no model is sent again.
func (m models) Ask(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
	sent := ask{Hash: a.Hash, Fields: a.Fields, Context: a.Context, Hints: hints{Background: a.Background}}
	if a.Hash != (prism.DefinitionHash{}) {
		outcome, err := decode[contract.Outcome](m.call(ctx, pathAskByHash, &sent))
		if !errors.Is(err, errUnknownDefinition) {
			return outcome, err
		}
	}
	var err error
	if sent.Definition, err = strictjson.Marshal(a.Definition); err != nil { // as contract.HashDefinition does
		return contract.Outcome{}, err
	}
	return decode[contract.Outcome](m.call(ctx, pathAsk, &sent))
}

// Check implements contract.Models. A model-proxy of the release before does not know the path: no model was called.
func (m models) Check(ctx context.Context, name string) (contract.ModelCheck, error) {
	return decode[contract.ModelCheck](m.call(ctx, pathCheckModel, argsCheckModel{name}))
}

// States implements contract.Models.
func (m models) States(ctx context.Context) ([]api.ModelState, error) {
	return decode[[]api.ModelState](m.lookUp(ctx, pathModelStates, argsModelStates{}))
}

// List implements contract.Models.
func (m models) List(ctx context.Context) ([]api.Model, error) {
	return decode[[]api.Model](m.lookUp(ctx, pathListModels, argsListModels{}))
}
