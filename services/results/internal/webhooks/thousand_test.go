package webhooks_test

import (
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/storetest"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

// thousand are 1,000 webhooks of 50 accounts, of which one has a receiver that never answers.
type thousand struct {
	*world
	of   map[prism.AccountID][]prism.WebhookID
	dead prism.WebhookID
}

func newThousand(t *testing.T) *thousand {
	t.Helper()
	w := &thousand{world: newWorld(t), of: map[prism.AccountID][]prism.WebhookID{}}
	for range 50 {
		account := prism.AccountID{UUID: w.id()}
		must(t, w.CreateAccount(t.Context(), account, account.String(), storetest.By()))
		for range api.MaxWebhooks {
			w.dead = prism.WebhookID{UUID: w.id()}
			w.of[account] = append(w.of[account], w.dead)
			must(t, w.CreateWebhook(t.Context(), account, webhooks.Webhook{
				ID: w.dead, URL: "https://hooks.example", Enabled: true, Settings: webhooks.Settings{Events: []api.EventType{api.PrismChanged}}, CreatedAt: w.now,
			}, []byte("secret"), events.Cursor{}, api.MaxWebhooks, storetest.By()))
		}
	}
	return w
}

// happens has two events happen to each webhook of an account.
func (w *thousand) happens(t *testing.T, account prism.AccountID, place int64) {
	t.Helper()
	out := webhooks.FanOut{Account: account, From: events.Cursor{Change: place}, To: events.Cursor{Change: place + 1}, Now: w.now}
	for _, id := range w.of[account] {
		out.Told = append(out.Told, webhooks.Told{
			Webhook: id, Generation: 1, Least: w.id(), Events: []events.Event{{Type: api.PrismChanged}, {Type: api.PrismChanged}},
		})
	}
	_, err := w.FanOut(t.Context(), out, nil)
	must(t, err)
}

// sends leases until nothing is due. All receivers answer but the dead one, whose lease is returned, with how many webhooks were told.
func (w *thousand) sends(t *testing.T, healthy bool) (told int, held *contract.DeliveriesLease) {
	t.Helper()
	seen := map[prism.WebhookID]bool{}
	for {
		l, err := w.sender.LeaseDeliveries(t.Context(), contract.LeaseDeliveries{Healthy: healthy})
		must(t, err)
		if l == nil {
			return told, held
		}
		if seen[l.Webhook] || len(l.Deliveries) != 2 {
			t.Fatalf("%s was leased before: %v, with %d events", l.Webhook, seen[l.Webhook], len(l.Deliveries))
		}
		seen[l.Webhook] = true
		if l.Webhook == w.dead {
			held = l
			continue
		}
		saved := contract.SaveDeliveries{WebhookLease: l.WebhookLease}
		for _, d := range l.Deliveries {
			saved.Tries = append(saved.Tries, contract.DeliveryTry{ID: d.ID, At: w.now, Status: 200})
		}
		must(t, w.sender.SaveDeliveries(t.Context(), saved))
		told++
	}
}

// spec: slow-receivers, delivery-fairness
func TestOneDeadReceiverOfAThousandKeepsNoOtherFromItsTurn(t *testing.T) {
	t.Parallel()
	w := newThousand(t)
	for account := range w.of {
		w.happens(t, account, 0)
	}
	told, held := w.sends(t, false)
	if told != 999 || held == nil { // the others of its account too, while it hangs
		t.Fatalf("%d were told", told)
	}
	w.now = w.now.Add(contract.DeliveryWait)
	must(t, w.sender.SaveDeliveries(t.Context(), contract.SaveDeliveries{WebhookLease: held.WebhookLease, Tries: []contract.DeliveryTry{
		{ID: held.Deliveries[0].ID, At: w.now, Error: api.TryTimeout},
	}}))
	w.now = w.now.Add(webhooks.Pauses[0])
	w.happens(t, held.Account, 1)
	if told, again := w.sends(t, true); told != api.MaxWebhooks-1 || again != nil { // by places for healthy ones
		t.Errorf("%d were told, the dead one too: %v", told, again != nil)
	}
	l, err := w.sender.LeaseDeliveries(t.Context(), contract.LeaseDeliveries{})
	must(t, err)
	if l == nil || l.Webhook != w.dead || l.Deliveries[0].ID != held.Deliveries[0].ID || len(l.Deliveries) != 4 {
		t.Errorf("leased %+v", l)
	}
}
