package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/prism-results/prism/test/lab/bench/internal/model"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// The two builds of a comparison.
const (
	thisBuild  = "this"
	otherBuild = "other"
)

// topologies are the ways to run Prism that builds are compared in, by the word of the flag.
var topologies = []string{"one", "three", "sqlite"}

// against compares two builds of Prism in interleaved rounds: the binaries in b.bin and those in b.Against. Each build
// migrates and fills databases of its own.
func (b *bench) against(ctx context.Context) error {
	m, err := model.New(0, scripts()...)
	if err != nil {
		return err
	}
	defer m.Close()
	var contenders []contender
	defer func() { closeAll(contenders) }()
	for _, build := range []struct{ name, bin string }{{thisBuild, b.bin}, {otherBuild, b.Against}} {
		b.bin = build.bin
		data, err := b.stores.Prepare(ctx, b.bin, m.URL(), b.Few, system.Prisms()...)
		if err != nil {
			return fmt.Errorf("%s: %w", b.bin, err)
		}
		for _, topology := range topologies {
			if !b.wants(b.Systems, topology) {
				continue
			}
			c, err := same(b.prism(ctx, topology, data, m.URL()))
			if err != nil {
				return err
			}
			c.name = topology + " " + build.name
			contenders = append(contenders, c)
		}
	}
	// The same topology of both builds runs one after the other.
	slices.SortStableFunc(contenders, func(x, y contender) int { return topologyOf(x) - topologyOf(y) })
	all, err := b.interleave(ctx, contenders)
	if err != nil {
		return err
	}
	return b.compareBuilds(all)
}

func topologyOf(c contender) int {
	return slices.IndexFunc(topologies, func(t string) bool { return len(c.name) > len(t) && c.name[:len(t)+1] == t+" " })
}

// compareBuilds prints, for each prism, topology and call: calls per second and processor time of both builds, and their
// ratios, this build over the other: the median of the rounds, the lowest and the highest. The last ratio is that of the
// lowest processor times, which other programs on the machine disturb least. A line for each part has its processor time.
func (b *bench) compareBuilds(all cells) error {
	w := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nprism\ttopology\tcall\tthis 1/s\tother 1/s\tratio\tfrom\tto\tthis µs\tother µs\tratio\tfrom\tto\tof lowest\t")
	for _, p := range system.Prisms() {
		for _, t := range topologies {
			for _, call := range callNames {
				here, there := all.at(p.Name, call.name, t+" "+thisBuild), all.at(p.Name, call.name, t+" "+otherBuild)
				if len(here.Samples) == 0 {
					continue
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t", p.Name, t, call.name)
				for _, figure := range []func(sample) float64{rate, sample.total} {
					x, y := here.of(figure), there.of(figure)
					r := ratios(x, y)
					fmt.Fprintf(w, "%s\t%s\t%.3f\t%.3f\t%.3f\t", number(median(x)), number(median(y)),
						median(r), slices.Min(r), slices.Max(r))
				}
				fmt.Fprintf(w, "%.3f\t\n", slices.Min(here.of(sample.total))/slices.Min(there.of(sample.total)))
				for _, part := range slices.Sorted(maps.Keys(here.Samples[0].CPU)) {
					of := func(s sample) float64 { return s.CPU[part] }
					x, y := here.of(of), there.of(of)
					fmt.Fprintf(w, "\t\t%s\t\t\t\t\t\t%.1f\t%.1f\t%.3f\t\t\t%.3f\t\n", part, median(x), median(y), median(ratios(x, y)),
						slices.Min(x)/slices.Min(y))
				}
			}
		}
	}
	return w.Flush()
}
