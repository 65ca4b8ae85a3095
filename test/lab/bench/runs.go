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
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/lab/bench/internal/model"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// runs is how fast files are run with the offline model, beside single creates.
func (b *bench) runs(ctx context.Context) error {
	b.folders++
	folder := filepath.Join(b.dir, "runs-"+strconv.Itoa(b.folders))
	one, err := b.stores.SQLite(ctx, b.bin, folder, "", 1, system.Small)
	if err != nil {
		return err
	}
	defer one.Close()
	if err := b.runRate(ctx, system.OnSQLite, one, 5000); err != nil {
		return fmt.Errorf("%s: %w", system.OnSQLite, err)
	}
	return b.withWorker(ctx, func(s *system.System) error {
		return b.runRate(ctx, system.ThreeProcesses+" and a worker", s, 3000)
	})
}

// withWorker measures three processes and a worker with the offline model.
func (b *bench) withWorker(ctx context.Context, measure func(*system.System) error) error {
	data, err := b.data(ctx)
	if err != nil {
		return err
	}
	s, err := data.Workers(ctx, b.bin, "")
	if err != nil {
		return err
	}
	defer s.Close()
	return measure(s)
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
		if !load.Wait(ctx, time.Second) { // for so long a run gives way to calls that came (spec: run-yields)
			return ctx.Err()
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
func (b *bench) placesOfRuns(ctx context.Context) error {
	data, err := b.data(ctx)
	if err != nil {
		return err
	}
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
func (b *bench) besideRun(ctx context.Context) error {
	return b.withWorker(ctx, func(s *system.System) error { return b.createsBesideRun(ctx, s) })
}

func (b *bench) createsBesideRun(ctx context.Context, s *system.System) error {
	c, err := newRunner(s)
	if err != nil {
		return err
	}
	const rate, conns = 50, 16
	w := creates(s, system.Small)
	var ratios, quiets, besides, rates []float64
	for range b.Rounds {
		quiet, err := load.Steady(ctx, w, conns, rate, b.Length)
		if err != nil {
			return err
		}
		run, err := c.start(ctx, b.File*5)
		if err != nil {
			return err
		}
		for run.Done() < int64(b.File/10) && load.Wait(ctx, 10*time.Millisecond) { // until it runs at full speed
			if run, err = c.ReadRun(ctx, run.ID); err != nil {
				return err
			}
		}
		if _, err := load.Steady(ctx, w, conns, rate, b.Length/10); err != nil { // a moment in which the run learns of calls
			return err
		}
		if run, err = c.ReadRun(ctx, run.ID); err != nil {
			return err
		}
		before := run.Done()
		during, err := load.Steady(ctx, w, conns, rate, b.Length)
		if err != nil {
			return err
		}
		after, err := c.ReadRun(ctx, run.ID)
		if err != nil {
			return err
		}
		if _, err := c.CancelRun(ctx, run.ID); err != nil && !errors.Is(err, client.ErrConflict) { // a short run is over
			return err
		}
		if _, err := c.WatchRun(ctx, run.ID, nil); err != nil {
			return err
		}
		b.tellRefused(during)
		quiets = append(quiets, milliseconds(quiet.Percentile(99)))
		besides = append(besides, milliseconds(during.Percentile(99)))
		ratios = append(ratios, float64(during.Percentile(99))/float64(quiet.Percentile(99)))
		rates = append(rates, float64(after.Done()-before)/during.Length.Seconds())
	}
	b.report.add(b.out,
		plain("runs", "p99 of creates without a run", "ms", quiets),
		plain("runs", "p99 of creates beside a run", "ms", besides),
		atMost("runs", "p99 of creates beside a run, of the quiet one", "×", ratios, 1.5),
		plain("runs", "rate of a run beside creates", "rows/s", rates))
	return nil
}

// sharedRuns is the part of all rows that a small run of another account gets, from its first lease until its last row is done.
func (b *bench) sharedRuns(ctx context.Context) error {
	return b.withWorker(ctx, func(s *system.System) error { return b.shareOfSmallRun(ctx, s) })
}

func (b *bench) shareOfSmallRun(ctx context.Context, s *system.System) error {
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
	both := [2]runner{small, large}
	began, err := small.begin(ctx, file)
	if err != nil {
		return err
	}
	var first, last [2]client.Run
	for last[0].Pending > 0 || last[0].StartedAt == nil {
		for i, id := range []string{began.ID, run.ID} {
			if last[i], err = both[i].ReadRun(ctx, id); err != nil {
				return err
			}
		}
		if last[0].StartedAt == nil || first[1].Rows == 0 { // the last look before the first lease
			first[1] = last[1]
		}
		load.Wait(ctx, 10*time.Millisecond)
	}
	done := func(i int) float64 { return float64(last[i].Done() - first[i].Done()) }
	if _, err := large.CancelRun(ctx, run.ID); err != nil && !errors.Is(err, client.ErrConflict) {
		return err
	}
	share := done(0) / (done(0) + done(1))
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

// finish runs a file with so many bad rows to its end.
func (r runner) finish(ctx context.Context, file client.File, bad int64) (client.Run, error) {
	run, err := r.begin(ctx, file)
	if err != nil {
		return run, err
	}
	if run, err = r.WatchRun(ctx, run.ID, nil); err == nil && (run.OK != run.Rows-bad || run.Invalid != bad) {
		err = fmt.Errorf("%d of %d rows were answered, and %d are invalid", run.OK, run.Rows, run.Invalid)
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
	_, err = r.finish(ctx, file, 0)
	return float64(rows) / time.Since(began).Seconds(), err
}
