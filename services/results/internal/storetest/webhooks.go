package storetest

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

func webhookTests() []test {
	return []test{
		// spec: webhook-list, webhook-read
		{"webhooks are listed newest first as they were saved, a page at a time", func(t *testing.T, f *fixture) {
			var want []webhooks.Webhook
			for i := range 3 {
				w := f.webhook(t, func(w *webhooks.Webhook) {
					if i > 0 {
						w.Prisms, w.Slugs = []prism.PrismID{f.mine.prism.ID}, []string{f.mine.prism.Slug}
					}
				})
				want = append([]webhooks.Webhook{w}, want...)
			}
			for limit := 1; limit <= len(want)+1; limit++ {
				same(t, f.webhooks(t, limit), want)
			}
			found, err := f.Webhook(t.Context(), f.mine.account, want[0].ID)
			succeeds(t, err)
			same(t, found, want[0])
			failsWith(t, second(f.Webhook(t.Context(), f.theirs.account, want[0].ID)), store.ErrNotFound)
		}},
		// spec: webhook-replace
		{"a webhook is replaced but for its id, its time and what waits", func(t *testing.T, f *fixture) {
			w := f.webhook(t)
			f.happens(t, w, 2)
			replaced := webhooks.Webhook{
				ID: w.ID, URL: "https://other.example/“é”", Enabled: true, CreatedAt: w.CreatedAt, Waiting: 2,
				Settings: webhooks.Settings{Events: []api.EventType{api.DriftAlarm}},
			}
			sent := replaced
			sent.CreatedAt, sent.Waiting = time.Time{}, 0
			got, err := f.ReplaceWebhook(t.Context(), f.mine.account, sent, events.Cursor{Change: 9}, f.by(moment(9)))
			succeeds(t, err)
			same(t, got, replaced)
			same(t, f.webhooks(t, 10), []webhooks.Webhook{replaced})
			failsWith(t, second(f.ReplaceWebhook(t.Context(), f.theirs.account, sent, events.Cursor{}, f.by(moment(9)))), store.ErrNotFound)
			if got := f.behind(t, f.mine.account); len(got) == 1 && got[0].Cursor.Change == 9 {
				t.Error("a webhook that stays enabled has skipped events")
			}
		}},
		// spec: webhook-delete
		{"a webhook is deleted once, with its deliveries", func(t *testing.T, f *fixture) {
			w, other := f.webhook(t), f.webhook(t)
			f.happens(t, w, 3)
			f.happens(t, other, 1)
			leased := f.takes(t, moment(20))
			failsWith(t, f.DeleteWebhook(t.Context(), f.theirs.account, w.ID, f.by(moment(9))), store.ErrNotFound)
			succeeds(t, f.DeleteWebhook(t.Context(), f.mine.account, w.ID, f.by(moment(9))))
			failsWith(t, f.DeleteWebhook(t.Context(), f.mine.account, w.ID, f.by(moment(9))), store.ErrNotFound)
			failsWith(t, second(f.Webhook(t.Context(), f.mine.account, w.ID)), store.ErrNotFound)
			failsWith(t, third(f.ListDeliveries(t.Context(), f.mine.account, w.ID, "", store.Page{Limit: 9})), store.ErrNotFound)
			same(t, len(f.webhooks(t, 10)), 1)
			if leased.Webhook == w.ID {
				f.loses(t, leased)
			}
			f.removes(t, moment(30))
			same(t, len(f.deliveries(t, other, "")), 1)
			m, err := f.MeasureWebhooks(t.Context())
			succeeds(t, err)
			same(t, m.Enabled+m.Disabled, 1)
		}},
		// spec: webhook-rotate
		{"a new secret signs at once, and the one before it for a time", func(t *testing.T, f *fixture) {
			w := f.webhook(t)
			until := moment(100)
			got, err := f.RotateWebhook(t.Context(), f.mine.account, w.ID, []byte("new"), until, f.by(moment(9)))
			succeeds(t, err)
			w.PreviousUntil = &until
			same(t, got, w)
			f.happens(t, w, 1)
			leased := f.takes(t, moment(50))
			same(t, leased.Secrets, [][]byte{[]byte("new"), []byte("secret")})
			f.delivers(t, leased, moment(51))
			f.happens(t, w, 1)
			same(t, f.takes(t, moment(100)).Secrets, [][]byte{[]byte("new")})
			failsWith(t, second(f.RotateWebhook(t.Context(), f.theirs.account, w.ID, []byte("new"), until, f.by(moment(9)))), store.ErrNotFound)
		}},
		// spec: webhook-resend, delivery-list
		{"an event that is sent again has ten tries of its own, and the newest ten are listed", func(t *testing.T, f *fixture) {
			w, now, tries := f.webhook(t), moment(20), len(webhooks.Pauses)+1
			f.happens(t, w, 1)
			var statuses []int
			for n := range 2 * tries {
				if n == tries {
					f.isDisabled(t, w, api.ReceiverFailing)
					same(t, w.Enabled, true)
					succeeds(t, second(f.ReplaceWebhook(t.Context(), f.mine.account, w, events.Cursor{}, f.by(now))))
					id := f.deliveries(t, w, "")[0].ID
					succeeds(t, second(f.ResendDelivery(t.Context(), f.mine.account, w.ID, id, f.by(now))))
				}
				statuses = append(statuses, 500+n)
				ended := f.fails(t, f.takes(t, now), 500+n, now)
				same(t, ended.Again == 1, n%tries < len(webhooks.Pauses))
				if ended.Again == 1 {
					same(t, f.due(t, now.Add(webhooks.Pauses[n%tries]-time.Millisecond)), nil)
					now = now.Add(webhooks.Pauses[n%tries])
				}
				var listed []int
				for _, try := range f.deliveries(t, w, "")[0].Tried {
					listed = append(listed, try.Status)
				}
				same(t, listed, statuses[max(0, len(statuses)-webhooks.Logged):])
			}
			f.isDisabled(t, w, api.ReceiverFailing)
		}},
		// spec: webhooks-limit
		{"of concurrent webhooks as many are saved as there is room for", func(t *testing.T, f *fixture) {
			var group sync.WaitGroup
			errs := make([]error, 5)
			for i := range errs {
				w, by := f.newWebhook(), f.by(moment(i))
				group.Go(func() {
					errs[i] = f.CreateWebhook(t.Context(), f.mine.account, w, []byte("secret"), events.Cursor{}, 3, by)
				})
			}
			group.Wait()
			refused := slices.DeleteFunc(errs, func(err error) bool { return err == nil })
			if len(refused) != 2 || !errors.Is(refused[0], store.ErrTooManyWebhooks) || !errors.Is(refused[1], store.ErrTooManyWebhooks) {
				t.Errorf("got %v", refused)
			}
			all := f.webhooks(t, 10)
			same(t, len(all), 3)
			succeeds(t, f.DeleteWebhook(t.Context(), f.mine.account, all[0].ID, f.by(moment(9)))) // which makes room at once
			succeeds(t, f.CreateWebhook(t.Context(), f.mine.account, f.newWebhook(), []byte("secret"), events.Cursor{}, 3, f.by(moment(9))))
			unknown := prism.AccountID{UUID: f.id()}
			failsWith(t, f.CreateWebhook(t.Context(), unknown, f.newWebhook(), []byte("s"), events.Cursor{}, 3, f.by(moment(1))), store.ErrNotFound)
		}},
		// spec: audit-actions, audit-changes-only, audit-in-the-transaction, audit-holds-no-values
		{"changes of webhooks are recorded with the origin of their URL alone", func(t *testing.T, f *fixture) {
			w := f.webhook(t)
			for range 2 { // the second time it is equal
				w.Enabled = false
				succeeds(t, second(f.ReplaceWebhook(t.Context(), f.mine.account, w, events.Cursor{}, f.by(moment(2)))))
			}
			failsWith(t, second(f.TestWebhook(t.Context(), f.mine.account, w.ID, f.id(), f.by(moment(2)))), store.ErrWebhookDisabled)
			w.Enabled = true
			succeeds(t, second(f.ReplaceWebhook(t.Context(), f.mine.account, w, events.Cursor{}, f.by(moment(2)))))
			succeeds(t, second(f.RotateWebhook(t.Context(), f.mine.account, w.ID, []byte("new"), moment(9), f.by(moment(3)))))
			d, err := f.TestWebhook(t.Context(), f.mine.account, w.ID, f.id(), f.by(moment(3)))
			succeeds(t, err)
			f.delivers(t, f.takes(t, moment(4)), moment(5))
			succeeds(t, second(f.ResendDelivery(t.Context(), f.mine.account, w.ID, d.ID, f.by(moment(6)))))
			succeeds(t, f.DeleteWebhook(t.Context(), f.mine.account, w.ID, f.by(moment(7))))
			var got []string
			for _, e := range f.audit(t, audit.Filter{}) {
				if e.Object == (store.Object{Kind: store.WebhookObject, ID: w.ID.UUID, Name: "https://hooks.example:8443"}) {
					got = append(got, string(e.Action)+" "+string(e.Detail))
				}
			}
			same(t, got, []string{
				`webhook.delete {}`, `webhook.resend {}`, `webhook.test {}`, `webhook.rotate {}`,
				`webhook.replace {"events":["result.created","prism.changed"],"enabled":true}`,
				`webhook.replace {"events":["result.created","prism.changed"],"enabled":false}`,
				`webhook.create {"events":["result.created","prism.changed"],"enabled":true}`,
			})
		}},
	}
}

