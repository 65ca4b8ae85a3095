package tabular

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/results/internal/store"
)

// chunker groups rows into chunks (spec: file-chunks).
type chunker struct {
	ctx   context.Context //nolint:containedctx // of the one call of Read that made it
	note  func(store.FileChunk) error
	place string          // what messages call a row of the file: Line or Row
	chunk store.FileChunk // the current chunk, which is not noted yet
	rows  int64

	bad     badRows
	skipped int64 // rows without any text
	titles  titles
}

// add adds the next row, which has this many bytes from an offset on and begins in a line. Bytes between two rows belong to no
// row.
func (c *chunker) add(offset, bytes, line int64) error {
	if c.rows == MaxRows {
		return unusable(c.place, line, "a file may have %d rows.", MaxRows)
	}
	if c.chunk.Rows == contract.ChunkRows || c.chunk.Rows > 0 && offset+bytes-c.chunk.Offset > contract.ChunkBytes {
		if err := c.flush(); err != nil {
			return err
		}
	}
	if c.chunk.Rows == 0 {
		c.chunk.FirstRow, c.chunk.Offset, c.chunk.Line = c.rows+1, offset, line
	}
	c.chunk.Rows++
	c.chunk.Bytes = offset + bytes - c.chunk.Offset
	if c.rows++; c.rows == badSampleRows {
		return c.bad.check(c.rows)
	}
	return nil
}

// flush notes the chunk, and begins the next.
func (c *chunker) flush() error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if err := c.note(c.chunk); err != nil {
		return err
	}
	c.chunk = store.FileChunk{Number: c.chunk.Number + 1}
	return nil
}

// end notes the last chunk.
func (c *chunker) end() error {
	if c.rows == 0 {
		return errNoRows
	}
	if c.rows < badSampleRows {
		if err := c.bad.check(c.rows); err != nil {
			return err
		}
	}
	return c.flush()
}
