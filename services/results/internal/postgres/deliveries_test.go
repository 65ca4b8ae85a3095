package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

// TestDeliveriesOfAStateAreFoundByTheirState checks plans that are made before there are statistics, and with those of a time when
// everything was delivered: none reads what is in other states, which is all that was sent for days.
func TestDeliveriesOfAStateAreFoundByTheirState(t *testing.T) {
	t.Parallel()
	u := migrated(t)
	ctx, s, spans := traced(t, u)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	id := prism.WebhookID{UUID: prism.UUID{4}}
	w := webhooks.Webhook{ID: id, URL: "http://localhost", CreatedAt: time.UnixMilli(0)}
	w.Enabled, w.Events = true, []api.EventType{api.ResultCreated}
	must(s.CreateWebhook(ctx, account(), w, []byte("secret"), events.Cursor{}, 9, storetest.By()))
	_, err := s.TestWebhook(ctx, account(), id, prism.UUID{5}, storetest.By())
	must(err)
	_, _, err = s.ListDeliveries(ctx, account(), id, api.DeliveryWaiting, store.Page{Limit: 1})
	must(err)
	_, err = s.MeasureWebhooks(ctx)
	must(err)

	conn := connect(t, u)
	_, err = conn.Exec(t.Context(), "SET plan_cache_mode = force_generic_plan")
	must(err)
	check := func(when string) {
		seen := map[string]bool{}
		for _, span := range spans.Ended() {
			for _, a := range span.Attributes() {
				statement := a.Value.String()
				name, _, _ := strings.Cut(strings.TrimPrefix(statement, "-- name: "), " ")
				switch name {
				case "TurnOfDeliveries", "ListDeliveriesInState", "OldestWaiting":
				default:
					continue
				}
				if a.Key != queryText || seen[name] {
					continue
				}
				seen[name] = true
				if plan := explain(t, conn, statement); !strings.Contains(plan, "deliveries_by_state") || strings.Contains(plan, "deliveries_pkey") {
					t.Errorf("%s, %s reads other states:\n%s", when, name, plan)
				}
			}
		}
		if len(seen) != 3 {
			t.Errorf("%s: statements seen: %v", when, seen)
		}
	}
	check("without statistics")
	exec(t, u, `INSERT INTO deliveries (account_id, webhook_id, id, event, state, aside, tries, tried, remove_at)
		SELECT account_id, webhook_id, gen_random_uuid(), event, 0, false, 1, '[]', now() FROM deliveries, generate_series(1, 5000)`)
	exec(t, u, "DELETE FROM deliveries WHERE state <> 0")
	exec(t, u, "VACUUM ANALYZE deliveries")
	check("with all delivered")
}
