package files

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// readyEvery is the time between two looks whether a file was read.
const readyEvery = 50 * time.Millisecond

// Keep stores a file in JSONL, which is then read.
func (h *Handlers) Keep(ctx context.Context, account prism.AccountID, name string, content []byte) (prism.FileID, error) {
	f, err := h.addFile(ctx, account, api.NewFile{Name: name, Format: prism.FileJSONL, Bytes: int64(len(content))})
	if err != nil {
		return f.ID, err
	}
	number := int32(0)
	for data := range slices.Chunk(content, contract.PartBytes) {
		number++
		if _, err := h.addPart(ctx, account, f, contract.FilePart{File: f.ID, Number: number, Data: data}); err != nil {
			return f.ID, err
		}
	}
	return f.ID, h.store.SetReading(ctx, account, f.ID, prism.Now(h.now))
}

// AwaitReading waits until a file was read, or ctx ends: nothing was made that a caller knows of, and the file expires.
func (h *Handlers) AwaitReading(ctx context.Context, account prism.AccountID, id prism.FileID) error {
	look := time.NewTicker(readyEvery)
	defer look.Stop()
	for {
		f, err := h.store.File(ctx, account, id)
		if err != nil || f.Status != prism.FileReading {
			return err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return errors.Join(contract.ErrUnavailable, ctx.Err())
		}
	}
}
