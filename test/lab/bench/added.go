package main

import (
	"context"
	"time"

	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/lab/bench/internal/model"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
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
	added, err := b.addedBy(ctx, m, contenders)
	if err != nil {
		return err
	}
	b.reportAdded("added", contenders, added)
	if chain, three := added[system.BareChain][0], added[system.ThreeProcesses][0]; len(chain) > 0 && len(three) > 0 {
		b.report.add(b.out, atMost("added", system.ThreeProcesses+", added p50 above that of the bare chain", "ms",
			differences(three, chain), 0.6))
	}
	return nil
}

// addedBy is what each contender adds, by name: the p50 and the p99 of each round, in milliseconds.
func (b *bench) addedBy(ctx context.Context, m *model.Model, contenders []contender) (map[string][2][]float64, error) {
	const rate, conns = 200, 64
	direct := creates(contenders[0].systems[0], system.Small) // whatever it sends: the model answers
	direct.Addr = m.Addr()
	added := map[string][2][]float64{}
	for range b.Rounds {
		floor, err := load.Steady(ctx, direct, conns, rate, b.Length)
		if err != nil {
			return nil, err
		}
		for _, c := range contenders {
			w := creates(c.systems[0], system.Small)
			if _, err := load.Steady(ctx, w, conns, rate, b.Length/10); err != nil {
				return nil, err
			}
			f, err := load.Steady(ctx, w, conns, rate, b.Length)
			if err != nil {
				return nil, err
			}
			figures := added[c.name]
			for i, p := range []float64{50, 99} {
				figures[i] = append(figures[i], milliseconds(f.Percentile(p)-floor.Percentile(p)))
			}
			added[c.name] = figures
		}
	}
	return added, nil
}

func (b *bench) reportAdded(row string, contenders []contender, added map[string][2][]float64) {
	for _, c := range contenders {
		for i, p := range []string{"p50", "p99"} {
			b.report.add(b.out, plain(row, c.name+", added to a model of 50 ms at 200 calls a second, "+p, "ms", added[c.name][i]))
		}
	}
}