// newWebhook is a webhook that is not stored.
func (f *fixture) newWebhook() webhooks.Webhook {
	return webhooks.Webhook{
		ID: prism.WebhookID{UUID: f.id()}, URL: "https://hooks.example:8443/secret?token=t", Enabled: true, CreatedAt: moment(1),
		Settings: webhooks.Settings{
			Events: []api.EventType{api.ResultCreated, api.PrismChanged}, Status: prism.OK, Answers: true, RunRows: true,
			Condition: &api.EventCondition{Column: "urgent", Op: api.CellIs, Value: "“é” 🙂"},
		},
	}
}

// webhook stores a webhook of mine, whose events begin with the first.
func (f *fixture) webhook(t *testing.T, edits ...func(*webhooks.Webhook)) webhooks.Webhook {
	t.Helper()
	w := f.newWebhook()
	for _, edit := range edits {
		edit(&w)
	}
	stored := w
	stored.Slugs = nil
	err := f.CreateWebhook(t.Context(), f.mine.account, stored, []byte("secret"), events.Cursor{}, api.MaxWebhooks, f.by(moment(1)))
	succeeds(t, err)
	return w
}

// webhooks are those of mine.
func (f *fixture) webhooks(t *testing.T, limit int) []webhooks.Webhook {
	t.Helper()
	return pages(t, limit, func(p store.Page) ([]webhooks.Webhook, bool, error) {
		return f.ListWebhooks(t.Context(), f.mine.account, p)
	}, func(w webhooks.Webhook) prism.UUID { return w.ID.UUID })
}

// deliveries are those of a webhook of mine, the newest first.
func (f *fixture) deliveries(t *testing.T, w webhooks.Webhook, status api.DeliveryStatus) []webhooks.Delivery {
	t.Helper()
	return pages(t, 2, func(p store.Page) ([]webhooks.Delivery, bool, error) {
		return f.ListDeliveries(t.Context(), f.mine.account, w.ID, status, p)
	}, func(d webhooks.Delivery) prism.UUID { return d.ID.UUID })
}
