package wire_test

import (
	"bytes"
	"context"
	"log/slog"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/prism"
)

// wide has a row whose one cell, of the largest size, is the value of every field that a prism may have. It keeps the part it got.
type wide struct {
	calm
	rows []contract.ChunkRow
	part contract.FilePart
}

func (w *wide) LeaseChunk(context.Context, prism.UUID) (*contract.Chunk, error) {
	return &contract.Chunk{Rows: w.rows}, nil
}

func (w *wide) PlanRows(context.Context, contract.KeyDigest, contract.PlanRows) ([]contract.ChunkRow, error) {
	return w.rows, nil
}

func (w *wide) PutPart(_ context.Context, _ contract.KeyDigest, p contract.FilePart) (contract.Response, error) {
	w.part = p
	return page, nil
}

// What is as large as a part or a row of a file travels once, and is no larger on its way.
// spec: file-parts, run-chunks
func TestALargeCallIsAsLargeAsItsContent(t *testing.T) {
	t.Parallel()
	const other = 16 << 10 // of a call, beside its content
	far, cell := &wide{rows: []contract.ChunkRow{{Row: 1}}}, strings.Repeat("x", 1<<20)
	for i := range 50 {
		far.rows[0].Fields = append(far.rows[0].Fields, prism.FieldValue{Key: "field_" + strconv.Itoa(i), Value: cell})
	}
	part := contract.FilePart{File: prism.FileID{UUID: prism.UUID{1}}, Number: 7, Data: bytes.Repeat([]byte{0, '"', 0xff, '\n'}, contract.PartBytes/4)}
	var bytes atomic.Int64
	near := resultsAt(t, serve(t, func(app *fiber.App, log *slog.Logger) {
		app.Use(func(c *fiber.Ctx) error {
			sent := c.Request().Header.ContentLength()
			err := c.Next()
			bytes.Store(int64(sent + len(c.Response().Body())))
			return err
		})
		wire.MountResults(app, far, tokens(token), log)
	}))
	for name, call := range map[string]func() (got, want any, err error){
		"a lease": func() (any, any, error) {
			c, err := near.LeaseChunk(t.Context(), prism.UUID{})
			if err != nil {
				return nil, nil, err
			}
			return c.Rows, far.rows, nil
		},
		"rows of a plan": func() (any, any, error) {
			rows, err := near.PlanRows(t.Context(), contract.KeyDigest{}, contract.PlanRows{})
			return rows, far.rows, err
		},
		"a part of a file": func() (any, any, error) {
			_, err := near.PutPart(t.Context(), contract.KeyDigest{}, part)
			return far.part, part, err
		},
	} {
		got, want, err := call()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s did not arrive as it is: %v", name, err)
		}
		if n := bytes.Load(); n > contract.PartBytes+other {
			t.Errorf("%s has %d bytes on its way", name, n)
		}
	}
}
