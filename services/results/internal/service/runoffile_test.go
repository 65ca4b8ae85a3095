package service_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// runOfFile is a store with one run of one file. A letter of states is the state of a row.
type runOfFile struct {
	sqlstore.Store
	run     runs.Run
	file    files.File
	layout  tabular.Layout
	data    []byte
	places  []store.FileChunk
	states  string
	invalid map[int64]string
	results []runs.RowResult
	page    int // the most results of a page; 0: as asked
	read    []int32
}

// runOf reads a file, and makes it one that a run of the prism has rows of.
func (w *world) runOf(t *testing.T, id prism.PrismID, format prism.FileFormat, data, states string) *runOfFile {
	t.Helper()
	f := &runOfFile{Store: w.store.Store, data: []byte(data), states: states}
	source := io.NewSectionReader(strings.NewReader(data), 0, int64(len(data)))
	layout, rows, err := tabular.Read(t.Context(), format, tabular.Options{}, source, io.Discard, func(c store.FileChunk) error {
		f.places = append(f.places, c)
		return nil
	})
	if err != nil || rows != int64(len(states)) {
		t.Fatalf("%d rows: %v", rows, err)
	}
	f.layout = layout
	described, err := strictjson.Marshal(layout)
	if err != nil {
		t.Fatal(err)
	}
	f.file = files.File{
		ID: prism.FileID{UUID: w.id()}, Format: format, Status: prism.FileReady, Layout: described, Bytes: int64(len(data)),
		Chunks: int32(len(f.places)),
	}
	f.run = runs.Run{ID: prism.RunID{UUID: w.id()}, Prism: id, Version: 1, File: f.file.ID, Rows: rows}
	w.store.Store, w.blobs.Blobs = f, contentOf{data: f.data}
	return f
}

func (f *runOfFile) ReadRun(_ context.Context, _ prism.AccountID, id prism.RunID) (runs.Run, error) {
	if id != f.run.ID {
		return runs.Run{}, store.ErrNotFound
	}
	return f.run, nil
}

func (f *runOfFile) File(_ context.Context, _ prism.AccountID, id prism.FileID) (files.File, error) {
	if id != f.file.ID {
		return files.File{}, store.ErrNotFound
	}
	return f.file, nil
}

func (f *runOfFile) FileChunk(_ context.Context, _ prism.AccountID, _ prism.FileID, number int32) (store.FileChunk, error) {
	f.read = append(f.read, number)
	return f.places[number], nil
}

func (f *runOfFile) FileChunkOf(_ context.Context, _ prism.AccountID, _ prism.FileID, row int64) (store.FileChunk, error) {
	for _, p := range f.places {
		if row < p.FirstRow+int64(p.Rows) {
			return p, nil
		}
	}
	return store.FileChunk{}, store.ErrNotFound
}

func (f *runOfFile) Parts(_ context.Context, _ prism.AccountID, _ prism.FileID, from, to int32) (parts []store.Part, _ error) {
	for n := from; n <= to; n++ {
		parts = append(parts, store.Part{Number: n, SHA256: sha256.Sum256(part(prism.FileID{}, f.data, n).Data)})
	}
	return parts, nil
}

// contentOf is a store of contents with the parts of one file.
type contentOf struct {
	blobs.Blobs
	data []byte
}

func (c contentOf) Get(_ context.Context, _ store.FileOwner, name string, offset, bytes int64) ([]byte, error) {
	var number int64
	if _, err := fmt.Sscanf(name, "part-%05d-", &number); err != nil {
		return nil, err
	}
	at := (number-1)*contract.PartBytes + offset
	return c.data[at : at+bytes], nil
}

func (f *runOfFile) RunChunks(
	_ context.Context, _ prism.AccountID, _ prism.RunID, from int32, limit int,
) (chunks []runs.Chunk, _ error) {
	for _, p := range f.places[from:min(int(from)+limit, len(f.places))] {
		first := p.FirstRow - 1
		chunks = append(chunks, runs.Chunk{
			Number: p.Number, FirstRow: p.FirstRow, States: []byte(f.states[first : first+int64(p.Rows)]), Invalid: f.invalid,
		})
	}
	return chunks, nil
}

func (f *runOfFile) RunResults(
	_ context.Context, _ prism.AccountID, _ prism.RunID, first int64, limit int,
) (page []runs.RowResult, _ error) {
	if f.page > 0 {
		limit = min(limit, f.page)
	}
	for _, r := range f.results {
		if r.Row >= first && len(page) < limit {
			page = append(page, r)
		}
	}
	return page, nil
}

// answer gives a row a result.
func (f *runOfFile) answer(row int64, probability float64, text string) {
	r := runs.RowResult{Row: row}
	r.ID.UUID[15], r.Version, r.Prism = byte(row), 1, f.run.Prism
	if r.Status, r.Error = prism.Failed, text; text == "" {
		r.Status = prism.OK
		r.Answers = answerjson.Append(nil, prism.Answers{{Question: "q", Type: prism.YesNo, Probability: probability}})
	}
	f.results = append(f.results, r)
}
