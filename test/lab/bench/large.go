package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// large is how much each process grows while a file of 5 GiB is uploaded, read, run and downloaded. On two idle cores it takes 20
// minutes, and some 22 GB of disk, so that it is measured only when it is named. -systems names sqlite, three or both.
func (b *bench) large(ctx context.Context) error {
	data, err := b.data(ctx)
	if err != nil {
		return err
	}
	b.folders++
	folder := filepath.Join(b.dir, "large-"+strconv.Itoa(b.folders))
	for _, c := range []struct {
		word, name string
		start      func() (*system.System, error)
	}{
		{"sqlite", system.OnSQLite, func() (*system.System, error) { return b.stores.SQLite(ctx, b.bin, folder, "", 1, system.Small) }},
		{"three", system.ThreeProcesses + " and a worker", func() (*system.System, error) { return data.Workers(ctx, b.bin, "") }},
	} {
		if !b.wants(b.Systems, c.word) {
			continue
		}
		s, err := c.start()
		if err != nil {
			return err
		}
		err = b.largeOnce(ctx, c.name, s)
		s.Close()
		if err := errors.Join(err, os.RemoveAll(folder)); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// warmRows are the rows of a file that is run first, so that what every process loads once is no growth.
const warmRows = 2000

func (b *bench) largeOnce(ctx context.Context, name string, s *system.System) error {
	c, err := newRunner(s)
	if err != nil {
		return err
	}
	if _, _, err := c.wholeRun(ctx, numberedRows{rows: warmRows}); err != nil {
		return err
	}
	m, err := system.Watch(s)
	if err != nil {
		return err
	}
	rows := numberedRows{rows: b.Large, bad: b.Bad}
	read, rate, err := c.wholeRun(ctx, rows)
	grown, sampled := m.Stop()
	if err := errors.Join(err, sampled); err != nil {
		return err
	}
	file := fmt.Sprintf("%s, a file of %d rows and %d MiB", name, rows.rows, rows.size()>>20)
	if rows.bad > 0 {
		file += fmt.Sprintf(" with %d bad rows", rows.bad)
	}
	for _, p := range s.Processes {
		b.report.add(b.out, atMost("large", file+", growth of "+p.Name, "MiB", []float64{float64(grown[p]) / (1 << 20)}, 64))
	}
	b.report.add(b.out,
		plain("large", file+", upload and reading", "s", []float64{read.Seconds()}),
		plain("large", file+", run with the offline model", "rows/s", []float64{rate}))
	return nil
}

// wholeRun uploads a file, which is then read, runs it, and downloads it with the answers.
func (r runner) wholeRun(ctx context.Context, rows numberedRows) (read time.Duration, perSecond float64, err error) {
	began := time.Now()
	file, err := r.UploadFile(ctx, client.Upload{Name: "large.csv", Format: client.FileCSV, Content: rows, Bytes: rows.size()})
	if err != nil {
		return 0, 0, err
	}
	read, began = time.Since(began), time.Now()
	run, err := r.finish(ctx, file, int64(rows.bad))
	if err != nil {
		return 0, 0, err
	}
	perSecond = float64(rows.rows) / time.Since(began).Seconds()
	return read, perSecond, r.downloaded(ctx, run.ID, rows)
}

// downloaded reads the rows of a run, which come in the order of the file and were answered, but for the bad ones, which have their line.
func (r runner) downloaded(ctx context.Context, run string, rows numberedRows) error {
	body, err := r.ListRunRows(ctx, run, client.RunRows{Format: client.RowsCSV})
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewReaderSize(body, 1<<16)
	if _, err := lines.ReadSlice('\n'); err != nil { // the header
		return err
	}
	for row := range rows.rows {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("row %d of the download: %w", row+1, err)
		}
		if rows.isBad(int64(row)) {
			if want := fmt.Sprintf(",%d,,invalid,\"Line %d: 1 cell, but the header has 2.\"", row+1, row+2); !strings.Contains(string(line), want) {
				return fmt.Errorf("row %d of the download is no %s: %.40s … %s", row+1, want, line, line[max(0, len(line)-100):])
			}
			continue
		}
		before, after, _ := strings.Cut(string(line), ","+largeText+",")
		if number, err := strconv.Atoi(before); err != nil || number != row+1 || !strings.HasPrefix(after, strconv.Itoa(number)+",") {
			return fmt.Errorf("row %d of the download is %.40s … %.60s", row+1, before, after)
		}
	}
	if _, err := lines.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("the download goes on behind its last row: %w", err)
	}
	return nil
}

// numberedRows is a file of csv with so many rows of rowBytes, which is made as it is read. Bad rows, evenly spread, lack a comma.
type numberedRows struct{ rows, bad int }

func (n numberedRows) isBad(row int64) bool {
	bad, rows := int64(n.bad), int64(n.rows)
	return row*bad/rows != (row+1)*bad/rows
}

// rowBytes is the size of a row: 5,000,000 of them have 5 GiB.
const rowBytes = 1073

const (
	largeHeader = "number,message\n"
	digits      = 8
)

// largeText is the message of each row.
var largeText = strings.Repeat("My card was stolen and somebody pays with it now ", 25)[:rowBytes-digits-len(",\n")]

func (n numberedRows) size() int64 { return int64(len(largeHeader)) + int64(n.rows)*rowBytes }

// ReadAt implements io.ReaderAt.
func (n numberedRows) ReadAt(p []byte, at int64) (read int, err error) {
	if at < int64(len(largeHeader)) {
		read = copy(p, largeHeader[at:])
	}
	for read < len(p) {
		begin := at + int64(read) - int64(len(largeHeader))
		row := begin / rowBytes
		if row >= int64(n.rows) {
			return read, io.EOF
		}
		comma := ','
		if n.isBad(row) {
			comma = '-'
		}
		line := fmt.Sprintf("%0*d%c%s\n", digits, row+1, comma, largeText)
		read += copy(p[read:], line[begin%rowBytes:])
	}
	return read, nil
}
