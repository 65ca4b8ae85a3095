package storetest

import (
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

func fanOutTests() []test {
	return []test{
		// spec: delivery-at-least-once
		{"of processes that look at the same events at the same time one stores them", func(t *testing.T, f *fixture) {
			w, other := f.webhook(t), f.webhook(t)
			out := webhooks.FanOut{Account: f.mine.account, To: events.Cursor{Change: 2}, Now: moment(15)}
			for _, of := range []webhooks.Webhook{w, other} {
				out.Told = append(out.Told, webhooks.Told{Webhook: of.ID, Generation: 1, Least: f.id(), Events: []events.Event{{Type: api.PrismChanged}}})
			}
			for _, err := range together(4, func(int) error { return second(f.FanOut(t.Context(), out, f.prismBy)) }) {
				succeeds(t, err)
			}
			for _, of := range []webhooks.Webhook{w, other} {
				same(t, len(f.deliveries(t, of, "")), 1)
				same(t, f.waiting(t, of), 1)
			}
		}},
		{"webhooks that are enabled are behind until they have looked at all that happened", func(t *testing.T, f *fixture) {
			enabled, err := f.AnyWebhook(t.Context())
			succeeds(t, err)
			same(t, enabled, false)
			disabled := f.webhook(t, func(w *webhooks.Webhook) { w.Enabled = false })
			enabled, err = f.AnyWebhook(t.Context())
			succeeds(t, err)
			same(t, enabled, false)
			w := f.webhook(t)
			enabled, err = f.AnyWebhook(t.Context())
			succeeds(t, err)
			same(t, enabled, true)
			f.save(t, f.ok(f.mine.prism))
			succeeds(t, f.Fold(t.Context()))
			latest, err := f.LatestEvents(t.Context(), f.mine.account)
			succeeds(t, err)
			same(t, f.behind(t, f.mine.account), []webhooks.Behind{{Account: f.mine.account, Webhook: w.ID, Generation: 1, Settings: w.Settings}})
			out := webhooks.FanOut{Account: f.mine.account, To: latest, Now: moment(15), Told: []webhooks.Told{
				{Webhook: w.ID, Generation: 1, Least: f.id()}, {Webhook: disabled.ID, Generation: 1, Least: f.id()},
			}}
			succeeds(t, second(f.FanOut(t.Context(), out, f.prismBy)))
			same(t, len(f.behind(t, f.mine.account)), 0)
			same(t, f.due(t, moment(20)), nil)
		}},
		{"a webhook that was disabled and enabled since its events were read is not told of them", func(t *testing.T, f *fixture) {
			w := f.webhook(t)
			for _, w.Enabled = range []bool{false, true} {
				succeeds(t, second(f.ReplaceWebhook(t.Context(), f.mine.account, w, events.Cursor{}, f.by(moment(2)))))
			}
			told := []webhooks.Told{{Webhook: w.ID, Generation: 1, Least: f.id(), Events: []events.Event{{Type: api.PrismChanged}}}}
			out := webhooks.FanOut{Account: f.mine.account, To: events.Cursor{Change: 2}, Now: moment(15), Told: told}
			succeeds(t, second(f.FanOut(t.Context(), out, f.prismBy)))
			same(t, len(f.deliveries(t, w, "")), 0)
		}},
		// spec: webhook-disabled-by-prism
		{"a webhook for which more would wait than may is disabled, and the others are told", func(t *testing.T, f *fixture) {
			w, other := f.webhook(t), f.webhook(t)
			const wait = "UPDATE webhooks SET waiting = $2 WHERE id = $1"
			database := f.Store.(sqldb.Database) //nolint:forcetypeassert // all are
			for of, n := range map[prism.WebhookID]int64{w.ID: webhooks.Most - 1, other.ID: webhooks.Most - 2} {
				succeeds(t, database.Run(t.Context(), sqldb.Change("test", wait, of.UUID, n), sqldb.NoRow))
			}
			out := webhooks.FanOut{Account: f.mine.account, To: events.Cursor{Change: 2}, Now: moment(15)}
			for _, of := range []webhooks.Webhook{w, other} {
				out.Told = append(out.Told, webhooks.Told{
					Webhook: of.ID, Generation: 1, Least: f.id(), Events: []events.Event{{Type: api.PrismChanged}, {Type: api.PrismChanged}},
				})
			}
			overflowed, err := f.FanOut(t.Context(), out, f.prismBy)
			succeeds(t, err)
			same(t, overflowed, []prism.WebhookID{w.ID})
			f.isDisabled(t, w, api.Overflow)
			same(t, f.disablings(t), []string{`webhooks webhook.disable {"reason":"overflow"}`})
			same(t, len(f.deliveries(t, w, "")), 0)
			same(t, len(f.deliveries(t, other, "")), 2)
			same(t, f.waiting(t, other), webhooks.Most)
		}},
		// spec: delivery-fairness
		{"the account with the fewest leased webhooks is served first, and then what waited longest", func(t *testing.T, f *fixture) {
			f.takeTurns(t)
			var mine []webhooks.Webhook
			for range 3 {
				mine = append(mine, f.webhook(t))
			}
			for i, n := range []int{2, 0, 1} {
				f.happensAt(t, f.mine, mine[n], 15+i)
			}
			theirs := f.newWebhook()
			err := f.CreateWebhook(t.Context(), f.theirs.account, theirs, []byte("secret"), events.Cursor{}, api.MaxWebhooks, f.by(moment(1)))
			succeeds(t, err)
			f.happensAt(t, f.theirs, theirs, 19)
			var got []prism.WebhookID
			for range 4 {
				got = append(got, f.takes(t, moment(20)).Webhook)
			}
			same(t, got, []prism.WebhookID{mine[2].ID, theirs.ID, mine[0].ID, mine[1].ID})
		}},
		{"places for healthy webhooks take none whose last try failed, until one is answered", func(t *testing.T, f *fixture) {
			w := f.webhook(t)
			f.happens(t, w, 2)
			healthy := func(ms int) *webhooks.Leased {
				now := moment(20).Add(webhooks.Pauses[0] * 2)
				now = now.Add(moment(ms).Sub(moment(0)))
				l, err := f.TakeDeliveries(t.Context(), true, f.id(), now, now.Add(contract.DeliveryLease))
				succeeds(t, err)
				return l
			}
			f.fails(t, f.takes(t, moment(20)), 500, moment(20))
			same(t, healthy(0), nil)
			l := f.takes(t, moment(20).Add(webhooks.Pauses[0]))
			l.Deliveries = l.Deliveries[:1]
			f.delivers(t, l, moment(20).Add(webhooks.Pauses[0]))
			if l := healthy(1); l == nil || !slices.Equal(versions(l), []int32{2}) {
				t.Errorf("got %v", l)
			}
		}},
	}
}

// happensAt has an event happen to a webhook of a tenant, at a time.
func (f *fixture) happensAt(t *testing.T, of tenant, w webhooks.Webhook, ms int) {
	t.Helper()
	told := []webhooks.Told{{Webhook: w.ID, Generation: 1, Least: f.id(), Events: []events.Event{{Type: api.PrismChanged}}}}
	out := webhooks.FanOut{Account: of.account, To: events.Cursor{Change: 2}, Now: moment(ms), Told: told}
	succeeds(t, second(f.FanOut(t.Context(), out, f.prismBy)))
}

// disablings are the entries of the audit that Prism made of webhooks.
func (f *fixture) disablings(t *testing.T) (got []string) {
	t.Helper()
	for _, e := range f.audit(t, audit.Filter{Kind: store.WebhookActor}) {
		got = append(got, e.Actor.Name+" "+string(e.Action)+" "+string(e.Detail))
	}
	return got
}
