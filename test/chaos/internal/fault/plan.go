// Package fault breaks a system at random, by a plan that its seed decides.
package fault

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/prism-results/prism/test/chaos/internal/system"
)

// Fault is one thing that goes wrong, for a while.
type Fault struct {
	Kind   string
	Target string
	At     time.Duration // since the start
	Length time.Duration
	toxics []system.Toxic
}

func (f Fault) String() string {
	return fmt.Sprintf("%.3f s: %s, %s, for %s %v", f.At.Seconds(), f.Kind, f.Target, f.Length, f.toxics)
}

// The kinds of faults.
const (
	Kill          = "kill -9"
	Terminate     = "SIGTERM"
	CrashPostgres = "Postgres stopped immediately"
	KillRedis     = "Redis killed, restarted empty"
	FlushRedis    = "Redis flushed"
	PauseRedis    = "Redis paused"
	Latency       = "link: latency"
	Dropped       = "link: dropped (nothing arrives, then it ends)"
	HalfOpen      = "link: half-open (one direction is silent)"
	CutOnce       = "link: cut (every connection is reset)"
	CutBySize     = "link: cut within a request"
	CutAnswer     = "link: cut between commit and answer"
	Reset         = "link: reset when something is sent"
	Refuse        = "link: refused"
)

// Kinds are all kinds of faults.
func Kinds() []string {
	return []string{
		Kill, Terminate, CrashPostgres, KillRedis, FlushRedis, PauseRedis,
		Latency, Dropped, HalfOpen, CutOnce, CutBySize, CutAnswer, Reset, Refuse,
	}
}

// Config of a plan.
type Config struct {
	Seed uint64
	// Length of the plan: all faults have ended by then.
	Length time.Duration
	// Parts and Links are what can break.
	Parts, Links []string
	// Saving are those of the Links over which results are saved.
	Saving []string
}

const (
	// quiet is left at the start, so that there is something to lose.
	quiet = 300 * time.Millisecond
	// meanGap is between the starts of two faults. A fault lasts longest/2 in the mean, so that a few are there at a time.
	meanGap = 400 * time.Millisecond
	longest = 1500 * time.Millisecond
	// pauseAfter is how long a target is left alone after a fault: the repair takes a part about as long to be ready again.
	pauseAfter = 400 * time.Millisecond
)

// Plan decides what breaks when. The same seed decides the same.
func Plan(c Config) []Fault {
	rnd := rand.New(rand.NewPCG(c.Seed, 7))
	var plan []Fault
	busy := map[string]time.Duration{}
	// Every kind has its turn before any has the next, so that a short run has most of them.
	var bag []string
	for at := quiet; ; at += time.Duration(float64(meanGap) * (0.2 + 1.6*rnd.Float64())) {
		if len(bag) == 0 {
			bag = Kinds()
			rnd.Shuffle(len(bag), func(i, j int) { bag[i], bag[j] = bag[j], bag[i] })
		}
		if at+longest > c.Length {
			return plan
		}
		// A kind whose target is busy waits for its turn, and another goes first.
		for i, kind := range bag {
			f := draw(rnd, c, kind)
			if f.At = at; busy[f.Target] <= at {
				bag = append(bag[:i:i], bag[i+1:]...)
				busy[f.Target] = at + f.Length + pauseAfter
				plan = append(plan, f)
				break
			}
		}
	}
}

func draw(rnd *rand.Rand, c Config, kind string) Fault {
	f := Fault{Kind: kind, Length: between(rnd, 100*time.Millisecond, longest)}
	pick := func(from []string) string { return from[rnd.IntN(len(from))] }
	side := func() string { return pick([]string{"upstream", "downstream"}) }
	toxic := func(kind, stream string, attributes map[string]int) {
		f.toxics = append(f.toxics, system.Toxic{Type: kind, Stream: stream, Toxicity: 1, Attributes: attributes})
	}
	switch kind {
	case Kill, Terminate:
		f.Target = pick(c.Parts)
		return f
	case CrashPostgres:
		f.Target = "Postgres"
		return f
	case KillRedis, FlushRedis, PauseRedis:
		f.Target = "Redis"
		return f
	}
	if f.Target = pick(c.Links); kind == CutAnswer {
		f.Target = pick(c.Saving)
	}
	switch kind {
	case Latency:
		toxic("latency", side(), map[string]int{"latency": 5 + rnd.IntN(300), "jitter": rnd.IntN(50)})
	case Dropped:
		toxic("timeout", side(), map[string]int{"timeout": 20 + rnd.IntN(500)})
	case HalfOpen:
		toxic("timeout", side(), map[string]int{"timeout": 0})
	case CutBySize:
		toxic("limit_data", side(), map[string]int{"bytes": rnd.IntN(3000)})
	case CutAnswer:
		// What is asked arrives whole, and of the answer a part or nothing.
		toxic("limit_data", "downstream", map[string]int{"bytes": rnd.IntN(400)})
	case Reset:
		toxic("reset_peer", side(), map[string]int{"timeout": rnd.IntN(60)})
	case CutOnce, Refuse:
	}
	return f
}

func between(rnd *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(rnd.Int64N(int64(high-low)))
}
