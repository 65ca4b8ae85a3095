// Package filerun sends a file through a prism as a user does, and reads back every result that the run has made. The results of
// a run are right if there is exactly one for each row, in the order of the file, and the counts of the run add up to its rows.
package filerun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/test/internal/upstream"
)

// Config of a run.
type Config struct {
	URL, Key string // of Prism
	Prism    string // a slug that the account does not have yet
	Rows     int
	// Tag tells the model what to do with a row; its race is the number of the row.
	Tag upstream.Tag
}

// Report is what was seen of a run.
type Report struct {
	Status                                        client.RunStatus
	Rows, OK, Failed, Invalid, Cancelled, Pending int64 // of the run
	Results                                       int   // that it has
	Twice, Foreign, Disordered                    int   // of them: of a row that had one already, of no row, out of order
}

// Line is a line that the run prints: its progress, and at the end its report.
type Line struct {
	Done   int64   `json:"done,omitzero"` // rows
	Report *Report `json:"report,omitzero"`
}

// Do makes a prism, uploads a file, runs it to its end and reads its results. progress is told how many rows are done.
func Do(ctx context.Context, c Config, progress func(done int64)) (*Report, error) {
	prism, err := client.New(client.Config{URL: c.URL, Key: c.Key})
	if err != nil {
		return nil, err
	}
	_, err = prism.CreatePrism(ctx, client.NewPrism{Slug: c.Prism, NewVersion: client.NewVersion{
		Definition: client.Definition{
			Fields:    []client.Field{{Key: "message"}},
			Questions: []client.Question{{Key: "urgent", Type: client.YesNo, Text: "Is it urgent?"}},
		},
	}})
	if err != nil {
		return nil, err
	}
	content := c.file()
	run, err := prism.RunFile(ctx, c.Prism,
		client.Upload{Name: c.Prism + ".csv", Format: client.FileCSV, Content: bytes.NewReader(content), Bytes: int64(len(content))},
		client.NewRun{Fields: map[string]string{"message": "text"}, Ref: "number"},
		func(r client.Run) { progress(r.Done()) })
	if err != nil {
		return nil, err
	}
	report := &Report{
		Status: run.Status, Rows: run.Rows,
		OK: run.OK, Failed: run.Failed, Invalid: run.Invalid, Cancelled: run.Cancelled, Pending: run.Pending,
	}
	rows := newRows(c.Rows)
	for result, err := range prism.Results(ctx, client.ResultFilter{Run: run.ID}) {
		if err != nil {
			return nil, err
		}
		ref := ""
		if result.Ref != nil {
			ref = *result.Ref
		}
		rows.see(ref, report)
	}
	return report, nil
}

// file is the content of the file.
func (c Config) file() []byte {
	b := []byte("number,text\r\n")
	for row := 1; row <= c.Rows; row++ {
		tag := c.Tag
		tag.Race = row
		b = fmt.Appendf(b, "%d,%s\r\n", row, tag)
	}
	return b
}

// rows knows which rows have a result.
type rows struct {
	has  []bool
	last int
}

func newRows(n int) *rows { return &rows{has: make([]bool, n)} }

// see counts a result with the ref of a row.
func (r *rows) see(ref string, report *Report) {
	report.Results++
	row, err := strconv.Atoi(ref)
	switch {
	case err != nil || row < 1 || row > len(r.has):
		report.Foreign++
		return
	case r.has[row-1]:
		report.Twice++
	case row < r.last:
		report.Disordered++
	}
	r.has[row-1], r.last = true, row
}

// Right is an error unless the run of so many valid rows has ended with one result for each.
func (r *Report) Right(rows int) error {
	want := int64(rows)
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(r.Status == client.RunFinished, "the run is %s", r.Status)
	check(r.Rows == want, "the run has %d rows, want %d", r.Rows, want)
	check(r.OK+r.Failed == want, "%d rows are ok and %d failed, want %d in all", r.OK, r.Failed, want)
	check(r.Invalid == 0 && r.Cancelled == 0 && r.Pending == 0,
		"%d rows are invalid, %d cancelled, %d pending", r.Invalid, r.Cancelled, r.Pending)
	check(r.Results == rows, "the run has %d results, want %d", r.Results, rows)
	check(r.Twice == 0 && r.Foreign == 0 && r.Disordered == 0,
		"%d results are of a row that had one, %d of no row, %d out of order", r.Twice, r.Foreign, r.Disordered)
	return errors.Join(errs...)
}
