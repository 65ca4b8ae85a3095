package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

func deliveryTests() []test {
	return []test{
		// spec: delivery-order
		{"events are leased in the order in which they happened, those of one webhook by one caller", func(t *testing.T, f *fixture) {
			w := f.webhook(t)
			f.happens(t, w, 3)
			f.happens(t, w, 2)
			leased := f.takes(t, moment(20))
			same(t, leased.Webhook, w.ID)
			same(t, leased.URL, w.URL)
			same(t, leased.Settings, w.Settings)
			same(t, leased.Secrets, [][]byte{[]byte("secret")})
			same(t, versions(leased), []int32{1, 2, 3, 1, 2})
			same(t, f.due(t, moment(21)), nil)
			f.happens(t, w, 1)
			same(t, f.due(t, moment(21)), nil)
			f.delivers(t, leased, moment(22))
			same(t, versions(f.takes(t, moment(22))), []int32{1})
		}},
		// spec: delivery-at-least-once, sender-death
		{"after a lease that was lost the same events are leased again with the same ids", func(t *testing.T, f *fixture) {
			w := f.webhook(t)
			f.happens(t, w, 2)
			was := f.takes(t, moment(20))
			same(t, f.due(t, moment(20).Add(25*time.Second-time.Millisecond)), nil)
			again := f.takes(t, moment(20).Add(25*time.Second))
			same(t, again.Deliveries, was.Deliveries)
			f.loses(t, was)
			f.delivers(t, again, moment(21).Add(contract.DeliveryLease))
			f.loses(t, again)
			same(t, len(f.deliveries(t, w, api.DeliveryDelivered)), 2)
			same(t, f.waiting(t, w), 0)
		}},
		{"a lease that is over and that nobody else has taken is still saved", func(t *testing.T, f *fixture) {
			w := f.webhook(t)
			f.happens(t, w, 1)
			f.delivers(t, f.takes(t, moment(20)), moment(20).Add(time.Hour))
			same(t, len(f.deliveries(t, w, api.DeliveryDelivered)), 1)
		}},
		{"of concurrent callers one leases a webhook", func(t *testing.T, f *fixture) {
			f.happens(t, f.webhook(t), 1)
			tokens := []prism.UUID{f.id(), f.id(), f.id(), f.id()}
			errs := together(len(tokens), func(i int) error {
				l, err := f.TakeDeliveries(t.Context(), false, tokens[i], moment(20), moment(20).Add(contract.DeliveryLease))
				if err == nil && l == nil {
					err = store.ErrNotFound
				}
				return err
			})
			winner(t, errs, is(store.ErrNotFound))
		}},
		// spec: delivery-tries, delivery-order
		{"a try that failed is repeated after its pause, and blocks those behind it for three tries", func(t *testing.T, f *fixture) {
			w := f.webhook(t)
			f.happens(t, w, 2)
			now := moment(20)
			for n := range webhooks.BlockingTries {
				l := f.takes(t, now)
				same(t, versions(l), []int32{1, 2})
				same(t, l.Deliveries[0].First, n == 0)
				f.fails(t, l, 500, now)
				if n < webhooks.BlockingTries-1 {
					same(t, f.due(t, now.Add(webhooks.Pauses[n]-time.Millisecond)), nil)
					now = now.Add(webhooks.Pauses[n])
				}
			}
			same(t, versions(f.takesAndEnds(t, now)), []int32{2}) // the other has stepped aside
			for n := webhooks.BlockingTries; n <= len(webhooks.Pauses); n++ {
				same(t, f.due(t, now.Add(webhooks.Pauses[n-1]-time.Millisecond)), nil)
				now = now.Add(webhooks.Pauses[n-1])
				l := f.takes(t, now)
				same(t, versions(l), []int32{1})
				ended := f.fails(t, l, 500, now)
				same(t, ended.Disabled == api.ReceiverFailing, n == len(webhooks.Pauses))
			}
			got := f.deliveries(t, w, api.DeliveryFailed)
			same(t, len(got), 1)
			same(t, len(got[0].Tried), webhooks.Logged)
			same(t, got[0].NextAt, nil)
			f.isDisabled(t, w, api.ReceiverFailing)
			same(t, f.disablings(t), []string{`webhooks webhook.disable {"reason":"failing"}`})
		}},
		// spec: webhook-disabled-by-prism
		{"a receiver that is gone disables its webhook, and what waits has failed", func(t *testing.T, f *fixture) {
			w := f.webhook(t)
			f.happens(t, w, 3)
			f.fails(t, f.takes(t, moment(20)), 410, moment(21))
			f.isDisabled(t, w, api.ReceiverGone)
			same(t, f.due(t, moment(22)), nil)
			f.happens(t, w, 1) // which it is not
			for range 2 {
				same(t, len(f.deliveries(t, w, api.DeliveryFailed)), 3)
				same(t, len(f.deliveries(t, w, "")), 3)
				same(t, len(f.deliveries(t, w, api.DeliveryWaiting)), 0)
				f.removes(t, moment(30))
			}
			same(t, f.disablings(t), []string{`webhooks webhook.disable {"reason":"gone"}`})
			w.Enabled = true
			w, err := f.ReplaceWebhook(t.Context(), f.mine.account, w, events.Cursor{Change: 5}, f.by(moment(40)))
			succeeds(t, err)
			same(t, w.DisabledReason, "")
			same(t, f.due(t, moment(41)), nil)
		}},
		{"a webhook that is disabled and enabled during a lease has lost it, and begins anew", func(t *testing.T, f *fixture) {
			w := f.webhook(t)
			f.happens(t, w, 2)
			l := f.takes(t, moment(20))
			for _, enabled := range []bool{false, true} {
				w.Enabled = enabled
				succeeds(t, second(f.ReplaceWebhook(t.Context(), f.mine.account, w, events.Cursor{Change: 7}, f.by(moment(21)))))
			}
			f.loses(t, l)
			same(t, f.waiting(t, w), 0)
			same(t, f.due(t, moment(30)), nil)
			same(t, len(f.deliveries(t, w, api.DeliveryFailed)), 2)
			f.happens(t, w, 1)
			same(t, versions(f.takesAndEnds(t, moment(40))), []int32{1})
		}},
		// spec: webhook-resend
		{"what was delivered or has failed is sent again at once beside what waits, with its id", func(t *testing.T, f *fixture) {
			w := f.webhook(t)
			f.happens(t, w, 2)
			f.takesAndEnds(t, moment(20))
			f.happens(t, w, 1)
			f.fails(t, f.takes(t, moment(21)), 500, moment(21)) // blocks
			all := f.deliveries(t, w, "")
			resend := func(of prism.DeliveryID) (webhooks.Delivery, error) {
				return f.ResendDelivery(t.Context(), f.mine.account, w.ID, of, f.by(moment(22)))
			}
			failsWith(t, second(resend(all[0].ID)), store.ErrDeliveryWaits)
			failsWith(t, second(resend(prism.DeliveryID{UUID: f.id()})), store.ErrNoDelivery)
			d, err := resend(all[1].ID)
			succeeds(t, err)
			same(t, d.ID, all[1].ID)
			same(t, d.Status, api.DeliveryWaiting)
			same(t, len(d.Tried), 1)
			same(t, f.waiting(t, w), 2)
			l := f.takes(t, moment(22))
			same(t, len(l.Deliveries), 1)
			same(t, l.Deliveries[0].ID, d.ID)
			same(t, l.Deliveries[0].First, false)
			f.delivers(t, l, moment(23))
			failsWith(t, second(f.ResendDelivery(t.Context(), f.theirs.account, w.ID, d.ID, f.by(moment(22)))), store.ErrNotFound)
			w.Enabled = false
			succeeds(t, second(f.ReplaceWebhook(t.Context(), f.mine.account, w, events.Cursor{}, f.by(moment(24)))))
			failsWith(t, second(resend(d.ID)), store.ErrWebhookDisabled)
			w.Enabled = true
			succeeds(t, second(f.ReplaceWebhook(t.Context(), f.mine.account, w, events.Cursor{}, f.by(moment(24)))))
			succeeds(t, second(resend(all[0].ID))) // which waited when the webhook was disabled
			f.removes(t, moment(25))
			same(t, len(f.takesAndEnds(t, moment(26)).Deliveries), 1)
			same(t, f.waiting(t, w), 0)
		}},
		// spec: webhook-test
		{"a test is sent once beside what waits, and disables nothing", func(t *testing.T, f *fixture) {
			w := f.webhook(t)
			f.happens(t, w, 1)
			f.fails(t, f.takes(t, moment(20)), 500, moment(20))
			d, err := f.TestWebhook(t.Context(), f.mine.account, w.ID, f.id(), f.by(moment(21)))
			succeeds(t, err)
			same(t, d.Event, events.Event{Type: api.WebhookTest, At: moment(21)})
			l := f.takes(t, moment(21))
			same(t, len(l.Deliveries), 1)
			f.fails(t, l, 410, moment(22))
			got := f.deliveries(t, w, api.DeliveryFailed)
			same(t, len(got), 1)
			same(t, got[0].ID, d.ID)
			same(t, f.waiting(t, w), 1)
			failsWith(t, second(f.TestWebhook(t.Context(), f.theirs.account, w.ID, f.id(), f.by(moment(21)))), store.ErrNotFound)
		}},
		{"what steps aside does not keep others from their turn, nor they it", func(t *testing.T, f *fixture) {
			w := f.webhook(t)
			f.happens(t, w, 2)
			succeeds(t, second(f.TestWebhook(t.Context(), f.mine.account, w.ID, f.id(), f.by(moment(21)))))
			first := func(l *webhooks.Leased) bool { return l.Deliveries[0].Event.Type == api.WebhookTest }
			a := f.takes(t, moment(22))
			same(t, len(a.Deliveries), 3)
			f.delivers(t, &webhooks.Leased{WebhookLease: a.WebhookLease}, moment(22)) // no try was begun
			b := f.takes(t, moment(23))
			same(t, first(a), !first(b))
		}},
		// spec: webhook-condition
		{"an event that does not fit is removed, and rows of a run that do not are left out", func(t *testing.T, f *fixture) {
			w := f.webhook(t)
			f.happens(t, w, 3)
			l := f.takes(t, moment(20))
			narrowed := events.Event{Type: api.ResultCreated, At: moment(2), EventDetail: store.EventDetail{Version: 9}}
			removed := []prism.DeliveryID{l.Deliveries[0].ID}
			replaced := map[prism.DeliveryID]events.Event{l.Deliveries[1].ID: narrowed}
			succeeds(t, f.NarrowDeliveries(t.Context(), l.WebhookLease, removed, replaced))
			same(t, f.waiting(t, w), 2)
			f.delivers(t, &webhooks.Leased{WebhookLease: l.WebhookLease}, moment(21))
			failsWith(t, f.NarrowDeliveries(t.Context(), l.WebhookLease, removed, replaced), contract.ErrLeaseLost)
			same(t, versions(f.takesAndEnds(t, moment(22))), []int32{9, 3})
		}},
		// spec: deliveries-kept
		{"deliveries are kept for a time after they ended, and what waits for good", func(t *testing.T, f *fixture) {
			w := f.webhook(t)
			succeeds(t, second(f.TestWebhook(t.Context(), f.mine.account, w.ID, f.id(), f.by(moment(10)))))
			f.fails(t, f.takes(t, moment(20)), 500, moment(20))
			f.happens(t, w, 2)
			f.takesAndEnds(t, moment(20))
			f.happens(t, w, 1)
			for _, c := range []struct {
				keptFor time.Duration
				want    int
			}{{webhooks.DeliveredKept - time.Millisecond, 4}, {webhooks.DeliveredKept, 2}, {webhooks.FailedKept - time.Millisecond, 2}, {webhooks.FailedKept, 1}} {
				f.removes(t, moment(20).Add(c.keptFor))
				same(t, len(f.deliveries(t, w, "")), c.want)
			}
		}},
		{"a page of deliveries has those of its status", func(t *testing.T, f *fixture) {
			w, other := f.webhook(t), f.webhook(t)
			f.happens(t, w, 5)
			f.happens(t, other, 1)
			l := f.takes(t, moment(20))
			for l.Webhook != w.ID {
				l = f.takes(t, moment(20))
			}
			l.Deliveries = l.Deliveries[:3]
			f.fails(t, l, 503, moment(21))
			all := f.deliveries(t, w, "")
			same(t, len(all), 5)
			same(t, f.deliveries(t, w, api.DeliveryDelivered), all[3:])
			same(t, f.deliveries(t, w, api.DeliveryWaiting), all[:3])
			same(t, f.deliveries(t, w, api.DeliveryFailed), nil)
			at, took, answer, status := moment(20), int64(1234), "“é” 🙂", api.TryStatus
			same(t, all[2].Tried, []webhooks.Try{{At: at, TookMS: took, Status: 503, Error: &status, Answer: &answer}})
			next := moment(21).Add(webhooks.Pauses[0])
			same(t, all[2].NextAt, &next)
			failsWith(t, third(f.ListDeliveries(t.Context(), f.theirs.account, w.ID, "", store.Page{Limit: 9})), store.ErrNotFound)
		}},
	}
}

