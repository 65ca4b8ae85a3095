package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/lab/bench/internal/model"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

const (
	// spreadOver is how many databases the row databases compares with one, and how many accounts its calls are spread over.
	spreadOver = 4
	// severalMost is the most processor time that a call may take over them, of the time that it takes over one.
	severalMost = 1.05
	// pairs is how many rounds the row databases has at least, but in a trial of one or two.
	pairs = 9
)

// A pair compares calls over four databases with calls over one, so many at once.
type pair struct {
	callers         string
	several, single int
}

// pairsOf are calls that share no statement, calls of as many callers, which share fewer statements of each of four databases, and calls of
// as many callers for each database.
func (b *bench) pairsOf() []pair {
	return []pair{
		{"one at a time", 1, 1},
		{fmt.Sprintf("%d at once", b.Conns), b.Conns, b.Conns},
		{fmt.Sprintf("%d at once for each database", b.Conns), spreadOver * b.Conns, b.Conns},
	}
}

// databases measures the processor time of calls that are spread over four accounts: of a Prism with one database, and of one with four
// databases, of which each has an account.
func (b *bench) databases(ctx context.Context) error {
	m, err := model.New(0, scripts()...)
	if err != nil {
		return err
	}
	defer m.Close()
	for _, topology := range []string{"one", "three"} {
		if !b.wants(b.Systems, topology) {
			continue
		}
		if err := b.spread(ctx, m, topology == "three"); err != nil {
			return fmt.Errorf("%s: %w", topology, err)
		}
	}
	return nil
}

// spreading is a Prism whose calls are spread over accounts.
type spreading struct {
	accounts []*system.System
	took     map[string][]float64 // µs of processor time, by call and how many there are at once
}

func took(call string, atOnce int) string { return fmt.Sprint(call, atOnce) }

func (b *bench) spread(ctx context.Context, m *model.Model, three bool) error {
	dir, err := os.MkdirTemp(b.dir, "databases-")
	if err != nil {
		return err
	}
	var all []*spreading
	defer func() {
		for _, s := range all {
			s.accounts[0].Close()
		}
	}()
	for _, databases := range []int{1, spreadOver} {
		accounts, err := b.stores.Spread(ctx, b.bin, dir, m.URL(), three, databases, spreadOver, system.Small)
		if err != nil {
			return err
		}
		all = append(all, &spreading{accounts: accounts, took: map[string][]float64{}})
	}
	single, several := all[0], all[1]
	rounds := b.Rounds
	if rounds > 2 {
		rounds = max(rounds, pairs)
	}
	for round := range rounds {
		err := b.eachSpread(func(call string) error {
			measured := []func() error{}
			for _, s := range all {
				atOnce := []int{1, b.Conns}
				if s == several {
					atOnce = append(atOnce, spreadOver*b.Conns)
				}
				for _, n := range atOnce {
					measured = append(measured, func() error { return b.measureSpread(ctx, s, call, n) })
				}
			}
			if round%2 == 1 {
				slices.Reverse(measured)
			}
			for _, measure := range measured {
				if err := measure(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := b.idle(ctx, several.accounts[0]); err != nil {
		return err
	}
	return b.eachSpread(func(call string) error {
		for _, p := range b.pairsOf() {
			b.report.add(b.out, judgedByInterval("databases", fmt.Sprintf("%s, over four databases: %s, %s", single.accounts[0].Name, call, p.callers), "µs",
				several.took[took(call, p.several)], single.took[took(call, p.single)], severalMost))
		}
		return nil
	})
}

// eachSpread calls do with each call that is wanted.
func (b *bench) eachSpread(do func(call string) error) error {
	for _, call := range callNames {
		if b.wants(b.Calls, call.flag) {
			if err := do(call.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// measureSpread adds a sample of the processor time of a call.
func (b *bench) measureSpread(ctx context.Context, s *spreading, call string, atOnce int) error {
	works := make([]load.Work, len(s.accounts))
	for i, account := range s.accounts {
		works[i] = work(account, call, 0)
	}
	spread := works[0]
	spread.Request = func(n int) []byte { return works[n%len(works)].Request(n) }
	got, err := b.measureWork(ctx, s.accounts[0], spread, atOnce)
	if err != nil {
		return fmt.Errorf("%s: %w", call, err)
	}
	key := took(call, atOnce)
	s.took[key] = append(s.took[key], got.total())
	fmt.Fprintf(b.out, "  %s, %s, %d at once: %s 1/s, %s µs of processor time\n", s.accounts[0].Name, call, atOnce, number(got.Rate), number(got.total()))
	return nil
}

// idleFor is longer than Postgres takes to count what its sessions did.
const idleFor = 20 * time.Second

// idle measures what a database costs while no calls come: the statements of work beside the calls, and the processor time of a second.
func (b *bench) idle(ctx context.Context, s *system.System) error {
	before, err := s.Transactions(ctx)
	if err != nil {
		return err
	}
	used, err := s.CPU()
	if err != nil {
		return err
	}
	if !load.Wait(ctx, min(idleFor, 10*b.Length)) {
		return ctx.Err()
	}
	after, err := s.Transactions(ctx)
	if err != nil {
		return err
	}
	usedAfter, err := s.CPU()
	if err != nil {
		return err
	}
	each := min(idleFor, 10*b.Length).Seconds() * (spreadOver + 1) // the Prism with one database idles too
	b.report.add(b.out,
		plain("databases", s.Name+", for each idle database: transactions", "1/s", []float64{(after - before) / each}),
		plain("databases", s.Name+", for each idle database: processor time of Postgres", "ms/s",
			[]float64{milliseconds(usedAfter[system.Postgres]-used[system.Postgres]) / each}))
	return nil
}
