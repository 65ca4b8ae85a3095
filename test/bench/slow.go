package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/prism-results/prism/test/bench/internal/load"
	"github.com/prism-results/prism/test/bench/internal/model"
	"github.com/prism-results/prism/test/bench/internal/system"
)

// added is what Prism adds to a model that takes 50 ms, at 200 calls a second: the percentiles of calls through Prism less
// those of calls straight to the model, which the machine delays too.
func (b *bench) added(ctx context.Context) error {
	m := model.New(50 * time.Millisecond)
	defer m.Close()
	s, err := system.Three(ctx, b.bin, b.stores, m.URL())
	if err != nil {
		return err
	}
	defer s.Close()
	const rate, conns = 200, 64
	direct := creates(s)
	direct.Addr = m.Addr()
	if _, err := b.oneFailed(ctx, s); err != nil { // what a bare chain reads and copies
		return err
	}
	addr, stop, err := s.BareChain(ctx, model.Answer, m.Addr())
	if err != nil {
		return err
	}
	defer stop()
	chain := creates(s)
	chain.Addr = addr
	var p50, p99, floor50, floor99 []float64
	var last load.Figures
	for range b.Rounds {
		if _, err := load.Steady(ctx, creates(s), conns, rate, b.Length/10); err != nil {
			return err
		}
		d, err := load.Steady(ctx, direct, conns, rate, b.Length)
		if err != nil {
			return err
		}
		if last, err = load.Steady(ctx, creates(s), conns, rate, b.Length); err != nil {
			return err
		}
		bare, err := load.Steady(ctx, chain, conns, rate, b.Length)
		if err != nil {
			return err
		}
		added := func(f load.Figures, p float64) float64 { return (f.Percentile(p) - d.Percentile(p)).Seconds() * 1000 }
		p50, p99 = append(p50, added(last, 50)), append(p99, added(last, 99))
		floor50, floor99 = append(floor50, added(bare, 50)), append(floor99, added(bare, 99))
	}
	b.report.add(b.out,
		atMost("added", "added to 50 ms at 200/s, p50", "ms", p50, 1),
		atMost("added", "added to 50 ms at 200/s, p99", "ms", p99, 5),
		floor("added", "a bare chain's, p50", "ms", floor50, nil),
		floor("added", "a bare chain's, p99", "ms", floor99, nil))
	b.percentiles("50 ms model", "create with a model of 50 ms", last)
	return nil
}

// modelPatience is below the 15 s after which Prism gives a model up.
const modelPatience = 13 * time.Second

func (b *bench) waiting(ctx context.Context) error {
	var memory, kept []float64
	for range b.Rounds {
		if err := b.waitingOnce(ctx, &memory, &kept); err != nil {
			return err
		}
	}
	what := strconv.Itoa(b.Waiting) + " waiting calls"
	b.report.add(b.out,
		atMost("waiting", what+", memory of each", "KiB", memory, 64),
		atLeast("waiting", what+", what reads keep of their rate", "×", kept, 0.8))
	return nil
}

func (b *bench) waitingOnce(ctx context.Context, memory, kept *[]float64) error {
	m := model.New(modelPatience)
	defer m.Close()
	s, err := system.Three(ctx, b.bin, b.stores, m.URL())
	if err != nil {
		return err
	}
	defer s.Close()
	id, err := b.oneFailed(ctx, s)
	if err != nil {
		return err
	}
	w := reads(s, []string{id})
	length := min(b.Length, 3*time.Second)
	before, err := load.Closed(ctx, w, b.Conns, length)
	if err != nil {
		return err
	}
	idle, err := s.Memory()
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	const rate = 1000 // a second; all of them at once would be a flood, which Prism refuses
	go func() { ended <- load.Once(ctx, creates(s), b.Waiting, rate) }()
	if err := until(ctx, func() bool { return m.Waiting() >= b.Waiting }); err != nil {
		return fmt.Errorf("%d of %d calls came to the model: %w", m.Waiting(), b.Waiting, err)
	}
	busy, err := s.Memory()
	if err != nil {
		return err
	}
	during, err := load.Closed(ctx, w, b.Conns, length)
	if err != nil {
		return err
	}
	m.Release()
	*memory = append(*memory, float64(busy-idle)/1024/float64(b.Waiting))
	*kept = append(*kept, during.Rate()/before.Rate())
	return <-ended
}

// oneFailed is a result to read that needs no model: the copy of one that failed.
func (b *bench) oneFailed(ctx context.Context, s *system.System) (string, error) {
	id := system.StoredID(1)
	_, err := s.SQL(ctx, `INSERT INTO results (account_id, id, prism_id, version, context, fields, status, error, took_ms, created_at)
		SELECT account_id, '`+id+`', id, 1, '', '[]', 'failed', 'Stored by the benchmark.', 1, now() FROM prisms LIMIT 1`)
	return id, err
}

func until(ctx context.Context, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, modelPatience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