func third[A, B any](_ A, _ B, err error) error { return err }

// happens has so many events happen to a webhook, whose versions count them from 1.
func (f *fixture) happens(t *testing.T, w webhooks.Webhook, n int) {
	t.Helper()
	told := webhooks.Told{Webhook: w.ID, Generation: 1, Least: f.id()}
	from := events.Cursor{}
	for _, b := range f.placed(t) {
		if b.Webhook == w.ID {
			told.Generation, from = b.Generation, b.Cursor
		}
	}
	for i := range n {
		told.Events = append(told.Events, events.Event{
			Type: api.PrismChanged, At: moment(2), Prism: f.mine.prism.ID, EventDetail: store.EventDetail{Version: int32(i + 1), Change: "lens.replace"},
		})
	}
	_, err := f.FanOut(t.Context(), webhooks.FanOut{
		Account: f.mine.account, From: from, To: events.Cursor{Change: from.Change + 1}, Told: []webhooks.Told{told}, Now: moment(15),
	}, f.prismBy)
	succeeds(t, err)
}

// prismBy is what Prism does.
func (f *fixture) prismBy() (store.By, error) {
	by := f.by(moment(25))
	by.Actor = store.Actor{Kind: store.WebhookActor, Name: "webhooks"}
	return by, nil
}

