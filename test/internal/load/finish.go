package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/prism-results/prism/test/internal/history"
)

// Finish proves that nothing is stuck. After the faults have ended, with a model that always answers, a repeat of every key
// must return a result that is ok, and every chain of results must end in such a result. These calls are part of the
// histories.
func (l *Load) Finish(ctx context.Context) {
	work := make(chan *Race)
	var clients sync.WaitGroup
	for i := range l.config.Clients {
		clients.Go(func() {
			rnd := rand.New(rand.NewPCG(l.config.Seed, uint64(i)+1000))
			for race := range work {
				if err := l.finish(ctx, race, i, rnd); err != nil {
					l.problem(fmt.Errorf("%s is stuck: %w", race.name(), err))
				}
			}
		})
	}
	for _, race := range l.Races() {
		work <- race
	}
	close(work)
	clients.Wait()
}

// finish repeats the key first. Then it retries every result without a known retry: the last result of a chain, which ends
// the chain, and results inside a chain, whose responses tell the order that the check of the history needs.
func (l *Load) finish(ctx context.Context, race *Race, number int, rnd *rand.Rand) error {
	var last history.Response
	answered, prism := race.Key == "", 0
	ctx, cancel := context.WithTimeout(ctx, finishBudget)
	defer cancel()
	steps := 4 * l.config.Limit // each answer but a few brings the race nearer to its end
	for step := 0; step < steps; step++ {
		in, ok := race.nextToFinish(answered, prism)
		if !ok {
			return nil
		}
		last = l.call(context.WithoutCancel(ctx), race, number, l.gateway(rnd), in)
		switch {
		case last.Meaning == history.Nothing:
			step-- // the 503 asks for a pause, and brings nothing nearer
			Wait(ctx, unavailablePause(rnd))
		case last.Meaning == history.OtherPrism:
			prism = 1 - prism
		case in.kind == history.Create && last.Meaning == history.Result && last.Status == history.OK:
			answered = true
		}
		if ctx.Err() != nil {
			break
		}
	}
	return fmt.Errorf("at last it answers %q", last)
}

// finishBudget bounds one race, on a machine of any load.
const finishBudget = 3 * time.Minute

// nextToFinish is the next call that brings a race to its end. false means that no call is left.
func (r *Race) nextToFinish(answered bool, prism int) (intent, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !answered {
		return r.create(Slugs[prism]), true
	}
	for _, k := range r.known {
		if !k.ok && !k.retried {
			return intent{kind: history.Retry, target: k.id}, true
		}
	}
	return intent{}, false
}

// Ready waits until each gateway succeeds with a call that needs every service, and returns how long that took.
func (l *Load) Ready(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	rnd := rand.New(rand.NewPCG(l.config.Seed, 0))
	l.mu.Lock()
	race := l.newRace(rnd)
	l.mu.Unlock()
	race.Key = fmt.Sprintf("key-ready-%d", race.Number)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for _, gateway := range l.config.Gateways {
		for {
			in, _ := race.nextToFinish(false, 0)
			if l.call(ctx, race, 0, gateway, in).Meaning == history.Result {
				break
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return time.Since(began), fmt.Errorf("%s does not answer: %w", gateway, ctx.Err())
			}
		}
	}
	return time.Since(began), nil
}
