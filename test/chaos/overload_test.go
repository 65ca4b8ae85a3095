package chaos

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

const (
	// inFlight is the bound of calls in flight. The bound is small, so that the bound and not the work is exceeded first.
	inFlight = 16
	// few callers stay below the bound.
	few = inFlight / 2
	// crowd callers exceed the bound. All callers together stay below the bound of connections, which is 4 times inFlight.
	crowd = 3 * inFlight
	// modelPause is most of the time of an accepted call, on any machine.
	modelPause = 300 * time.Millisecond
	// flat bounds the growth of the gateway's peak memory from one flood to a longer one.
	flat = 32 << 20
	// recovery is the promised time until all calls are accepted again.
	recovery = time.Second
)

// The promise: above capacity the accepted calls keep their latency and memory stays flat; within a second after the load
// drops everything is accepted again.
//
// Every time depends on the load of the machine, so no time is compared with a constant alone. The yardstick is calls to the
// other gateway, which is not flooded, at the same time, with the same results, model-proxy and model. If the flooded
// gateway queued the crowd, its accepted calls would take three times as long as the yardstick.
// spec: overload
func TestOverloadIsShedAtOnceAndOverAtOnce(t *testing.T) {
	w := startWorld(t,
		system.Config{
			Flags:   shipped,
			Model:   upstream.Config{Pause: modelPause, MaxPause: time.Second},
			Gateway: map[string]string{"PRISM_MAX_IN_FLIGHT": fmt.Sprint(inFlight)},
		},
		load.Config{Seed: seed(t), Clients: 1})
	f := &flood{world: w, client: load.NewClient(crowd+few, 0)}
	t.Cleanup(f.client.Close)
	onceOf(t, func() string { return f.once(t) })
	// The bound of the flooded gateway, and the few calls of the yardstick.
	if most := w.Model.MostAtOnce(); most > inFlight+few {
		t.Errorf("VIOLATION: %d calls were in flight at once, with a bound of %d and %d beside it", most, inFlight, few)
	}
}

// flood is calls to gateways, without idempotency keys.
type flood struct {
	*world
	client *load.Client
}

// shot is one call with its response.
type shot struct {
	load.Reply
	began time.Time
	took  time.Duration
}

// once floods the first gateway.
func (f *flood) once(t *testing.T) (late string) {
	t.Helper()
	below := f.fire(t, 0, few).during(time.Second)
	first := f.fire(t, 0, crowd).during(time.Second)
	before := f.memory(t)

	beside := f.fire(t, 1, few)
	flooding := f.fire(t, 0, crowd)
	pass(2 * time.Second)
	dropped := time.Now()
	flooding.stop()
	then := f.fire(t, 0, few)
	above := flooding.during(0)
	calm := time.Now() // every call of the flood has its answer
	pass(time.Second)
	after, usual := then.during(0), beside.during(0)
	grown := f.memory(t) - before

	for _, s := range slices.Concat(below, first, above, after, usual) {
		if !s.accepted() && !s.shed() {
			t.Errorf("VIOLATION: a response is neither a result nor the 503: %s", s.Reply)
			return ""
		}
	}
	taken, shed := only(above, shot.accepted), only(above, shot.shed)
	refused := only(after, shot.shed)
	var recovered time.Duration
	for _, s := range refused {
		recovered = max(recovered, s.began.Sub(dropped))
	}
	t.Logf("below the bound: %s", figures(below))
	t.Logf("beside: %s", figures(usual))
	t.Logf("far above: accepted %s; shed %s", figures(taken), figures(shed))
	t.Logf("the last call shed began %s after the load dropped, the last call of the load ended at %s; memory grew by %d KiB to %d KiB",
		recovered.Round(time.Millisecond), calm.Sub(dropped).Round(time.Millisecond), grown>>10, (before+grown)>>10)
	switch {
	case len(shed) < len(taken) || len(taken) < inFlight:
		return fmt.Sprintf("%d calls were shed and %d accepted: that was no overload", len(shed), len(taken))
	case len(only(below, shot.accepted)) != len(below), len(only(usual, shot.accepted)) != len(usual):
		return "a call was shed below the bound"
	case quantile(shed, 0.5) > quantile(taken, 0.5)/2:
		return fmt.Sprintf("half of the shed calls waited %s or longer", quantile(shed, 0.5))
	case quantile(taken, 0.5) > 2*quantile(usual, 0.5):
		return fmt.Sprintf("half of the accepted calls took %s or longer; beside it was %s", quantile(taken, 0.5), quantile(usual, 0.5))
	case slices.ContainsFunc(refused, func(s shot) bool { return s.began.After(calm) }):
		return "a call was shed when none of the load was left"
	// A call that was accepted before the load dropped keeps its place until the call ends.
	case recovered > max(recovery, 2*quantile(usual, 1)):
		return fmt.Sprintf("calls were shed for %s after the load had dropped", recovered)
	case len(after)-len(refused) < few:
		return fmt.Sprintf("only %d calls were accepted after the load had dropped", len(after)-len(refused))
	case grown > flat:
		return fmt.Sprintf("the gateway grew by %d bytes", grown)
	}
	return ""
}

