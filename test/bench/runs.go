package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/test/bench/internal/model"
	"github.com/prism-results/prism/test/bench/internal/system"
	"github.com/prism-results/prism/test/internal/load"
)

// runs is how fast files are run: with the offline model beside single creates, and with a model of 50 ms that has 64 places. It
// is also what a run costs the calls of others, and what part of the rate a small run gets beside a large one.
func (b *bench) runs(ctx context.Context) error {
	data, err := b.data(ctx)
	if err != nil {
		return err
	}
	b.folders++
	folder := filepath.Join(b.dir, "runs-"+strconv.Itoa(b.folders))
	one, err := b.stores.SQLite(ctx, b.bin, folder, "", 1, system.Small)
	if err != nil {
		return err
	}
	defer one.Close()
	workers, err := data.Workers(ctx, b.bin, "")
	if err != nil {
		return err
	}
	defer workers.Close()
	for _, c := range []struct {
		name  string
		s     *system.System
		least float64
	}{{system.OnSQLite, one, 5000}, {system.ThreeProcesses + " and a worker", workers, 3000}} {
		if err := b.runRate(ctx, c.name, c.s, c.least); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if err := b.besideRun(ctx, workers); err != nil {
		return err
	}
	if err := b.sharedRuns(ctx, workers); err != nil {
		return err
	}
	workers.Close()
	one.Close()
	return b.placesOfRuns(ctx, data)
}

// runRate is the rows a second of a run, and the ratio to single creates of the same minute.
func (b *bench) runRate(ctx context.Context, name string, s *system.System, least float64) error {
	c, err := newRunner(s)
	if err != nil {
		return err
	}
	var rates, ratios []float64
	for range b.Rounds {
		creates, err := load.Closed(ctx, creates(s, system.Small), b.Conns, b.Length)
		if err != nil {
			return err
		}
		rate, err := c.run(ctx, b.File)
		if err != nil {
			return err
		}
		rates, ratios = append(rates, rate), append(ratios, rate/creates.Rate())
	}
	b.report.add(b.out,
		atLeast("runs", name+", offline model", "rows/s", rates, least),
		atLeast("runs", name+", rows of a run, of single creates", "×", ratios, 3))
	return nil
}

// placesOfRuns is the rate of a run at a model that has 64 places and takes 50 ms: 1,280 rows a second at most.
func (b *bench) placesOfRuns(ctx context.Context, data *system.Data) error {
	m, err := model.New(50*time.Millisecond, scripts()...)
	if err != nil {
		return err
	}
	defer m.Close()
	file := filepath.Join(b.dir, "models.yaml")
	text := "default: slow\nmodels:\n  - {name: slow, provider: systemone, base_url: " + m.URL() + ", model: slow, max_in_flight: 64}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	s, err := data.Workers(ctx, b.bin, file)
	if err != nil {
		return err
	}
	defer s.Close()
	c, err := newRunner(s)
	if err != nil {
		return err
	}
	var rates []float64
	for range b.Rounds {
		rate, err := c.run(ctx, min(b.File, 20_000))
		if err != nil {
			return err
		}
		rates = append(rates, rate)
	}
	b.report.add(b.out, atLeast("runs", "model of 50 ms with 64 places, 1,280 rows/s at most", "rows/s", rates, 1150))
	return nil
}

// besideRun is the p99 of interactive creates beside a run at full speed, of the quiet one.
func (b *bench) besideRun(ctx context.Context, s *system.System) error {
	c, err := newRunner(s)
	if err != nil {
		return err
	}
	const rate, conns = 50, 16
	w := creates(s, system.Small)
	var ratios []float64
	for range b.Rounds {
		quiet, err := load.Steady(ctx, w, conns, rate, b.Length)
		if err != nil {
			return err
		}
		run, err := c.start(ctx, b.File*5)
		if err != nil {
			return err
		}
		during, err := load.Steady(ctx, w, conns, rate, b.Length)
		if err != nil {
			return err
		}
		if _, err := c.CancelRun(ctx, run.ID); err != nil && !errors.Is(err, client.ErrConflict) { // a short run is over
			return err
		}
		if _, err := c.WatchRun(ctx, run.ID, nil); err != nil {
			return err
		}
		ratios = append(ratios, float64(during.Percentile(99))/float64(quiet.Percentile(99)))
	}
	b.report.add(b.out, atMost("runs", "p99 of creates beside a run, of the quiet one", "×", ratios, 1.5))
	return nil
}

// sharedRuns is the part of all rows that a small run of another account gets until it ends.
func (b *bench) sharedRuns(ctx context.Context, s *system.System) error {
	large, err := newRunner(s)
	if err != nil {
		return err
	}
	other, err := s.Neighbour(ctx, b.bin, system.Small)
	if err != nil {
		return err
	}
	small, err := newRunner(other)
	if err != nil {
		return err
	}
	run, err := large.start(ctx, b.File*20)
	if err != nil {
		return err
	}
	file, err := small.upload(ctx, max(b.File/5, 1000))
	if err != nil {
		return err
	}
	before, err := large.ReadRun(ctx, run.ID)
	if err != nil {
		return err
	}
	done, err := small.finish(ctx, file)
	if err != nil {
		return err
	}
	after, err := large.ReadRun(ctx, run.ID)
	if err != nil {
		return err
	}
	if _, err := large.CancelRun(ctx, run.ID); err != nil && !errors.Is(err, client.ErrConflict) {
		return err
	}
	share := float64(done.OK) / float64(done.OK+after.Done()-before.Done())
	b.report.add(b.out, atLeast("runs", "share of a small run beside a large one of another account", "×", []float64{share}, 0.45))
	_, err = large.WatchRun(ctx, run.ID, nil)
	return err
}

// runner runs files in one account of a system.
type runner struct{ *client.Client }

func newRunner(s *system.System) (runner, error) {
	c, err := client.New(client.Config{URL: "http://" + s.Addr, Key: s.Key})
	return runner{c}, err
}

// upload stores a file of messages.
func (r runner) upload(ctx context.Context, rows int) (client.File, error) {
	var text strings.Builder
	text.WriteString("message\n")
	for row := range rows {
		fmt.Fprintf(&text, "\"My card was stolen yesterday, and somebody pays with it. Please block card number %d now.\"\n", row)
	}
	content := strings.NewReader(text.String())
	return r.UploadFile(ctx, client.Upload{
		Name: "bench.csv", Format: client.FileCSV, Content: content, Bytes: content.Size(),
	})
}

// start uploads a file and starts its run.
func (r runner) start(ctx context.Context, rows int) (client.Run, error) {
	file, err := r.upload(ctx, rows)
	if err != nil {
		return client.Run{}, err
	}
	return r.begin(ctx, file)
}

func (r runner) begin(ctx context.Context, file client.File) (client.Run, error) {
	return r.CreateRun(ctx, system.Small.Slug, client.NewRun{FileID: file.ID, Fields: map[string]string{"message": "message"}})
}

// finish runs a file to its end.
func (r runner) finish(ctx context.Context, file client.File) (client.Run, error) {
	run, err := r.begin(ctx, file)
	if err != nil {
		return run, err
	}
	if run, err = r.WatchRun(ctx, run.ID, nil); err == nil && run.OK != run.Rows {
		err = fmt.Errorf("%d of %d rows were answered", run.OK, run.Rows)
	}
	return run, err
}

// run is the rate of a run of so many rows, from its creation to its end.
func (r runner) run(ctx context.Context, rows int) (perSecond float64, err error) {
	file, err := r.upload(ctx, rows)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	_, err = r.finish(ctx, file)
	return float64(rows) / time.Since(began).Seconds(), err
}
