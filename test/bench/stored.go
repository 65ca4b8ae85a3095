package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prism-results/prism/test/bench/internal/chart"
	"github.com/prism-results/prism/test/bench/internal/load"
	"github.com/prism-results/prism/test/bench/internal/system"
)

func (b *bench) export(ctx context.Context) error {
	s, _, err := b.three(ctx, b.Export)
	if err != nil {
		return err
	}
	defer s.Close()
	var rates, growth []float64
	for range b.Rounds {
		rate, grown, err := b.exportOnce(ctx, s)
		if err != nil {
			return err
		}
		rates, growth = append(rates, rate), append(growth, grown)
	}
	what := "csv of " + strconv.Itoa(b.Export) + " results"
	b.report.add(b.out,
		atLeast("export", what, "rows/s", rates, 100_000),
		atMost("export", what+", largest growth of a process", "MiB", growth, 64))
	return nil
}

// exportOnce reads an export to its end and watches the memory of each process meanwhile.
func (b *bench) exportOnce(ctx context.Context, s *system.System) (rate, growth float64, err error) {
	lines := make([]chart.Line, len(s.Processes))
	began := time.Now()
	sample := func() error {
		for i, p := range s.Processes {
			n, err := p.Memory()
			if err != nil {
				return err
			}
			lines[i].Name = p.Name
			lines[i].Points = append(lines[i].Points, chart.Point{X: time.Since(began).Seconds(), Y: float64(n) / mib})
		}
		return nil
	}
	if err := sample(); err != nil {
		return 0, 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		"http://"+s.Front.Addr+"/v1/prisms/"+system.Slug+"/results?format=csv", nil)
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("Authorization", "Bearer "+s.Key)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, 0, fmt.Errorf("the export is answered %s", resp.Status)
	}
	rows, buf, next := 0, make([]byte, 64<<10), time.Now()
	for {
		n, err := resp.Body.Read(buf)
		for _, c := range buf[:n] {
			if c == '\n' {
				rows++
			}
		}
		if now := time.Now(); now.After(next) {
			next = now.Add(100 * time.Millisecond)
			if err := sample(); err != nil {
				return 0, 0, err
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, 0, err
		}
	}
	if rows != b.Export+1 { // and the header
		return 0, 0, fmt.Errorf("the export has %d lines, want %d", rows, b.Export+1)
	}
	rate = float64(b.Export) / time.Since(began).Seconds()
	for _, l := range lines {
		for _, p := range l.Points {
			growth = max(growth, p.Y-l.Points[0].Y)
		}
	}
	b.report.Plots["memory"] = chart.Chart{
		Title: "Memory during an export of " + strconv.Itoa(b.Export) + " results", XTitle: "seconds", YTitle: "MiB", Lines: lines,
	}
	return rate, growth, nil
}

// many compares reads and creates with few stored results and with many.
func (b *bench) many(ctx context.Context) error {
	few, fewIDs, err := b.three(ctx, b.Few)
	if err != nil {
		return err
	}
	defer few.Close()
	many, manyIDs, err := b.three(ctx, b.Many)
	if err != nil {
		return err
	}
	defer many.Close()
	var rates [4][]float64
	for range b.Rounds {
		for i, w := range []load.Work{reads(few, fewIDs), reads(many, manyIDs), creates(few), creates(many)} {
			f, err := b.closed(ctx, w)
			if err != nil {
				return err
			}
			rates[i] = append(rates[i], f.Rate())
		}
	}
	what := fmt.Sprintf(" with %d stored, of those with %d", b.Many, b.Few)
	b.report.add(b.out,
		beside("many", "reads"+what, "1/s", rates[1], rates[0], 0.8),
		beside("many", "creates"+what, "1/s", rates[3], rates[2], 0.8))
	return nil
}

func (b *bench) start(ctx context.Context) error {
	times := map[string][]float64{}
	for i := range b.Rounds {
		three, err := system.Three(ctx, b.bin, b.stores, "")
		if err != nil {
			return err
		}
		three.Close()
		one, err := system.Standalone(ctx, b.bin, filepath.Join(b.dir, "start-"+strconv.Itoa(i)), b.stores.Env)
		if err != nil {
			return err
		}
		one.Close()
		for _, p := range append(three.Processes, one.Processes...) {
			times[p.Name] = append(times[p.Name], p.Ready.Seconds())
		}
	}
	for _, name := range []string{"prism", "prism-gateway", "prism-results", "prism-model-proxy"} {
		file := filepath.Join(b.bin, name)
		compressed, err := system.Compressed(file)
		if err != nil {
			return err
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		b.report.add(b.out,
			atMost("start", name+", start to ready", "s", times[name], 1),
			atMost("start", name+", compressed as in an image", "MB", []float64{float64(compressed) / 1e6}, 40),
			atMost("start", name+", unpacked", "MB", []float64{float64(info.Size()) / 1e6}, 40))
	}
	return nil
}
