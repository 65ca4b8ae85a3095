package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prism-results/prism/test/bench/internal/chart"
	"github.com/prism-results/prism/test/bench/internal/load"
	"github.com/prism-results/prism/test/bench/internal/model"
	"github.com/prism-results/prism/test/bench/internal/system"
)

const mib = 1 << 20

// requestOf is a request as it is sent.
func requestOf(s *system.System, method, path, body string) []byte {
	b := method + " " + path + " HTTP/1.1\r\nHost: prism\r\nAuthorization: Bearer " + s.Key + "\r\n"
	if body != "" {
		b += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	return []byte(b + "\r\n" + body)
}

// reads are reads of any of these results, in an order of their own.
func reads(s *system.System, ids []string) load.Work {
	requests := make([][]byte, len(ids))
	for i, id := range ids {
		requests[i] = requestOf(s, http.MethodGet, "/v1/results/"+id, "")
	}
	return load.Work{
		Addr: s.Front.Addr, Status: http.StatusOK,
		Request: func(int) []byte { return requests[rand.IntN(len(requests))] },
	}
}

func creates(s *system.System) load.Work {
	b := requestOf(s, http.MethodPost, system.CreatePath, system.Body(""))
	return load.Work{Addr: s.Front.Addr, Status: http.StatusOK, Request: func(int) []byte { return b }}
}

// keyedCreates have an idempotency key each that nobody had.
func keyedCreates(s *system.System) load.Work {
	run := strconv.FormatUint(rand.Uint64(), 36)
	return load.Work{Addr: s.Front.Addr, Status: http.StatusOK, Request: func(n int) []byte {
		return requestOf(s, http.MethodPost, system.CreatePath, system.Body(run+"-"+strconv.Itoa(n)))
	}}
}

// three is the three processes with n stored results, and the ids of some.
func (b *bench) three(ctx context.Context, n int) (*system.System, []string, error) {
	s, err := system.Three(ctx, b.bin, b.stores, "")
	if err != nil {
		return nil, nil, err
	}
	first, err := s.Create(ctx)
	if err == nil {
		err = s.Fill(ctx, first, n)
	}
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	const most = 100_000
	ids := make([]string, min(n-1, most))
	for i := range ids {
		ids[i] = system.StoredID(1 + i*((n-1)/len(ids)))
	}
	return s, ids, nil
}

// closed runs work as fast as it is answered, first a moment unmeasured.
func (b *bench) closed(ctx context.Context, w load.Work) (load.Figures, error) {
	if _, err := load.Closed(ctx, w, b.Conns, b.Length/10); err != nil {
		return load.Figures{}, err
	}
	f, err := load.Closed(ctx, w, b.Conns, b.Length)
	b.tellRefused(f)
	return f, err
}

func (b *bench) tellRefused(f load.Figures) {
	if f.Refused > 0 {
		fmt.Fprintf(b.out, "  %d calls were refused with 503 beside %d taken\n", f.Refused, len(f.Took))
	}
}

// breakdown runs work once more and tells what one call takes of the processors, by who takes it. Unlike a rate it hardly
// depends on what else the machine does.
func (b *bench) breakdown(ctx context.Context, s *system.System, what string, w load.Work) error {
	if _, err := load.Closed(ctx, w, b.Conns, b.Length/10); err != nil {
		return err
	}
	before, err := s.CPU(ctx)
	if err != nil {
		return err
	}
	f, err := load.Closed(ctx, w, b.Conns, b.Length)
	if err != nil {
		return err
	}
	after, err := s.CPU(ctx)
	if err != nil {
		return err
	}
	parts := map[string]float64{}
	for name, used := range after {
		parts[name] = float64((used - before[name]).Microseconds()) / float64(len(f.Took))
		parts["all"] += parts[name]
	}
	b.report.CPU[what] = parts
	fmt.Fprintf(b.out, "  processor time of one call, µs:")
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		fmt.Fprintf(b.out, " %s %.0f", name, parts[name])
	}
	fmt.Fprintln(b.out)
	return nil
}

