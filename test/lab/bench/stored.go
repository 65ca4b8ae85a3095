package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/prism-results/prism/test/lab/bench/internal/model"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// three starts the three processes over a database of their own with this many results of the small prism.
func (b *bench) three(ctx context.Context, m *model.Model, results int) (*system.System, error) {
	data, err := b.stores.Prepare(ctx, b.bin, m.URL(), results, system.Small)
	if err != nil {
		return nil, err
	}
	return data.ThreeInPlace(ctx, b.bin, m.URL())
}

// export is the rate and the memory of an export of all results of a prism.
func (b *bench) export(ctx context.Context) error {
	m, err := model.New(0, scripts()...)
	if err != nil {
		return err
	}
	defer m.Close()
	s, err := b.three(ctx, m, b.Export)
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

// exportOnce reads an export to its end, and samples the memory of each process every 100 ms. growth is the largest growth
// of a process in MiB.
func (b *bench) exportOnce(ctx context.Context, s *system.System) (rate, growth float64, err error) {
	before := make([]int64, len(s.Processes))
	for i, p := range s.Processes {
		if before[i], err = p.Memory(); err != nil {
			return 0, 0, err
		}
	}
	grown := func() error {
		for i, p := range s.Processes {
			n, err := p.Memory()
			if err != nil {
				return err
			}
			growth = max(growth, float64(n-before[i])/(1<<20))
		}
		return nil
	}
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Addr+system.Small.CreatePath()+"?format=csv", nil)
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
		return 0, 0, fmt.Errorf("the export responds %s", resp.Status)
	}
	rows, buf, next := 0, make([]byte, 64<<10), began
	for {
		n, err := resp.Body.Read(buf)
		rows += bytes.Count(buf[:n], []byte{'\n'})
		if now := time.Now(); now.After(next) {
			next = now.Add(100 * time.Millisecond)
			if err := grown(); err != nil {
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
	if want := b.Export + 1; rows != want { // with the header
		return 0, 0, fmt.Errorf("the export has %d lines, want %d", rows, want)
	}
	return float64(b.Export) / time.Since(began).Seconds(), growth, nil
}

// many compares reads and creates with few stored results and with many.
func (b *bench) many(ctx context.Context) error {
	m, err := model.New(0, scripts()...)
	if err != nil {
		return err
	}
	defer m.Close()
	var rates [2]map[string][]float64
	var systems [2]*system.System
	for i, results := range []int{b.Few, b.Many} {
		rates[i] = map[string][]float64{}
		if systems[i], err = b.three(ctx, m, results); err != nil {
			return err
		}
		defer systems[i].Close()
	}
	for range b.Rounds {
		for _, call := range []string{readCall, createCall} {
			for i, s := range systems {
				sample, err := b.measure(ctx, s, call, 0)
				if err != nil {
					return err
				}
				rates[i][call] = append(rates[i][call], sample.Rate)
			}
		}
	}
	for _, call := range []string{readCall, createCall} {
		b.report.add(b.out, beside("many", fmt.Sprintf("%ss with %d stored results, of those with %d", call, b.Many, b.Few),
			"1/s", rates[1][call], rates[0][call], 0.8))
	}
	return nil
}
