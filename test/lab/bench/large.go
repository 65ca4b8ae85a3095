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
	if _, err := c.wholeRun(ctx, warmRows); err != nil {
		return err
	}
	m, err := system.Watch(s)
	if err != nil {
		return err
	}
	rate, err := c.wholeRun(ctx, b.Large)
	grown, sampled := m.Stop()
	if err := errors.Join(err, sampled); err != nil {
		return err
	}
	what := fmt.Sprintf("%s, a file of %d rows and %d MiB", name, b.Large, numberedRows(b.Large).size()>>20)
	for _, p := range s.Processes {
		b.report.add(b.out, atMost("large", what+", growth of "+p.Name, "MiB", []float64{float64(grown[p]) / (1 << 20)}, 64))
	}
	b.report.add(b.out, plain("large", what+", run with the offline model", "rows/s", []float64{rate}))
	return nil
}

// wholeRun uploads a file of so many rows, runs it, and downloads it with the answers.
func (r runner) wholeRun(ctx context.Context, rows int) (perSecond float64, err error) {
	content := numberedRows(rows)
	file, err := r.UploadFile(ctx, client.Upload{Name: "large.csv", Format: client.FileCSV, Content: content, Bytes: content.size()})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	run, err := r.finish(ctx, file)
	if err != nil {
		return 0, err
	}
	perSecond = float64(rows) / time.Since(began).Seconds()
	return perSecond, r.downloaded(ctx, run.ID, rows)
}

// downloaded reads the rows of a run, which come in the order of the file and were answered.
func (r runner) downloaded(ctx context.Context, run string, rows int) error {
	body, err := r.ListRunRows(ctx, run, client.RunRows{Format: client.RowsCSV})
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewReaderSize(body, 1<<16)
	if _, err := lines.ReadSlice('\n'); err != nil { // the header
		return err
	}
	for row := range rows {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("row %d of the download: %w", row+1, err)
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

// numberedRows is a file of csv with so many rows of rowBytes, which is made as it is read.
type numberedRows int

// rowBytes is the size of a row: 5,000,000 of them have 5 GiB.
const rowBytes = 1073

const (
	largeHeader = "number,message\n"
	digits      = 8
)

// largeText is the message of each row.
var largeText = strings.Repeat("My card was stolen and somebody pays with it now ", 25)[:rowBytes-digits-len(",\n")]

func (n numberedRows) size() int64 { return int64(len(largeHeader)) + int64(n)*rowBytes }

// ReadAt implements io.ReaderAt.
func (n numberedRows) ReadAt(p []byte, at int64) (read int, err error) {
	if at < int64(len(largeHeader)) {
		read = copy(p, largeHeader[at:])
	}
	for read < len(p) {
		begin := at + int64(read) - int64(len(largeHeader))
		row := begin / rowBytes
		if row >= int64(n) {
			return read, io.EOF
		}
		line := fmt.Sprintf("%0*d,%s\n", digits, row+1, largeText)
		read += copy(p[read:], line[begin%rowBytes:])
	}
	return read, nil
}
