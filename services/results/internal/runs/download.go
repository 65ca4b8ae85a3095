package runs

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tables"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// The bytes of a cell beside its text and its JSON.
const textBytes, valueBytes = 16, 24

// downloadChunks is how many chunks of a run a download asks the store for.
const downloadChunks = 16

// ListRows is the stream of api.ListRunRows.
func (h *Handlers) ListRows(ctx context.Context, c store.Caller, in api.ListRunRowsRequest) (contract.Stream, error) {
	run, err := h.deps.Store.ReadRun(ctx, c.Account, in.Run)
	if err != nil {
		return contract.Stream{}, err
	}
	file, err := h.deps.Store.File(ctx, c.Account, run.File)
	if err != nil {
		return contract.Stream{}, access.Translate(err, apierr.FileNotFound())
	}
	in.Format = cmp.Or(in.Format, prism.RowsFormatOf(file.Format))
	layout, err := file.ReadLayout()
	if err != nil {
		return contract.Stream{}, err
	}
	p, err := h.deps.Store.Prism(ctx, c.Account, prism.Ref{ID: run.Prism})
	if err != nil {
		return contract.Stream{}, err
	}
	answered, err := h.deps.Versions.Version(ctx, c.Account, prisms.VersionIn(p, run.Version))
	if err != nil {
		return contract.Stream{}, err
	}
	pinned, err := h.deps.Quality.CalibrationsFor(ctx, c.Account, p.Lens, p.ID, p.Pins, run.Version)
	if err != nil {
		return contract.Stream{}, err
	}
	d := &download{
		runs: h, account: c.Account, run: run, file: file, layout: layout, only: in.Only, after: in.After,
		limit: tables.FirstRows,
	}
	fair.Identify(ctx, c.Account.String())
	d.writer, err = tables.NewRows(
		&d.buffer, in.Format, in.TextStyle, in.Raw, layout.Columns, p.Lens, lens.Compile(p.Lens, answered.Definition, pinned),
		func(held int) bool { return fair.Reserve(ctx, d.rowsHeld()+held, false) },
	)
	if err != nil {
		return contract.Stream{}, err
	}
	if d.number, err = d.begin(ctx); err != nil {
		return contract.Stream{}, err
	}
	d.ctx, d.cancel = context.WithCancel(ctx)
	return contract.Stream{ContentType: tabular.ContentType(in.Format), Body: d}, nil
}

// download is a response body that fetches a chunk of a run when the chunk before has been read, and writes a piece of the chunk
// when the piece before has been read (spec: run-rows-streamed).
type download struct {
	runs    *Handlers
	ctx     context.Context //nolint:containedctx // a reader has no other way to be cancelled
	cancel  context.CancelFunc
	account prism.AccountID
	run     Run
	file    files.File
	layout  tabular.Layout
	only    prism.RowStatus
	after   int64
	writer  *tables.Rows
	parser  answerjson.Parser
	chunks  []Chunk       // that were fetched and are not read
	number  int32         // of the next chunk to fetch
	chunk   Chunk         // whose rows are written
	rows    []tabular.Row // of the chunk, to be written; the last ones of it
	results []RowResult   // of some of these rows
	behind  int64         // the last row whose result was fetched
	limit   int           // how many results to fetch at once
	buffer  bytes.Buffer  // what was written and is not read
	ended   bool
}

// begin is the number of the first chunk to fetch (spec: run-rows-after).
func (d *download) begin(ctx context.Context) (int32, error) {
	switch {
	case d.after == 0:
		return 0, nil
	case d.after >= d.run.Rows:
		return d.file.Chunks, nil
	}
	place, err := d.runs.deps.Store.FileChunkOf(ctx, d.account, d.file.ID, d.after+1)
	return place.Number, err
}

func (d *download) Read(p []byte) (int, error) {
	for d.buffer.Len() == 0 {
		if d.ended {
			return 0, io.EOF
		}
		if err := d.fill(); err != nil {
			return 0, access.Translate(err, nil)
		}
	}
	return d.buffer.Read(p)
}

func (d *download) Close() error {
	d.cancel()
	return nil
}

// Held is about how many bytes of rows are in memory.
func (d *download) HeldBytes() int { return d.rowsHeld() + d.writer.HeldBytes() }

// rowsHeld is HeldBytes without what the writer holds.
func (d *download) rowsHeld() int {
	size := d.buffer.Cap() + len(d.file.Layout)
	for _, r := range d.results {
		size += store.Size(r.Result)
	}
	for _, r := range d.rows {
		size += len(r.Cells)*textBytes + len(r.JSON)*valueBytes
		for i, text := range r.Cells {
			size += len(text)
			if r.JSON != nil {
				size += len(r.JSON[i])
			}
		}
	}
	return size
}

