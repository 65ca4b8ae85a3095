package main

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/test/lab/bench/internal/model"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// gateways measures creates beside a gateway of models, which a user would pick instead of Prism and which keeps nothing: calls a
// second, memory after them, and what each adds to a model of 50 ms.
func (b *bench) gateways(ctx context.Context) error {
	for _, pause := range []time.Duration{0, 50 * time.Millisecond} {
		if err := b.besideGateway(ctx, pause); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) besideGateway(ctx context.Context, pause time.Duration) error {
	root, err := program.Root()
	if err != nil {
		return err
	}
	m, err := model.New(pause, scripts()...)
	if err != nil {
		return err
	}
	defer m.Close()
	contenders, err := b.contenders(ctx, m, "one", "three")
	defer func() { closeAll(contenders) }()
	if err != nil {
		return err
	}
	portkey, err := same(b.stores.Portkey(ctx, root, m.Addr(), system.Small))
	if err != nil {
		return err
	}
	contenders = append(contenders, portkey)
	if pause > 0 {
		added, err := b.addedBy(ctx, m, contenders)
		b.reportAdded("gateways", contenders, added)
		return err
	}
	rates, memory := map[string][]float64{}, map[string][]float64{}
	for range b.Rounds {
		for _, c := range contenders {
			s := c.systems[0]
			sample, err := b.measure(ctx, s, createCall, 0)
			if err != nil {
				return err
			}
			bytes, err := s.Memory()
			if err != nil {
				return err
			}
			rates[c.name], memory[c.name] = append(rates[c.name], sample.Rate), append(memory[c.name], float64(bytes)/(1<<20))
		}
	}
	for _, c := range contenders {
		b.report.add(b.out, plain("gateways", c.name+": calls that ask the model", "1/s", rates[c.name]),
			plain("gateways", c.name+": memory after them", "MiB", memory[c.name]))
	}
	return nil
}