// profiled runs work once more, beside profiles of each process.
func (b *bench) profiled(ctx context.Context, s *system.System, name string, w load.Work) error {
	if b.Profile == "" {
		return nil
	}
	seconds := max(1, int(b.Length.Seconds()))
	var group sync.WaitGroup
	errs := make([]error, len(s.Processes)+1)
	for i, p := range s.Processes {
		group.Go(func() {
			file := filepath.Join(b.Profile, name+"-"+p.Name)
			errs[i] = errors.Join(
				p.Profile(ctx, "profile?seconds="+strconv.Itoa(seconds), file+".cpu.pprof"),
				p.Profile(ctx, "allocs", file+".allocs.pprof"))
		})
	}
	group.Go(func() { _, errs[len(errs)-1] = load.Closed(ctx, w, b.Conns, time.Duration(seconds)*time.Second) })
	group.Wait()
	return errors.Join(errs...)
}

func (b *bench) read(ctx context.Context) error {
	s, ids, err := b.three(ctx, b.Few)
	if err != nil {
		return err
	}
	defer s.Close()
	body, err := s.Call(ctx, http.MethodGet, "/v1/results/"+ids[0], "", http.StatusOK)
	if err != nil {
		return err
	}
	addr, stop, err := s.BareChain(ctx, string(body), "")
	if err != nil {
		return err
	}
	defer stop()
	var rates, floors, limits, tails []float64
	var last load.Figures
	w := reads(s, ids)
	chain := w
	chain.Addr = addr
	for range b.Rounds {
		limit, err := s.PGBench(ctx, s.SelectOne(), b.Conns, b.Length)
		if err != nil {
			return err
		}
		if last, err = b.closed(ctx, w); err != nil {
			return err
		}
		f, err := b.closed(ctx, chain)
		if err != nil {
			return err
		}
		rates, floors, limits = append(rates, last.Rate()), append(floors, f.Rate()), append(limits, limit)
		tails = append(tails, float64(last.Percentile(99))/float64(last.Percentile(50)))
	}
	b.report.add(b.out,
		beside("read", "GET json, three processes, of Y1", "1/s", rates, limits, 0.25),
		floor("read", "a bare chain's GET, of Y1", "1/s", floors, limits),
		atMost("read", "its p99 over its p50", "×", tails, 8))
	b.percentiles("reads", "GET json, three processes", last)
	if err := b.breakdown(ctx, s, "read", w); err != nil {
		return err
	}
	if err := b.connections(ctx, s, w); err != nil {
		return err
	}
	return b.profiled(ctx, s, "read", w)
}

// connections draws throughput over the number of connections.
func (b *bench) connections(ctx context.Context, s *system.System, w load.Work) error {
	prism, limit := chart.Line{Name: "Prism"}, chart.Line{Name: "Y1 (pgbench)"}
	ticks := []chart.Tick{}
	for conns := 1; conns <= 4*b.Conns; conns *= 2 {
		length := b.Length / 2
		f, err := load.Closed(ctx, w, conns, length)
		if err != nil {
			return err
		}
		tps, err := s.PGBench(ctx, s.SelectOne(), conns, length)
		if err != nil {
			return err
		}
		prism.Points = append(prism.Points, chart.Point{X: float64(conns), Y: f.Rate()})
		limit.Points = append(limit.Points, chart.Point{X: float64(conns), Y: tps})
		ticks = append(ticks, chart.Tick{At: float64(conns), Label: strconv.Itoa(conns)})
	}
	b.report.Plots["connections"] = chart.Chart{
		Title: "Reads a second against connections", XTitle: "connections", YTitle: "reads a second",
		XTicks: ticks, LogX: true, Lines: []chart.Line{prism, limit},
	}
	return nil
}

// percentiles adds a line to the plot of how long calls took.
func (b *bench) percentiles(name, title string, f load.Figures) {
	line := chart.Line{Name: name}
	c := b.report.Plots["latency"]
	c.Title, c.XTitle, c.YTitle = "How long calls take", "percentile", "milliseconds"
	c.LogX, c.LogY, c.XTicks = true, true, nil
	// 1/(1-p) spreads what matters: each step to the right is a call of ten that is left.
	for _, p := range []float64{0, 50, 75, 90, 95, 99, 99.5, 99.9} {
		line.Points = append(line.Points, chart.Point{X: 100 / (100 - p), Y: f.Percentile(p).Seconds() * 1000})
		if p != 75 && p != 95 && p != 99.5 {
			c.XTicks = append(c.XTicks, chart.Tick{At: 100 / (100 - p), Label: strconv.FormatFloat(p, 'g', -1, 64)})
		}
	}
	c.Lines = append(c.Lines, line)
	b.report.Plots["latency"] = c
	fmt.Fprintf(b.out, "  %s: p50 %s, p99 %s\n", title, f.Percentile(50), f.Percentile(99))
}

