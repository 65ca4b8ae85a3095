package main

import (
	"context"
	"fmt"

	"github.com/prism-results/prism/test/lab/bench/internal/model"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// compare measures all systems in interleaved rounds: each kind of call, each prism.
func (b *bench) compare(ctx context.Context) error {
	m, err := model.New(0, scripts()...)
	if err != nil {
		return err
	}
	defer m.Close()
	contenders, err := b.contenders(ctx, m, "peer", "one", "three", "chain", "sqlite")
	defer func() { closeAll(contenders) }()
	if err != nil {
		return err
	}
	if err := checkSameBytes(ctx, contenders, m); err != nil {
		return err
	}
	if b.report.Cells, err = b.interleave(ctx, contenders); err != nil {
		return err
	}
	b.judge()
	return b.profiles(ctx, contenders)
}

// judge adds the figures that have a target: ratios to the peer and to the bare chain.
func (b *bench) judge() {
	rates := func(p system.Prism, call, name string) []float64 {
		return b.report.Cells.at(p.Name, call, name).of(rate)
	}
	for _, t := range []struct {
		prism        system.Prism
		call         string
		system, than string
		least        float64
	}{
		{system.Small, readCall, system.OneProcess, system.NodePeer, 4},
		{system.Small, createCall, system.OneProcess, system.NodePeer, 2.5},
		{system.Small, readCall, system.ThreeProcesses, system.NodePeer, 2.2},
		{system.Small, createCall, system.ThreeProcesses, system.NodePeer, 1.2},
		{system.Small, readCall, system.ThreeProcesses, system.BareChain, 0.75},
		{system.Small, createCall, system.ThreeProcesses, system.BareChain, 0.85},
	} {
		x, y := rates(t.prism, t.call, t.system), rates(t.prism, t.call, t.than)
		if len(x) > 0 && len(y) > 0 {
			b.report.add(b.out, beside("compare", fmt.Sprintf("%s: %ss, of those of %s", t.system, t.call, t.than), "1/s", x, y, t.least))
		}
	}
	for _, name := range []string{system.OneProcess, system.ThreeProcesses} {
		x, y := rates(system.Small, keyedCall, name), rates(system.Small, createCall, name)
		if len(x) > 0 && len(y) > 0 {
			b.report.add(b.out, beside("compare", name+": creates with a key, of those without", "1/s", x, y, 0.8))
		}
	}
}
