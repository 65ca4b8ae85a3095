package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/lab/bench/internal/model"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

const (
	// atOnce webhooks have each event, so createsAtOnce creates a second are 1,000 events a second.
	atOnce, createsAtOnce = 10, 100
	// firstTry is what the p99 of the time from a response to the first try of its event may be, in ms, and besideTen what a create with ten
	// webhooks may cost, of one without.
	firstTry, besideTen = 1000, 1.02
	// noticed is longer than results needs to see that a webhook was enabled, or that none is.
	noticed = 1500 * time.Millisecond
	// arrivalBudget bounds the wait for events.
	arrivalBudget = 2 * time.Minute
)

// told is a system with ten webhooks, which are sent to a receiver in this process.
type told struct {
	*system.System
	client   *client.Client
	receiver *receiver
	ids      []string
}

// withWebhooks starts each system with a sender of webhooks in turn.
func (b *bench) withWebhooks(ctx context.Context, do func(t *told) error) error {
	m, err := model.New(0, scripts()...)
	if err != nil {
		return err
	}
	defer m.Close()
	for _, topology := range []string{"sqlite", "three"} {
		if !b.wants(b.Systems, topology) {
			continue
		}
		if err := b.withWebhooksOf(ctx, m, topology, do); err != nil {
			return fmt.Errorf("%s: %w", topology, err)
		}
	}
	return nil
}

func (b *bench) withWebhooksOf(ctx context.Context, m *model.Model, topology string, do func(t *told) error) error {
	r, err := newReceiver()
	if err != nil {
		return err
	}
	defer r.Close()
	data, err := b.data(ctx)
	if err != nil {
		return err
	}
	var s *system.System
	if topology == "three" {
		s, err = data.Sending(ctx, b.bin, m.URL())
	} else {
		b.folders++
		s, err = b.stores.SQLite(ctx, b.bin, filepath.Join(b.dir, "webhooks-"+strconv.Itoa(b.folders)), m.URL(), 1, system.Prisms()...)
	}
	if err != nil {
		return err
	}
	defer s.Close()
	c, err := client.New(client.Config{URL: "http://" + s.Addr, Key: s.Key})
	if err != nil {
		return err
	}
	t := &told{System: s, client: c, receiver: r}
	for n := range atOnce {
		off := false
		w, err := c.CreateWebhook(ctx, client.NewWebhook{URL: r.url(n), Events: []client.EventType{client.EventResultCreated}, Enabled: &off})
		if err != nil {
			return err
		}
		t.ids = append(t.ids, w.ID)
	}
	return do(t)
}

// enable has n webhooks ask for an event, and disables the others. It returns when results works so.
func (t *told) enable(ctx context.Context, n int, event client.EventType) error {
	for i, id := range t.ids {
		enabled := i < n
		w := client.NewWebhook{URL: t.receiver.url(i), Events: []client.EventType{event}, Enabled: &enabled}
		if _, err := t.client.ReplaceWebhook(ctx, id, w); err != nil {
			return err
		}
	}
	if !load.Wait(ctx, noticed) {
		return ctx.Err()
	}
	t.receiver.forget()
	return nil
}

// waiting is how many events wait for the webhooks.
func (t *told) waiting(ctx context.Context) (n int, err error) {
	for w, err := range t.client.Webhooks(ctx) {
		if err != nil {
			return 0, err
		}
		n += int(w.Waiting)
	}
	return n, nil
}

// creates makes so many creates a second, and returns their results.
func (t *told) creates(ctx context.Context, conns, rate int, length time.Duration) (load.Figures, *created, error) {
	c := &created{at: map[string]time.Time{}}
	w := creates(t.System, system.Small)
	w.Seen = c.seen
	f, err := load.Steady(ctx, w, conns, rate, length)
	return f, c, err
}

// arrivals waits until n webhooks were told of results.
func (t *told) arrivals(ctx context.Context, n int, of *created) (all []arrival, err error) {
	want := n * len(of.at)
	ctx, cancel := context.WithTimeout(ctx, arrivalBudget)
	defer cancel()
	err = awaited(ctx, 20*time.Millisecond, func() (bool, error) {
		all, err = t.receiver.arrivals(of.at)
		return len(all) >= want, err
	})
	if err != nil {
		err = fmt.Errorf("%d of %d events arrived: %w", len(all), want, err)
	}
	return all, err
}

