package service

import (
	"context"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// FileRows implements contract.Files.
func (s *Service) FileRows(
	ctx context.Context, key contract.KeyDigest, id prism.FileID, q contract.FileRows,
) (contract.Response, error) {
	return s.manage(ctx, key, readFileRows, apierr.FileNotFound(), func(account prism.AccountID) (any, error) {
		f, err := s.Store.File(ctx, account, id)
		if err != nil {
			return nil, err
		}
		if f.Status != store.FileReady {
			return nil, apierr.FileNotReady()
		}
		layout, err := layoutOf(f)
		if err != nil {
			return nil, err
		}
		var page listPage
		for next := q.Offset + 1; next <= min(f.Rows, q.Offset+int64(q.Limit)); {
			chunk, err := s.Store.FileChunkOf(ctx, account, id, next)
			if err != nil {
				return nil, err
			}
			rows, err := s.rowsOfChunk(ctx, account, f, layout, chunk)
			if err != nil {
				return nil, err
			}
			for _, row := range rows[next-chunk.FirstRow:] {
				if len(page.rows) == q.Limit || !page.add(rowObject(layout.Columns, row)) {
					return page.body(""), nil
				}
				next++
			}
		}
		return page.body(""), nil
	})
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

// fileRows reads the rows of a chunk of a ready file.
func (s *Service) fileRows(
	ctx context.Context, account prism.AccountID, f store.File, chunk store.FileChunk,
) ([]tabular.Row, error) {
	layout, err := layoutOf(f)
	if err != nil {
		return nil, err
	}
	return s.rowsOfChunk(ctx, account, f, layout, chunk)
}

// rowsOfChunk is fileRows of a file whose layout is known.
func (s *Service) rowsOfChunk(
	ctx context.Context, account prism.AccountID, f store.File, layout tabular.Layout, chunk store.FileChunk,
) ([]tabular.Row, error) {
	owner := store.FileOwner{Account: account, ID: f.ID}
	source := blobs.Copied(s.Blobs, owner, f.Copy)
	if !layout.Copied {
		first, last := chunk.Offset/contract.PartBytes+1, (chunk.Offset+chunk.Bytes-1)/contract.PartBytes+1
		parts, err := s.Store.Parts(ctx, account, f.ID, int32(first), int32(last)) //nolint:gosec // at most 5,120
		if err != nil {
			return nil, err
		}
		source = blobs.Whole(s.Blobs, owner, f.Bytes, parts)
	}
	data, err := source.Range(ctx, chunk.Offset, chunk.Bytes)
	if err != nil {
		return nil, err
	}
	return layout.Rows(f.Format, chunk, data)
}