// fill writes rows to the buffer, which was read.
func (d *download) fill() error {
	if d.buffer.Cap() > store.PageBytes {
		d.buffer = bytes.Buffer{} // it was for one large row; the writer has the address
	}
	if len(d.rows) == 0 {
		if ok, err := d.next(); err != nil || !ok {
			return err
		}
	}
	for len(d.rows) > 0 && d.buffer.Len() < tables.PieceBytes {
		at := len(d.chunk.States) - len(d.rows)
		row := d.rows[0]
		d.rows[0], d.rows = tabular.Row{}, d.rows[1:]
		if err := d.row(row, d.chunk.FirstRow+int64(at), d.chunk.States[at]); err != nil {
			return err
		}
	}
	return nil
}

// next fetches the next chunk that has a row to write, or ends the table if there is none.
func (d *download) next() (ok bool, err error) {
	for {
		if len(d.chunks) == 0 {
			if d.chunks, err = d.runs.deps.Store.RunChunks(d.ctx, d.account, d.run.ID, d.number, downloadChunks); err != nil {
				return false, err
			}
			if len(d.chunks) == 0 {
				d.ended = true
				return false, d.writer.Close()
			}
			d.number = d.chunks[len(d.chunks)-1].Number + 1
		}
		d.chunk, d.chunks = d.chunks[0], d.chunks[1:]
		if d.wanted() {
			return true, d.fetch()
		}
	}
}

// wanted tells whether the chunk has a row to write.
func (d *download) wanted() bool {
	for _, state := range d.chunk.States {
		if d.only == api.AllRows || statusOfRow(state) == d.only {
			return true
		}
	}
	return false
}

// fetch fetches the rows of the chunk.
func (d *download) fetch() error {
	place, err := d.runs.deps.Store.FileChunk(d.ctx, d.account, d.file.ID, d.chunk.Number)
	if err != nil {
		return err
	}
	if d.rows, err = d.runs.deps.Files.Rows(d.ctx, d.account, d.file, d.layout, place); err != nil {
		return err
	}
	if len(d.rows) != len(d.chunk.States) {
		return fmt.Errorf("chunk %d of file %s has %d rows, and of run %s %d",
			d.chunk.Number, d.file.ID, len(d.rows), d.run.ID, len(d.chunk.States))
	}
	d.results, d.behind = nil, 0
	return nil
}

// row writes a row if its state is wanted. A row that is pending again has a result of the attempt before, which is not shown; that
// of a row whose retry was cancelled is. A result that was deleted leaves the state (spec: run-rows-columns).
func (d *download) row(row tabular.Row, number int64, state byte) error {
	if number <= d.after {
		return nil
	}
	status := statusOfRow(state)
	r, err := d.result(number)
	if err != nil {
		return err
	}
	if status == prism.RowPending || status == prism.RowInvalid {
		r = nil
	}
	if r != nil && (status != prism.RowCancelled || r.Status == prism.OK) {
		status = prism.RowStatus(r.Status) // it was retried by itself since the state was read
	}
	if d.only != api.AllRows && status != d.only {
		return nil
	}
	o := tables.Outcome{Number: number, Status: status}
	if status == prism.RowInvalid {
		o.Message = new(d.chunk.Invalid[number])
	}
	if r != nil {
		o.Result = r.ID
		if r.Status == prism.Failed {
			o.Message = &r.Error
		} else {
			answers, err := d.parser.Parse(r.Answers)
			if err != nil {
				return fmt.Errorf("result %s: %w", r.ID, err)
			}
			o.Answers = &answers
		}
	}
	return d.writer.Row(row, o)
}

// result is the result of a row, or nil. Rows come in order. Results are fetched a piece at a time: those of a chunk can be many times
// as large as its rows.
func (d *download) result(row int64) (*prism.Result, error) {
	for len(d.results) > 0 && d.results[0].Row < row {
		d.results[0], d.results = RowResult{}, d.results[1:]
	}
	if len(d.results) == 0 && d.behind < row {
		last := d.chunk.FirstRow + int64(len(d.chunk.States)) - 1 // the states of later rows may not be read yet
		fetched, err := d.runs.deps.Store.RunResults(d.ctx, d.account, d.run.ID, row, min(d.limit, int(last-row)+1))
		if err != nil {
			return nil, err
		}
		d.behind = last
		size := 0
		for _, r := range fetched {
			d.behind = r.Row
			size += store.Size(r.Result)
		}
		d.results = slices.DeleteFunc(fetched, func(r RowResult) bool { return r.Row > last })
		d.limit = tables.NextPiece(d.limit, len(fetched), size)
	}
	if len(d.results) > 0 && d.results[0].Row == row {
		return &d.results[0].Result, nil
	}
	return nil, nil //nolint:nilnil // see above
}

// statusOfRow is the state for which a letter stands.
func statusOfRow(letter byte) prism.RowStatus {
	switch letter {
	case RowOKState:
		return prism.RowOK
	case RowFailedState:
		return prism.RowFailed
	case RowInvalidState:
		return prism.RowInvalid
	case RowCancelledState:
		return prism.RowCancelled
	}
	return prism.RowPending
}