// fleet is callers that call one after the other, with a short pause between two calls.
type fleet struct {
	stop    context.CancelFunc // they begin no more calls
	running sync.WaitGroup

	mu  sync.Mutex
	all []shot
}

func (f *flood) fire(t *testing.T, gateway, callers int) *fleet {
	t.Helper()
	url := "http://" + f.Gateways[gateway].Listen + "/v1/prisms/" + load.Slugs[0] + "/results"
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	fl := &fleet{stop: stop}
	for range callers {
		fl.running.Go(func() {
			pause := time.NewTicker(50 * time.Millisecond)
			defer pause.Stop()
			for {
				select {
				case <-ctx.Done():
				case <-pause.C:
				}
				if ctx.Err() != nil { // select is free to see only the other
					return
				}
				s := f.one(t.Context(), url)
				fl.mu.Lock()
				fl.all = append(fl.all, s)
				fl.mu.Unlock()
			}
		})
	}
	return fl
}

// during lets the callers call for d and returns all calls when the last one has ended.
func (f *fleet) during(d time.Duration) []shot {
	pass(d)
	f.stop()
	f.running.Wait()
	return f.all
}

// pass waits for the duration of a load.
func pass(d time.Duration) { <-time.After(d) }

func (f *flood) one(ctx context.Context, url string) shot {
	began := time.Now()
	body := map[string]any{"fields": map[string]string{"message": upstream.Tag{}.String()}}
	r := f.client.Do(ctx, load.Request{Method: http.MethodPost, URL: url, Key: f.keys[0], Body: body})
	return shot{r, began, time.Since(began)}
}

// memory is the peak memory of the first gateway.
func (f *flood) memory(t *testing.T) (bytes int64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.Gateways[0].Process().PID()))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &bytes); err == nil {
			return bytes << 10
		}
	}
	t.Fatalf("no VmHWM in %s", status)
	return 0
}

func (s shot) accepted() bool { return s.Err == nil && s.Status == http.StatusOK }

// shed tells whether the response is the 503 of a service that took nothing (spec: error-service-unavailable).
func (s shot) shed() bool { return s.Err == nil && s.Unavailable() }

func only(all []shot, want func(shot) bool) (some []shot) {
	for _, s := range all {
		if want(s) {
			some = append(some, s)
		}
	}
	return some
}

func figures(all []shot) string {
	return fmt.Sprintf("%d, p50 %s, p99 %s, at most %s", len(all), quantile(all, 0.5), quantile(all, 0.99), quantile(all, 1))
}

func quantile(all []shot, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	took := make([]time.Duration, len(all))
	for i, s := range all {
		took[i] = s.took
	}
	slices.Sort(took)
	return took[int(q*float64(len(took)-1))].Round(time.Millisecond)
}
