package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// contender is a system under one name, by prism: the bare chain has an instance for each prism.
type contender struct {
	name    string
	systems []*system.System
}

func closeAll(contenders []contender) {
	for _, c := range contenders {
		for _, s := range c.systems {
			s.Close()
		}
	}
}

// Cell is what was measured of one kind of call to one contender, one sample for each round.
type Cell struct {
	Prism   string   `json:"prism"`
	Call    string   `json:"call"`
	System  string   `json:"system"`
	Samples []sample `json:"samples"`
}

// of collects one figure of all samples.
func (c Cell) of(figure func(sample) float64) []float64 {
	values := make([]float64, len(c.Samples))
	for i, s := range c.Samples {
		values[i] = figure(s)
	}
	return values
}

func rate(s sample) float64 { return s.Rate }

// cells are all samples of interleaved rounds.
type cells []Cell

// at returns the cell of a prism, a call and a contender; a cell without samples when there is none.
func (c cells) at(prism, call, system string) Cell {
	for _, cell := range c {
		if cell.Prism == prism && cell.Call == call && cell.System == system {
			return cell
		}
	}
	return Cell{}
}

func (c *cells) add(prism, call, system string, s sample) {
	for i := range *c {
		if cell := &(*c)[i]; cell.Prism == prism && cell.Call == call && cell.System == system {
			cell.Samples = append(cell.Samples, s)
			return
		}
	}
	*c = append(*c, Cell{prism, call, system, []sample{s}})
}

// eachCall calls do for each prism and each kind of call that the flags want. n is the number of the prism.
func (b *bench) eachCall(do func(n int, p system.Prism, call string) error) error {
	for n, p := range system.Prisms() {
		for _, call := range callNames {
			if !b.wants(b.Prisms, p.Slug) || !b.wants(b.Calls, call.flag) {
				continue
			}
			if err := do(n, p, call.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// interleave measures all contenders one after the other, each kind of call and each prism, round by round. Every second
// round goes through the contenders backwards, so that none always follows the same other. Before the first round each
// contender runs for a moment, because Node compiles the code that runs often, and then rests, because Prism indexes what was stored.
func (b *bench) interleave(ctx context.Context, contenders []contender) (cells, error) {
	for _, c := range contenders {
		err := b.eachCall(func(n int, _ system.Prism, call string) error {
			_, err := load.Closed(ctx, work(c.systems[n], call, n), b.Conns, b.Length/2)
			return err
		})
		for _, s := range c.systems {
			err = errors.Join(err, s.Rest(ctx))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	var all cells
	for round := range b.Rounds {
		order := slices.Clone(contenders)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		err := b.eachCall(func(n int, p system.Prism, call string) error {
			for _, c := range order {
				s, err := b.measure(ctx, c.systems[n], call, n)
				if err != nil {
					return err
				}
				all.add(p.Name, call, c.name, s)
				fmt.Fprintf(b.out, "  round %d, %s, %s, %s: %s 1/s, %s µs of processor time\n",
					round+1, p.Name, call, c.name, number(s.Rate), number(s.total()))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
