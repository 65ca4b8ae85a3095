package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/lab/bench/internal/model"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// modelPatience is below the 15 s after which Prism gives a model up.
const modelPatience = 13 * time.Second

// waiting is the memory of calls that wait for the model, and the rate of reads meanwhile.
func (b *bench) waiting(ctx context.Context) error {
	data, err := b.data(ctx)
	if err != nil {
		return err
	}
	var memory, rates []float64
	for range b.Rounds {
		if err := b.waitingOnce(ctx, data, &memory, &rates); err != nil {
			return err
		}
	}
	what := strconv.Itoa(b.Waiting) + " waiting calls"
	b.report.add(b.out,
		atMost("waiting", what+", memory of each", "KiB", memory, 64),
		atLeast("waiting", what+", rate of reads meanwhile, of that before", "×", rates, 0.8))
	return nil
}

func (b *bench) waitingOnce(ctx context.Context, data *system.Data, memory, rates *[]float64) error {
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
	*rates = append(*rates, during.Rate()/before.Rate())
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
