package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// archive is a system over a store with many results.
type archive struct {
	*system.System
	store string // in reports
	rare  string // the id of an API key that made few of the results
	runner
}

// archived starts a system over many results, of which some failed, in each store in turn.
func (b *bench) archived(ctx context.Context, kind system.Archive, do func(a archive) error) error {
	for _, place := range []struct{ word, name string }{{"one", system.Postgres}, {"sqlite", "SQLite"}} {
		if !b.wants(b.Systems, place.word) {
			continue
		}
		dir := ""
		if place.word == "sqlite" {
			b.folders++
			dir = filepath.Join(b.dir, fmt.Sprintf("archive-%d", b.folders))
		}
		began := time.Now()
		s, rare, err := b.stores.Archived(ctx, b.bin, dir, kind)
		if err != nil {
			return fmt.Errorf("%s: %w", place.name, err)
		}
		fmt.Fprintf(b.out, "  %s with %d results after %s s\n", place.name, kind.Results, number(time.Since(began).Seconds()))
		c, err := newRunner(s)
		if err == nil {
			err = do(archive{s, place.name, rare, c})
		}
		s.Close()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", place.name, err, s.Processes[0].Output())
		}
	}
	return nil
}

// took is how long a call takes, in ms, to the last byte of its response.
func (a archive) took(ctx context.Context, method, path, body string, status int) (float64, error) {
	began := time.Now()
	_, err := a.Call(ctx, method, path, body, status)
	return milliseconds(time.Since(began)), err
}

// busy is the processor time that the process and Postgres have used so far, in s.
func (a archive) busy() (s float64, err error) {
	used, err := a.CPU()
	for name, n := range used {
		if name != system.LoadAndModel {
			s += n.Seconds()
		}
	}
	return s, err
}

// oftenFor is how many calls a percentile is of, for each round.
const oftenFor = 20

// percentile makes calls one after the other, some for each round, and returns the p95 of each round in ms.
func (b *bench) percentile(call func() (float64, error)) (p95 []float64, err error) {
	for range b.Rounds {
		took := make([]float64, oftenFor)
		for i := range took {
			if took[i], err = call(); err != nil {
				return nil, err
			}
		}
		slices.Sort(took)
		p95 = append(p95, took[(len(took)*95+99)/100-1])
	}
	return p95, nil
}

// awaited polls a condition until it holds.
func awaited(ctx context.Context, pause time.Duration, done func() (bool, error)) error {
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		if !load.Wait(ctx, pause) {
			return errors.Join(ctx.Err(), errors.New("stopped"))
		}
	}
}

const post, get = http.MethodPost, http.MethodGet
