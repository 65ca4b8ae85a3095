package storetest

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/distribution"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
)

// BenchmarkReadDistribution reads the distribution of a year with answers in each of its hours: with a few and with ten times as many, and
// beside changes that are not counted yet.
func BenchmarkReadDistribution(b *testing.B, s sqlstore.Store) {
	const (
		hours  = 365 * 24
		savers = 16
		piece  = 1000
		// younger is what may wait to be counted at 1,000 saves a second, and some more.
		younger = 5000
	)
	begin := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	f := &fixture{Store: s}
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	begun := func(name string) tenant {
		of := tenant{account: prism.AccountID{UUID: f.id()}, prism: f.newPrism(name)}
		check(f.CreateAccount(b.Context(), of.account, name, moment(0)))
		check(f.CreatePrism(b.Context(), of.account, of.prism))
		return of
	}
	save := func(owner tenant, from, to int) {
		errs := together(savers, func(saver int) error {
			for i := from + saver; i < to; i += savers {
				r := f.ok(owner.prism)
				binary.BigEndian.PutUint64(r.ID.UUID[8:], 1<<63|uint64(i))
				r.CreatedAt = begin.Add(time.Duration(i%hours) * time.Hour)
				r.Answers = answerjson.Append(nil, prism.Answers{{Question: "urgent", Type: prism.YesNo, Probability: float64(i%101) / 100}})
				if _, err := f.SaveResult(b.Context(), owner.account, r); err != nil {
					return err
				}
			}
			return nil
		})
		for _, err := range errs {
			check(err)
		}
		check(f.Fold(b.Context()))
	}
	read := func(name string, of tenant, want int) {
		b.Run(name, func(b *testing.B) {
			filter := distribution.Filter{Prism: of.prism.ID, Question: "urgent", From: begin, To: begin.AddDate(1, 0, 0)}
			for b.Loop() {
				counts, err := f.ReadDistribution(b.Context(), of.account, filter)
				check(err)
				n := int64(0)
				for i := range counts.Quarters {
					n += counts.Quarters[i].Answers()
				}
				if n != int64(want) || !counts.Exact {
					b.Fatalf("%d answers are counted, want %d", n, want)
				}
			}
		})
	}
	for _, n := range []int{hours, 10 * hours} {
		owner := begun(fmt.Sprintf("of-%d", n))
		save(owner, 0, n)
		check(f.BeginCounting(b.Context(), owner.account))
		for more := true; more; {
			var err error
			more, err = f.Count(b.Context(), owner.account, piece)
			check(err)
		}
		read(fmt.Sprintf("%d results", n), owner, n)
		if n > hours {
			save(owner, n, n+younger)
			read(fmt.Sprintf("%d results, %d of them not counted yet", n+younger, younger), owner, n+younger)
		}
	}
}
