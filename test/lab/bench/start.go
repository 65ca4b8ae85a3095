package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/prism-results/prism/test/lab/bench/internal/model"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// start is how long each binary needs to be ready, and its size.
func (b *bench) start(ctx context.Context) error {
	m, err := model.New(0, scripts()...)
	if err != nil {
		return err
	}
	defer m.Close()
	data, err := b.data(ctx)
	if err != nil {
		return err
	}
	times := map[string][]float64{}
	for range b.Rounds {
		for _, topology := range []string{"three", "sqlite"} {
			s, err := b.prism(ctx, topology, data, m.URL())
			if err != nil {
				return err
			}
			s.Close()
			for _, p := range s.Processes {
				times[p.Name] = append(times[p.Name], p.Ready.Seconds())
			}
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
