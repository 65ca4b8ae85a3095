package contract

import (
	"context"

	"github.com/prism-results/prism/pkg/prism"
)

// Tries are calls whose answers are not saved.
type Tries interface {
	// TryFacts looks up what the checks of a try need.
	TryFacts(ctx context.Context, key KeyDigest) (TryFacts, error)
	// FinishTry counts what a try used and returns its answers. Each call that takes effect counts, so only one that was not
	// taken (ErrUnavailable) may be repeated. It checks no API key, as Save.
	FinishTry(ctx context.Context, t Try) (Response, error)
}

// TryFacts are about the caller of a try.
type TryFacts struct {
	Account prism.AccountID // never zero
	Key     prism.KeyID
	// Unwritable reports that the store cannot count what the try uses (spec: unwritable-store).
	Unwritable bool `json:",omitzero"`
}

// Try is the outcome of a try.
type Try struct {
	Account    prism.AccountID
	Key        prism.KeyID // that makes the call
	Definition prism.Definition
	Lens       *prism.Lens `json:",omitzero"` // nil: the derived one
	Outcome    Outcome
}
