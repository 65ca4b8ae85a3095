package wire_test

import (
	"bytes"
	"context"
	"log/slog"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/prism"
)

// kept keeps the part it got.
type kept struct {
	calm
	part contract.FilePart
}

func (k *kept) PutPart(_ context.Context, _ contract.KeyDigest, p contract.FilePart) (contract.Response, error) {
	k.part = p
	return page, nil
}

// spec: file-parts
func TestAPartOfAFileIsAsLargeAsItsContent(t *testing.T) {
	t.Parallel()
	const other = 16 << 10 // of a call, beside its content
	var far kept
	part := contract.FilePart{File: prism.FileID{UUID: prism.UUID{1}}, Number: 7, Data: bytes.Repeat([]byte{0, '"', 0xff, '\n'}, contract.PartBytes/4)}
	var sent atomic.Int64
	near := resultsAt(t, serve(t, func(app *fiber.App, log *slog.Logger) {
		app.Use(func(c *fiber.Ctx) error {
			sent.Store(int64(c.Request().Header.ContentLength()))
			return c.Next()
		})
		wire.MountResults(app, &far, tokens(token), log)
	}))
	if _, err := near.PutPart(t.Context(), contract.KeyDigest{}, part); err != nil || !reflect.DeepEqual(far.part, part) {
		t.Errorf("the part did not arrive as it is: %v", err)
	}
	if n := sent.Load(); n > contract.PartBytes+other {
		t.Errorf("the part has %d bytes on its way", n)
	}
}
