package results

import (
	"context"

	"github.com/prism-results/prism/services/results/internal/store"
)

// Writable returns an error while the store cannot be written (spec: unwritable-store).
func (h *Handlers) Writable() error {
	switch {
	case h.deps.Store.Full():
		return store.ErrFull
	case h.saves.refused():
		return store.ErrUnwritable
	}
	return nil
}

// Refuses reports whether no call goes to the model.
func (h *Handlers) Refuses() bool { return h.Writable() != nil }

// NoteSave records what became of a save.
func (h *Handlers) NoteSave(err error) { h.saves.note(err) }

// Probe probes a store that cannot be written, until ctx ends.
func (h *Handlers) Probe(ctx context.Context) { h.saves.probe(ctx, h.Refuses, h.deps.Store.ProbeWrite) }