// behind are the webhooks of an account that are behind.
func (f *fixture) behind(t *testing.T, account prism.AccountID) []webhooks.Behind {
	t.Helper()
	all, err := f.WebhooksBehind(t.Context(), 1000)
	succeeds(t, err)
	return slices.DeleteFunc(all, func(b webhooks.Behind) bool { return b.Account != account })
}

// placed are the enabled webhooks of mine with their places, each of which is behind far more results than there are.
func (f *fixture) placed(t *testing.T) []webhooks.Behind {
	t.Helper()
	f.mu.Lock()
	done := f.far
	f.far = true
	f.mu.Unlock()
	for range 40 {
		if done {
			break
		}
		f.save(t, f.ok(f.mine.prism))
	}
	succeeds(t, f.Fold(t.Context()))
	return f.behind(t, f.mine.account)
}

// due leases a webhook at a time: nil if none is due.
func (f *fixture) due(t *testing.T, now time.Time) *webhooks.Leased {
	t.Helper()
	l, err := f.TakeDeliveries(t.Context(), false, f.id(), now, now.Add(contract.DeliveryLease))
	succeeds(t, err)
	return l
}

func (f *fixture) takes(t *testing.T, now time.Time) *webhooks.Leased {
	t.Helper()
	l := f.due(t, now)
	if l == nil {
		t.Fatal("no webhook is due")
	}
	return l
}

