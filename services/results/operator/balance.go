package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/prism-results/prism/pkg/prism"
)

// tolerated is how far the use of a database may be from its part before a move is proposed.
const tolerated = 0.05

// use is the part of an account in what all accounts use: half of it by bytes, half by calls.
type use struct {
	name  string
	bytes int64
	calls float64
	part  float64
}

// load is a database with what is in it.
type load struct {
	name      string
	accepting bool
	weight    float64 // of all databases, as a part
	accounts  []use
	part      float64 // of its accounts
}

// proposal is a move that balance proposes.
type proposal struct {
	use
	from, to string
}

// accountBalance proposes moves. It does none of them.
func (o *Operator) accountBalance(ctx context.Context, in arguments) ([][]string, error) {
	if !in.dryRun {
		return nil, errors.New("usage: account balance --dry-run; account move makes the moves that it proposes")
	}
	now := o.service.Now()
	from := prism.DayOf(now) - 1
	var loads []load
	for _, db := range askEach(ctx, o.databases.All, func(ctx context.Context, db Database) (listed, error) { return listAccounts(ctx, db, from) }) {
		if db.err != nil {
			return nil, fmt.Errorf("nothing is proposed without the database %q: %w", db.Name, db.err)
		}
		l := load{name: db.Name, accepting: db.Accepting, weight: float64(db.Weight)}
		for _, a := range db.said.accounts {
			l.accounts = append(l.accounts, use{name: a.Name, bytes: a.Bytes, calls: float64(db.said.recent[a.ID]) / now.Sub(from.Start()).Seconds()})
		}
		loads = append(loads, l)
	}
	if len(loads) == 1 {
		return nil, errors.New("there is one database: nothing can be balanced")
	}
	proposals := balance(loads)
	if len(proposals) == 0 {
		return [][]string{{"The databases are used as their weights say."}}, nil
	}
	rows := [][]string{{"ACCOUNT", "FROM", "TO", "STORED BYTES", "CALLS A SECOND", "PART OF ALL USE"}}
	for _, p := range proposals {
		rows = append(rows, []string{
			p.name, p.from, p.to, strconv.FormatInt(p.bytes, 10), strconv.FormatFloat(p.calls, 'f', 3, 64), strconv.FormatFloat(100*p.part, 'f', 1, 64) + "%",
		})
	}
	return rows, nil
}

// measure computes the parts.
func measure(loads []load) {
	var bytes, calls, weights float64
	for _, l := range loads {
		weights += l.weight
		for _, a := range l.accounts {
			bytes, calls = bytes+float64(a.bytes), calls+a.calls
		}
	}
	share := func(of, all float64) float64 {
		if all == 0 {
			return 0
		}
		return of / all / 2
	}
	for i := range loads {
		l := &loads[i]
		l.weight /= weights
		for j := range l.accounts {
			a := &l.accounts[j]
			a.part = share(float64(a.bytes), bytes) + share(a.calls, calls)
			l.part += a.part
		}
		slices.SortStableFunc(l.accounts, func(a, b use) int { return cmp.Compare(b.part, a.part) })
	}
}

// balance proposes moves, each of the largest account that brings the database which is used most above its part nearer to it, to the accepting
// one that is used least. An account is proposed once.
func balance(loads []load) (proposals []proposal) {
	measure(loads)
	for {
		from, to := -1, -1
		for i, l := range loads {
			if from < 0 || l.part-l.weight > loads[from].part-loads[from].weight {
				from = i
			}
			if l.accepting && (to < 0 || l.part-l.weight < loads[to].part-loads[to].weight) {
				to = i
			}
		}
		if to < 0 || loads[from].part-loads[from].weight <= tolerated {
			return proposals
		}
		source, target := &loads[from], &loads[to]
		apart := (source.part - source.weight) - (target.part - target.weight)
		i := slices.IndexFunc(source.accounts, func(a use) bool {
			return 0 < a.part && a.part < apart && !slices.ContainsFunc(proposals, func(p proposal) bool { return p.name == a.name })
		})
		if from == to || i < 0 {
			return proposals
		}
		a := source.accounts[i]
		source.accounts = slices.Delete(source.accounts, i, i+1)
		source.part, target.part = source.part-a.part, target.part+a.part
		proposals = append(proposals, proposal{a, source.name, target.name})
	}
}
