package files

import (
	"context"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

func (h *Handlers) listFileRows(ctx context.Context, c store.Caller, in api.ListFileRowsRequest) ([]byte, error) {
	f, err := h.store.File(ctx, c.Account, in.File)
	if err != nil {
		return nil, err
	}
	if f.Status != prism.FileReady {
		return nil, apierr.FileNotReady()
	}
	layout, err := f.ReadLayout()
	if err != nil {
		return nil, err
	}
	var page bodies.Page
	for next := in.Offset + 1; next <= min(f.Rows, in.Offset+int64(in.Limit)); {
		chunk, err := h.store.FileChunkOf(ctx, c.Account, in.File, next)
		if err != nil {
			return nil, err
		}
		rows, err := h.Rows(ctx, c.Account, f, layout, chunk)
		if err != nil {
			return nil, err
		}
		for _, row := range rows[next-chunk.FirstRow:] {
			if page.Len() == in.Limit || !page.Add(rowObject(layout.Columns, row)) {
				return page.Body(""), nil
			}
			next++
		}
	}
	return page.Body(""), nil
}

// rowObject is a row as an object in column order. What a row of jsonl lacks is null.
func rowObject(columns []tabular.Column, row tabular.Row) strictjson.Value {
	object := []byte{'{'}
	for i, c := range columns {
		if i > 0 {
			object = append(object, ',')
		}
		object = append(strictjson.AppendString(object, c.Name), ':')
		if row.Absent(i) {
			object = append(object, "null"...)
		} else {
			object = strictjson.AppendString(object, row.Cells[i])
		}
	}
	return append(object, '}')
}

// Rows reads the rows of a chunk of a ready file, whose layout is known.
func (h *Handlers) Rows(
	ctx context.Context, account prism.AccountID, f File, layout tabular.Layout, chunk store.FileChunk,
) ([]tabular.Row, error) {
	owner := store.FileOwner{Account: account, ID: f.ID}
	source := blobs.Copied(h.blobs, owner, f.Copy)
	if !layout.Copied {
		first, last := chunk.Offset/contract.PartBytes+1, (chunk.Offset+chunk.Bytes-1)/contract.PartBytes+1
		parts, err := h.store.Parts(ctx, account, f.ID, int32(first), int32(last)) //nolint:gosec // at most 5,120
		if err != nil {
			return nil, err
		}
		source = blobs.Whole(h.blobs, owner, f.Bytes, parts)
	}
	data, err := source.Range(ctx, chunk.Offset, chunk.Bytes)
	if err != nil {
		return nil, err
	}
	return layout.Rows(f.Format, chunk, data)
}
