package main

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// The figures of a Node server, of Prism and of a chain: rounds in which the machine's speed halves.
func measured() cells {
	var c cells
	for round := range 3 {
		speed := []float64{1, 0.5, 1}[round]
		for _, call := range callNames {
			c.add(system.Small.Name, call.name, system.NodePeer, sample{Rate: 1000 * speed})
			c.add(system.Small.Name, call.name, system.OneProcess, sample{Rate: 4000 * speed, CPU: map[string]float64{
				"prism": 40, system.Postgres: 20, system.LoadAndModel: 500,
			}})
			c.add(system.Small.Name, call.name, system.ThreeProcesses, sample{Rate: 2500 * speed})
			c.add(system.Small.Name, call.name, system.BareChain, sample{Rate: 5000 * speed})
		}
	}
	return c
}

func TestRatiosAreOfTheSameRound(t *testing.T) {
	t.Parallel()
	b := &bench{out: new(strings.Builder), report: &report{Cells: measured()}}
	b.judge()
	want := []float64{4, 4, 2.5, 2.5, 0.5, 0.5, 1, 1}
	if len(b.report.Figures) != len(want) {
		t.Fatalf("%d figures, want %d", len(b.report.Figures), len(want))
	}
	for i, f := range b.report.Figures {
		if f.Ratio != want[i] || f.Rounds[1] != want[i] {
			t.Errorf("%s: the ratio is %v in rounds %v, want %v", f.What, f.Ratio, f.Rounds, want[i])
		}
		if reached := want[i] > 0.5; f.Reached != reached {
			t.Errorf("%s: reached is %t", f.What, f.Reached)
		}
	}
}

func TestTablesOfThePage(t *testing.T) {
	t.Parallel()
	r := &report{Cells: measured()}
	requests := r.requestsTable(system.Small)
	if want := "| Prism, one process | 4,000 (4.0 ×) | 4,000 (4.0 ×) | 4,000 (4.0 ×) |\n"; !strings.Contains(requests, want) {
		t.Errorf("%q is not in\n%s", want, requests)
	}
	// 40 µs of prism and 20 of Postgres; the load generator is not part of the total.
	if want := "| two questions, read | 0 | 60 | 0 | 0 | 0 |\n"; !strings.Contains(r.processorTable(), want) {
		t.Errorf("%q is not in\n%s", want, r.processorTable())
	}
}
