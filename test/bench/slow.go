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

// added is what a system adds to a model that takes 50 ms, at 200 calls a second: the percentiles of calls through the
// system less those of calls straight to the model, which the machine delays too.
func (b *bench) added(ctx context.Context) error {
	m, err := model.New(50*time.Millisecond, scripts()...)
	if err != nil {
		return err
	}
	defer m.Close()
	contenders, err := b.contenders(ctx, m, "one", "three", "peer", "chain")
	defer closeAll(contenders)
	if err != nil {
		return err
	}
	const rate, conns = 200, 64
	direct := creates(contenders[0].systems[0], system.Small)
	direct.Addr = m.Addr()
	added := map[string][2][]float64{}
	var floor load.Figures
	for range b.Rounds {
		if floor, err = load.Steady(ctx, direct, conns, rate, b.Length); err != nil {
			return err
		}
		for _, c := range contenders {
			w := creates(c.systems[0], system.Small)
			if _, err := load.Steady(ctx, w, conns, rate, b.Length/10); err != nil {
				return err
			}
			f, err := load.Steady(ctx, w, conns, rate, b.Length)
			if err != nil {
				return err
			}
			figures := added[c.name]
			for i, p := range []float64{50, 99} {
				figures[i] = append(figures[i], milliseconds(f.Percentile(p)-floor.Percentile(p)))
			}
			added[c.name] = figures
		}
	}
	for _, c := range contenders {
		for i, p := range []string{"p50", "p99"} {
			b.report.add(b.out, plain("added", c.name+", added to a model of 50 ms at 200 calls a second, "+p, "ms", added[c.name][i]))
		}
	}
	if chain, three := added[system.BareChain][0], added[system.ThreeProcesses][0]; len(chain) > 0 && len(three) > 0 {
		b.report.add(b.out, atMost("added", system.ThreeProcesses+", added p50 above that of the bare chain", "ms",
			differences(three, chain), 0.6))
	}
	return nil
}

// modelPatience is below the 15 s after which Prism gives a model up.
const modelPatience = 13 * time.Second

// waiting is the memory of calls that wait for the model, and the rate of reads meanwhile.
func (b *bench) waiting(ctx context.Context) error {
	data, err := b.data(ctx)
	if err != nil {
		return err
	}
	var memory, kept []float64
	for range b.Rounds {
		if err := b.waitingOnce(ctx, data, &memory, &kept); err != nil {
			return err
		}
	}
	what := strconv.Itoa(b.Waiting) + " waiting calls"
	b.report.add(b.out,
		atMost("waiting", what+", memory of each", "KiB", memory, 64),
		atLeast("waiting", what+", rate of reads meanwhile, of that before", "×", kept, 0.8))
	return nil
}

func (b *bench) waitingOnce(ctx context.Context, data *system.Data, memory, kept *[]float64) error {
	m, err := model.New(modelPatience, scripts()...)
	if err != nil {
		return err
	}
	defer m.Close()
	s, err := data.Three(ctx, b.bin, m.URL())
	if err != nil {
		return err
	}
	defer s.Close()
	w := work(s, readCall, 0)
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
	const rate = 1000 // a second: Prism sheds a burst of all calls at once
	go func() { ended <- load.Once(ctx, creates(s, system.Small), b.Waiting, rate) }()
	if err := until(ctx, func() bool { return m.Waiting() >= b.Waiting }); err != nil {
		return fmt.Errorf("%d of %d calls reached the model: %w", m.Waiting(), b.Waiting, err)
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

// until polls a condition until it holds.
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
