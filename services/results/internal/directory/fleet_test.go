package directory_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// fleet is many replicas of results before many databases. Calls are spread over replicas at random, so each sees all accounts. Of an account,
// each key makes as many calls.
type fleet struct {
	databases, accounts, keys, replicas int // keys of each account
	calls                               int // a second, of all replicas
	// skew is the exponent of Zipf's law: the nth account makes so many calls as the first, divided by n to the power of skew.
	skew   float64
	memory int64 // of each replica
	fills  bool  // replicas read the directory when they start
}

// traffic draws accounts by their part of the calls.
type traffic struct {
	fleet
	below []float64 // the part of the calls that is of an account and those before it
	rnd   *rand.Rand
}

func (f fleet) traffic(seed uint64) *traffic {
	t := &traffic{fleet: f, below: make([]float64, f.accounts), rnd: rand.New(rand.NewPCG(seed, 1))}
	sum := 0.
	for n := range t.below {
		sum += math.Pow(float64(n+1), -f.skew)
		t.below[n] = sum
	}
	return t
}

// next is the account of a call and the number of its key.
func (t *traffic) next() (account, key int) {
	account, _ = slices.BinarySearch(t.below, t.rnd.Float64()*t.below[len(t.below)-1])
	account = min(account, t.accounts-1)
	return account, account*t.keys + t.rnd.IntN(t.keys)
}

// fleetHome is the home of a fleet.
type fleetHome struct {
	sqldb.Database
	fleet
	names   []string
	lookUps int
}

func (f fleet) home() *fleetHome {
	h := &fleetHome{fleet: f}
	for n := range f.databases {
		h.names = append(h.names, fmt.Sprintf("database-%d", n))
	}
	return h
}

func (h *fleetHome) LookUp(_ context.Context, s sqldb.Statement, read func(*sqldb.Row)) error {
	h.lookUps++
	var account int
	switch arg := s.Args[0].(type) {
	case []byte:
		account = int(binary.BigEndian.Uint64(arg[8:])-1) / h.keys
	case prism.UUID:
		account = int(binary.BigEndian.Uint64(arg[:]) - 1)
	}
	read(sqldb.NewRow(row{Place: directory.Place{Account: newAccount(account), Database: h.names[account%h.databases]}}))
	return nil
}

// Run reads a page of keys.
func (h *fleetHome) Run(_ context.Context, s sqldb.Statement, read sqldb.Reader) error {
	after, limit := binary.BigEndian.Uint64(s.Args[0].([]byte)[8:]), s.Args[1].(int) //nolint:forcetypeassert // of Fill
	return read(func(yield func(*sqldb.Row) bool) {
		for key := int(after); key < min(int(after)+limit, h.accounts*h.keys); key++ {
			n := key / h.keys
			place := directory.Place{Account: newAccount(n), Database: h.names[n%h.databases]}
			if !yield(sqldb.NewRow(row{Place: place, key: newKey(key)})) {
				return
			}
		}
	})
}

// BenchmarkFleet measures the directory of one replica of a fleet, since all replicas are alike, in simulated time: look-ups of home by all
// replicas, minutes after all of them have started at once, and the memory of the directory in the end.
func BenchmarkFleet(b *testing.B) {
	f := fleet{databases: 100, accounts: 1_000_000, keys: 2, replicas: 500, calls: 1_000_000}
	minutes := []int{1, 10}
	if testing.Short() {
		f.accounts, f.calls, minutes = 1000, 10_000, minutes[:1]
	}
	for _, skew := range []float64{0.8, 1, 1.2} {
		for _, memory := range []int64{1 << 30, 4 << 30} {
			for _, fills := range []bool{false, true} {
				b.Run(fmt.Sprintf("skew=%.1f/memory=%dMiB/fills=%t", skew, memory>>20, fills), func(b *testing.B) {
					f.skew, f.memory, f.fills = skew, memory, fills
					for b.Loop() {
						f.measure(b, minutes)
					}
				})
			}
		}
	}
}

func (f fleet) measure(b *testing.B, minutes []int) {
	t, h := f.traffic(1), f.home()
	before := heap()
	c := directory.NewCached(directory.SQL{Database: h}, directory.KeptIn(f.memory))
	ctx, each := b.Context(), f.calls/f.replicas
	if f.fills {
		if _, err := c.Fill(ctx); err != nil {
			b.Fatal(err)
		}
	}
	for second := range minutes[len(minutes)-1] * 60 {
		asked := h.lookUps
		for range each {
			_, key := t.next()
			if _, err := c.OfKey(ctx, newKey(key)); err != nil {
				b.Fatal(err)
			}
		}
		if m := (second + 1) / 60; (second+1)%60 == 0 && slices.Contains(minutes, m) {
			missed := float64(h.lookUps - asked)
			b.ReportMetric(missed*float64(f.replicas), fmt.Sprintf("look-ups/s@%dmin", m))
			b.ReportMetric(100*(1-missed/float64(each)), fmt.Sprintf("%%hit@%dmin", m))
		}
	}
	b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
	runtime.KeepAlive(c)
	runtime.KeepAlive(t)
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