// tried are tries of a lease, all of which were answered with 200.
func tried(l *webhooks.Leased) contract.SaveDeliveries {
	s := contract.SaveDeliveries{WebhookLease: l.WebhookLease}
	for _, d := range l.Deliveries {
		answer := "“é” 🙂"
		s.Tries = append(s.Tries, contract.DeliveryTry{ID: d.ID, At: moment(20), TookMS: 1234, Status: 200, Answer: &answer})
	}
	return s
}

// delivers has all events of a lease delivered.
func (f *fixture) delivers(t *testing.T, l *webhooks.Leased, now time.Time) {
	t.Helper()
	ended, err := f.EndDeliveries(t.Context(), tried(l), now, f.prismBy)
	succeeds(t, err)
	same(t, ended, webhooks.Ended{Delivered: len(l.Deliveries)})
}

func (f *fixture) takesAndEnds(t *testing.T, now time.Time) *webhooks.Leased {
	t.Helper()
	l := f.takes(t, now)
	f.delivers(t, l, now)
	return l
}

// fails has the last event of a lease answered with a status that is not 2xx: the first one, unless the caller has shortened the lease.
func (f *fixture) fails(t *testing.T, l *webhooks.Leased, status int, now time.Time) webhooks.Ended {
	t.Helper()
	s := tried(l)
	if len(s.Tries) != 3 || status != 503 {
		s.Tries = s.Tries[:1]
	}
	last := &s.Tries[len(s.Tries)-1]
	last.Status, last.Error = status, api.TryStatus
	ended, err := f.EndDeliveries(t.Context(), s, now, f.prismBy)
	succeeds(t, err)
	return ended
}

// loses holds that a lease is lost.
func (f *fixture) loses(t *testing.T, l *webhooks.Leased) {
	t.Helper()
	failsWith(t, second(f.EndDeliveries(t.Context(), tried(l), moment(99), f.prismBy)), contract.ErrLeaseLost)
}

// removes takes away all that is to be removed at a time.
func (f *fixture) removes(t *testing.T, now time.Time) {
	t.Helper()
	for more := true; more; {
		var err error
		more, err = f.RemoveDeliveries(t.Context(), now)
		succeeds(t, err)
	}
}

func (f *fixture) waiting(t *testing.T, w webhooks.Webhook) int64 {
	t.Helper()
	found, err := f.Webhook(t.Context(), f.mine.account, w.ID)
	succeeds(t, err)
	return found.Waiting
}

func (f *fixture) isDisabled(t *testing.T, w webhooks.Webhook, reason api.DisabledReason) {
	t.Helper()
	found, err := f.Webhook(t.Context(), f.mine.account, w.ID)
	succeeds(t, err)
	same(t, fmt.Sprint(found.Enabled, " ", found.DisabledReason, " ", found.Waiting), "false "+string(reason)+" 0")
}

func versions(l *webhooks.Leased) (all []int32) {
	for _, d := range l.Deliveries {
		all = append(all, d.Event.Version)
	}
	return all
}