func (b *bench) standalone(ctx context.Context) error {
	s, err := system.Standalone(ctx, b.bin, filepath.Join(b.dir, "standalone"), b.stores.Env)
	if err != nil {
		return err
	}
	defer s.Close()
	ids := make([]string, min(b.Few, 500))
	for i := range ids {
		if ids[i], err = s.Create(ctx); err != nil {
			return err
		}
	}
	body, err := s.Call(ctx, http.MethodGet, "/v1/results/"+ids[0], "", http.StatusOK)
	if err != nil {
		return err
	}
	addr, stop, err := system.Bare(ctx, system.BareSpec{Body: string(body)})
	if err != nil {
		return err
	}
	defer stop()
	w := reads(s, ids)
	yardstick := w
	yardstick.Addr = addr
	var rates, limits []float64
	for range b.Rounds {
		limit, err := b.closed(ctx, yardstick)
		if err != nil {
			return err
		}
		f, err := b.closed(ctx, w)
		if err != nil {
			return err
		}
		rates, limits = append(rates, f.Rate()), append(limits, limit.Rate())
	}
	b.report.add(b.out, beside("standalone", "GET json, standalone, SQLite, of Y3", "1/s", rates, limits, 0.40))
	if err := b.breakdown(ctx, s, "standalone read", w); err != nil {
		return err
	}
	return b.profiled(ctx, s, "standalone", w)
}

func (b *bench) create(ctx context.Context) error {
	s, _, err := b.three(ctx, b.Few)
	if err != nil {
		return err
	}
	defer s.Close()
	script, err := s.InsertOne(ctx)
	if err != nil {
		return err
	}
	addr, stop, err := s.BareChain(ctx, model.Answer, "")
	if err != nil {
		return err
	}
	defer stop()
	chain := creates(s)
	chain.Addr = addr
	var plain, keyed, floors, limits []float64
	var last, lastKeyed load.Figures
	for range b.Rounds {
		limit, err := s.PGBench(ctx, script, b.Conns, b.Length)
		if err != nil {
			return err
		}
		if last, err = b.closed(ctx, creates(s)); err != nil {
			return err
		}
		if lastKeyed, err = b.closedKeyed(ctx, s); err != nil {
			return err
		}
		f, err := b.closed(ctx, chain)
		if err != nil {
			return err
		}
		plain, keyed = append(plain, last.Rate()), append(keyed, lastKeyed.Rate())
		floors, limits = append(floors, f.Rate()), append(limits, limit)
	}
	b.report.add(b.out,
		beside("create", "create without a key, of Y2", "1/s", plain, limits, 0.25),
		beside("create", "create with a fresh key, of Y2", "1/s", keyed, limits, 0.18),
		floor("create", "a bare chain's create without a key, of Y2", "1/s", floors, limits))
	b.percentiles("creates", "create without a key", last)
	b.percentiles("with a key", "create with a fresh key", lastKeyed)
	if err := b.breakdown(ctx, s, "create", creates(s)); err != nil {
		return err
	}
	if err := b.profiled(ctx, s, "create", creates(s)); err != nil {
		return err
	}
	return b.profiled(ctx, s, "create-keyed", keyedCreates(s))
}

// closedKeyed is closed with keys of its own for the unmeasured moment, whose numbers begin anew.
func (b *bench) closedKeyed(ctx context.Context, s *system.System) (load.Figures, error) {
	if _, err := load.Closed(ctx, keyedCreates(s), b.Conns, b.Length/10); err != nil {
		return load.Figures{}, err
	}
	f, err := load.Closed(ctx, keyedCreates(s), b.Conns, b.Length)
	b.tellRefused(f)
	return f, err
}