// idle waits until nothing waits for the webhooks.
func (t *told) idle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, arrivalBudget)
	defer cancel()
	return awaited(ctx, 50*time.Millisecond, func() (bool, error) {
		n, err := t.waiting(ctx)
		return n == 0, err
	})
}

// webhooks is how soon ten webhooks are told of results at 1,000 events a second, and how fast events that wait are sent.
func (b *bench) webhooks(ctx context.Context) error {
	return b.withWebhooks(ctx, func(t *told) error {
		if err := b.firstTries(ctx, t); err != nil {
			return err
		}
		for _, n := range []int{atOnce, 1} {
			if err := b.drain(ctx, t, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// firstTries measures the time from a response, and from what the event says of when the result was made, to the first try.
func (b *bench) firstTries(ctx context.Context, t *told) error {
	if err := t.enable(ctx, atOnce, client.EventResultCreated); err != nil {
		return err
	}
	if _, _, err := t.creates(ctx, b.Conns, createsAtOnce, b.Length/10); err != nil {
		return err
	}
	percentiles := []float64{50, 95, 99}
	var after, since [3][]float64
	var rates []float64
	for range b.Rounds {
		began := time.Now()
		f, created, err := t.creates(ctx, b.Conns, createsAtOnce, b.Length)
		if err != nil {
			return err
		}
		b.tellRefused(f)
		all, err := t.arrivals(ctx, atOnce, created)
		if err != nil {
			return err
		}
		var responded, happened []time.Duration
		last := began
		for _, a := range all {
			responded, happened = append(responded, a.at.Sub(created.at[a.result])), append(happened, a.at.Sub(a.happened))
			if a.at.After(last) {
				last = a.at
			}
		}
		rates = append(rates, float64(len(all))/last.Sub(began).Seconds())
		slices.Sort(responded)
		slices.Sort(happened)
		for i, p := range percentiles {
			after[i] = append(after[i], milliseconds(load.Figures{Took: responded}.Percentile(p)))
			since[i] = append(since[i], milliseconds(load.Figures{Took: happened}.Percentile(p)))
		}
	}
	prefix := fmt.Sprintf("%s, %d creates a second with %d webhooks: ", t.Name, createsAtOnce, atOnce)
	b.report.add(b.out, plain("webhooks", prefix+"events sent", "1/s", rates))
	for i, p := range percentiles {
		of := fmt.Sprintf("response to first try, p%.0f", p)
		if i == len(percentiles)-1 {
			b.report.add(b.out, atMost("webhooks", prefix+of, "ms", after[i], firstTry))
		} else {
			b.report.add(b.out, plain("webhooks", prefix+of, "ms", after[i]))
		}
	}
	for i, p := range percentiles {
		b.report.add(b.out, plain("webhooks", prefix+fmt.Sprintf("time of the result to first try, p%.0f", p), "ms", since[i]))
	}
	if b.Profile == "" {
		return t.idle(ctx)
	}
	return b.profile(ctx, t.System, "webhooks", func(length time.Duration) (load.Figures, error) {
		f, _, err := t.creates(ctx, b.Conns, createsAtOnce, length)
		return f, err
	})
}

// drain measures how fast events are sent that wait for n webhooks, as many for each as for ten together b.Events.
func (b *bench) drain(ctx context.Context, t *told, n int) error {
	const rate = 400 // creates a second: the first try of each webhook has 15 s
	each := b.Events / atOnce
	var rates, used []float64
	for range b.Rounds {
		if err := t.idle(ctx); err != nil {
			return err
		}
		if err := t.enable(ctx, n, client.EventResultCreated); err != nil {
			return err
		}
		t.receiver.gate.Lock()
		_, created, err := t.creates(ctx, b.Conns, rate, time.Duration(each)*time.Second/rate)
		if err == nil {
			err = awaited(ctx, 50*time.Millisecond, func() (bool, error) {
				waiting, err := t.waiting(ctx)
				return waiting >= n*len(created.at), err
			})
		}
		before, failed := t.CPU()
		began := time.Now()
		t.receiver.gate.Unlock()
		if err != nil {
			return err
		}
		all, err := t.arrivals(ctx, n, created)
		if err != nil {
			return err
		}
		after, err := t.CPU()
		if err := errors.Join(failed, err); err != nil {
			return err
		}
		last := began
		for _, a := range all {
			if a.at.After(last) {
				last = a.at
			}
		}
		s := sample{CPU: map[string]float64{}}
		for _, name := range slices.Sorted(maps.Keys(after)) {
			s.CPU[name] = float64((after[name] - before[name]).Microseconds()) / float64(len(all))
			fmt.Fprintf(b.out, "  %s, %d webhooks, %s: %s µs of processor time for each event\n", t.Name, n, name, number(s.CPU[name]))
		}
		rates, used = append(rates, float64(len(all))/last.Sub(began).Seconds()), append(used, s.total())
	}
	what := fmt.Sprintf("%s, %d events that wait for each of %d webhooks: ", t.Name, each, n)
	b.report.add(b.out, plain("webhooks", what+"sent", "1/s", rates), plain("webhooks", what+"processor time of each", "µs", used))
	return t.idle(ctx)
}

// besideWebhooks is what a create costs with ten webhooks, of one without, in turns: while all processors create results and the webhooks ask
// for events that do not happen, so that nothing is sent, and at 100 creates a second that are sent to each of them.
func (b *bench) besideWebhooks(ctx context.Context) error {
	return b.withWebhooks(ctx, func(t *told) error {
		half := *b // each state is measured twice in a round
		half.Length = b.Length / 2
		closed := func() (sample, error) { return half.measure(ctx, t.System, createCall, 0) }
		steady := func() (sample, error) {
			return b.sample(t.System, func() (load.Figures, error) {
				return load.Steady(ctx, creates(t.System, system.Small), b.Conns, createsAtOnce, half.Length)
			})
		}
		if _, err := closed(); err != nil { // a moment in which all becomes warm
			return err
		}
		kinds := []struct {
			name  string
			event client.EventType
			calls func() (sample, error)
			all   [2][]sample // without and with webhooks
		}{
			{name: "creates, nothing sent", event: client.EventResultFailed, calls: closed},
			{name: fmt.Sprintf("%d creates a second, all sent", createsAtOnce), event: client.EventResultCreated, calls: steady},
		}
		for round := range b.Rounds {
			for k := range kinds {
				kind := &kinds[k]
				var sums [2]sample
				for _, n := range []int{0, atOnce, atOnce, 0} { // so that a store that grows costs both the same
					if err := t.enable(ctx, n, kind.event); err != nil {
						return err
					}
					s, err := kind.calls()
					if err != nil {
						return err
					}
					if err := t.idle(ctx); err != nil {
						return err
					}
					delete(s.CPU, "webhooks") // sending is no part of a create
					sum := &sums[n/atOnce]
					*sum = sample{Rate: sum.Rate + s.Rate/2, P50: sum.P50 + s.P50/2, CPU: map[string]float64{"all": sum.total() + s.total()/2}}
				}
				for i, sum := range sums {
					fmt.Fprintf(b.out, "  round %d, %s, %s, %d webhooks: %s 1/s, p50 %s ms, %s µs of processor time\n",
						round+1, t.Name, kind.name, i*atOnce, number(sum.Rate), number(sum.P50), number(sum.total()))
					kind.all[i] = append(kind.all[i], sum)
				}
			}
		}
		if b.Profile != "" {
			if err := t.enable(ctx, atOnce, client.EventResultFailed); err != nil {
				return err
			}
			err := b.profile(ctx, t.System, "beside-webhooks", func(length time.Duration) (load.Figures, error) {
				return load.Closed(ctx, creates(t.System, system.Small), b.Conns, length)
			})
			if err != nil {
				return err
			}
		}
		for _, kind := range kinds {
			without, with := Cell{Samples: kind.all[0]}, Cell{Samples: kind.all[1]}
			what := t.Name + ", " + kind.name + ", with ten webhooks, of those without: "
			cpu := besideAtMost("webhooks", what+"processor time", "µs", with.of(sample.total), without.of(sample.total), besideTen)
			p50 := func(s sample) float64 { return s.P50 }
			took := besideAtMost("webhooks", what+"p50", "ms", with.of(p50), without.of(p50), besideTen)
			if kind.event == client.EventResultCreated { // what results does for what is sent is no part of a create either
				cpu.Target, cpu.Reached, took.Target, took.Reached = "", true, "", true
			}
			b.report.add(b.out, cpu, took)
		}
		return nil
	})
}
