package webhooks_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

// flawed is a receiver that answers 500 until a time. It is sent to at times of the test, in seconds.
type flawed struct {
	*world
	begun, until time.Time
	numbers      map[string]int // of results, from 1, by their ids
	ids          map[int]prism.DeliveryID
	tries        map[int][]int // when each result was told
	received     [][2]int      // the results that were answered with 200, and when, in their order
}

// happens saves results.
func (f *flawed) happens(t *testing.T, n int) {
	t.Helper()
	for range n {
		f.numbers[f.saved(t, "yes")[0].String()] = len(f.numbers) + 1
	}
	f.works(t)
}

// sends tells what is due, as the service that sends does: one after the other until one fails.
func (f *flawed) sends(t *testing.T) {
	t.Helper()
	seconds := int(f.now.Sub(f.begun).Seconds())
	for {
		l, err := f.sender.LeaseDeliveries(t.Context(), contract.LeaseDeliveries{})
		must(t, err)
		if l == nil {
			return
		}
		saved := contract.SaveDeliveries{WebhookLease: l.WebhookLease}
		for _, d := range l.Deliveries {
			var told api.Event
			must(t, json.Unmarshal(d.Body, &told))
			n := f.numbers[told.Data.ResultID]
			if before, again := f.ids[n]; n == 0 || again && before != d.ID {
				t.Fatalf("%s is told as %s and as %s", told.Data.ResultID, before, d.ID)
			}
			f.ids[n], f.tries[n] = d.ID, append(f.tries[n], seconds)
			try := contract.DeliveryTry{ID: d.ID, At: f.now, Status: 200}
			if f.now.Before(f.until) {
				try.Status, try.Error = 500, api.TryStatus
			} else {
				f.received = append(f.received, [2]int{n, seconds})
			}
			if saved.Tries = append(saved.Tries, try); try.Error != "" {
				break
			}
		}
		must(t, f.sender.SaveDeliveries(t.Context(), saved))
	}
}

// Each event has three tries at its turn, and further ones beside those behind it.
//
// spec: delivery-tries, delivery-order, delivery-at-least-once
func TestAReceiverThatFailsForAnHourIsToldOfAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := w.webhook(t, webhooks.Settings{Events: []api.EventType{api.ResultCreated}})
	f := &flawed{
		world: w, begun: w.now, until: w.now.Add(time.Hour), numbers: map[string]int{}, ids: map[int]prism.DeliveryID{}, tries: map[int][]int{},
	}
	happen := map[int]int{0: 14, 3660: 1, 4000: 1} // how many results are saved, by the second
	for second := 0; second <= 4*3600; second += 5 {
		w.now = f.begun.Add(time.Duration(second) * time.Second)
		if n := happen[second]; n > 0 {
			f.happens(t, n)
		}
		f.sends(t)
	}

	const turn, aside, again = 5 + 300, 30 * 60, 2 * 3600 // seconds: from the first try to the third, to the fourth, and to the fifth
	want := map[int][]int{13: {3660}, 14: {3660}, 15: {3660}, 16: {4000}}
	for n := 1; n <= 12; n++ {
		first := (n - 1) * turn
		want[n] = []int{first, first + 5, first + turn, first + turn + aside, first + turn + aside + again}
		last := slices.IndexFunc(want[n], func(at int) bool { return at >= 3600 })
		want[n] = want[n][:last+1]
	}
	for _, n := range slices.Sorted(maps.Keys(want)) {
		if !reflect.DeepEqual(f.tries[n], want[n]) {
			t.Errorf("event %d was tried at %v, want %v", n, f.tries[n], want[n])
		}
	}
	received := [][2]int{
		{6, 3630},
		{12, 3660},
		{13, 3660},
		{14, 3660},
		{15, 3660},
		{7, 3935},
		{16, 4000},
		{8, 4240},
		{9, 4545},
		{10, 4850},
		{11, 5155},
		{1, 9305},
		{2, 9610},
		{3, 9915},
		{4, 10220},
		{5, 10525},
	}
	if !reflect.DeepEqual(f.received, received) {
		t.Errorf("received was %v, want %v", f.received, received)
	}
	found, err := w.Webhook(t.Context(), w.account, hook)
	must(t, err)
	listed, _, err := w.ListDeliveries(t.Context(), w.account, hook, api.DeliveryDelivered, store.Page{Limit: 100})
	must(t, err)
	if !found.Enabled || found.DisabledReason != "" || found.Waiting != 0 || len(listed) != len(received) {
		t.Errorf("the webhook is %+v, and %d are listed as delivered", found, len(listed))
	}
}
