package service_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
)

// hook is what the tests read of a webhook.
type hook struct {
	ID                  string
	URL                 string
	Events              []string
	Prisms              []string
	Enabled             bool
	Secret              string
	Waiting             int
	PreviousSecretUntil *string `json:"previous_secret_until"`
	DisabledReason      *string `json:"disabled_reason"`
}

// asked calls an operation as the owner, and reads its response.
func asked[In, Out, Body any](t *testing.T, w *world, op api.Op[In, Out], in In) (body Body) {
	t.Helper()
	response, err := contract.Do(t.Context(), w.Service, w.key, op, in)
	if err != nil {
		t.Fatalf("%s: %v", op.Name, err)
	}
	if err := json.Unmarshal(response.Body, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func (w *world) hook(t *testing.T, n api.NewWebhook) hook {
	t.Helper()
	return asked[api.CreateWebhookRequest, api.CreatedWebhook, hook](t, w, api.CreateWebhook, api.CreateWebhookRequest{NewWebhook: n})
}

func webhookID(t *testing.T, h hook) prism.WebhookID {
	t.Helper()
	id, err := prism.ParseUUID(h.ID)
	if err != nil {
		t.Fatal(err)
	}
	return prism.WebhookID{UUID: id}
}

// spec: webhook-create, webhook-members, webhook-secret, webhook-read, webhook-rotate
func TestAWebhookShowsItsSecretOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.prism(t, "one")
	reader := w.newKey(t, api.NewKey{Name: "editor", Role: prism.Editor}) // spec: webhook-roles
	made := w.hook(t, api.NewWebhook{
		URL: "https://hooks.example/prism", Events: []api.EventType{api.ResultCreated, api.ResultCreated}, Prisms: []string{"one", p.String()},
	})
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(made.Secret, "whsec_"))
	if err != nil || len(key) != 32 || !strings.HasPrefix(made.Secret, "whsec_") {
		t.Errorf("the secret has %d bytes, %v", len(key), err)
	}
	if len(made.Events) != 1 || len(made.Prisms) != 1 || made.Prisms[0] != "one" || !made.Enabled {
		t.Errorf("got %+v", made)
	}
	in := api.WebhookRequest{Webhook: webhookID(t, made)}
	if _, err := contract.Do(t.Context(), w.Service, reader, api.RotateWebhook, in); !errors.Is(err, apierr.RoleNotAllowed()) {
		t.Errorf("an editor makes a secret: %v", err)
	}
	response, err := contract.Do(t.Context(), w.Service, reader, api.ReadWebhook, in)
	members := `"events":["result.created"],"prisms":["one"],"status":null,"condition":null,"answers":false,"run_rows":false,"enabled":true,` +
		`"disabled_reason":null,"waiting":0,"previous_secret_until":null,"created_at":"`
	if err != nil || !strings.Contains(string(response.Body), members) {
		t.Errorf("an editor reads %s, %v", response.Body, err)
	}
	if read := asked[api.WebhookRequest, api.Webhook, hook](t, w, api.ReadWebhook, in); read.Secret != "" || read.URL != made.URL {
		t.Errorf("got %+v", read)
	}
	rotated := asked[api.WebhookRequest, api.CreatedWebhook, hook](t, w, api.RotateWebhook, in)
	if rotated.Secret == "" || rotated.Secret == made.Secret || rotated.PreviousSecretUntil == nil {
		t.Errorf("got %+v", rotated)
	}
	response, err = contract.Do(t.Context(), w.Service, w.key, api.ListAudit, api.ListAuditRequest{PageRequest: api.PageRequest{Limit: 9}})
	if err != nil || !strings.Contains(string(response.Body), `"webhook.rotate"`) || strings.Contains(string(response.Body), "whsec") ||
		strings.Contains(string(response.Body), "/prism") {
		t.Errorf("the audit is %s, %v", response.Body, err)
	}
}

// unfolded is a database that numbers what happened when it is told to, as Postgres does.
type unfolded struct {
	sqldb.Database
	folded *bool
}

func (u unfolded) FoldAll(context.Context) error {
	*u.folded = true
	return nil
}

func (u unfolded) Run(ctx context.Context, s sqldb.Statement, read sqldb.Reader) error {
	if strings.Contains(s.Text, "change_counts") {
		if !*u.folded {
			return errors.New("what happened before has no number yet")
		}
		*u.folded = false
	}
	return u.Database.Run(ctx, s, read)
}

// spec: webhook-create, webhook-disabled
func TestAWebhookBeginsBehindWhatHasNoNumberYet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.store.Store = sqlstore.New(unfolded{w.store.Store.(*sqlite.Store).Database, new(bool)}) //nolint:forcetypeassert // see newWorld
	n := api.NewWebhook{URL: "https://hooks.example", Events: []api.EventType{api.ResultCreated}}
	in := api.ReplaceWebhookRequest{WebhookRequest: api.WebhookRequest{Webhook: webhookID(t, w.hook(t, n))}, NewWebhook: n}
	for _, enabled := range []bool{false, true} {
		in.Enabled = &enabled
		if got := asked[api.ReplaceWebhookRequest, api.Webhook, hook](t, w, api.ReplaceWebhook, in); got.Enabled != enabled {
			t.Errorf("got %+v", got)
		}
	}
}

// spec: webhook-url, webhook-condition
func TestAWebhookThatCannotWorkIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	created := []api.EventType{api.ResultCreated}
	for name, c := range map[string]struct {
		api.NewWebhook
		want string
	}{
		"a password":  {api.NewWebhook{URL: "https://user:password@hooks.example", Events: created}, "url: must not have a user or a password"},
		"no host":     {api.NewWebhook{URL: "https:///path", Events: created}, "url: must be an https:// or http:// URL with a host"},
		"a file":      {api.NewWebhook{URL: "file:///etc/passwd", Events: created}, "url: must be an https:// or http:// URL with a host"},
		"no URL":      {api.NewWebhook{URL: "hooks.example", Events: created}, "url: must be an https:// or http:// URL with a host"},
		"a fragment":  {api.NewWebhook{URL: "https://hooks.example/#a", Events: created}, "url: must not have a fragment"},
		"a port":      {api.NewWebhook{URL: "https://hooks.example:99999", Events: created}, "url: must have a port from 1 to 65535"},
		"other texts": {api.NewWebhook{URL: "https://hööks.example", Events: created}, "url: must have ASCII characters only"},
		"no number":   {api.NewWebhook{URL: "https://a.example", Events: created, Condition: &api.EventCondition{Column: "c", Op: api.CellFrom, Value: "high"}}, "condition.value: must be a number"},
		"no such":     {api.NewWebhook{URL: "https://a.example", Events: created, Prisms: []string{"none"}}, "Prism not found"},
	} {
		_, err := contract.Do(t.Context(), w.Service, w.key, api.CreateWebhook, api.CreateWebhookRequest{NewWebhook: c.NewWebhook})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "password@") {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// spec: webhook-test, webhook-resend, webhook-disabled, delivery-list, webhook-delete
func TestAnEventIsTestedListedAndSentAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.hook(t, api.NewWebhook{URL: "http://localhost:3000/hook", Events: []api.EventType{api.DriftAlarm}})
	in := api.WebhookRequest{Webhook: webhookID(t, made)}
	tested := asked[api.WebhookRequest, api.Delivery, api.Delivery](t, w, api.TestWebhook, in)
	id, err := prism.ParseUUID(tested.ID)
	if err != nil || tested.Event != "webhook.test" || tested.Status != api.DeliveryWaiting {
		t.Errorf("got %+v, %v", tested, err)
	}
	again := api.ResendDeliveryRequest{WebhookRequest: in, Delivery: prism.DeliveryID{UUID: id}}
	refused := func(want error, in api.ResendDeliveryRequest) {
		t.Helper()
		if _, err := contract.Do(t.Context(), w.Service, w.key, api.ResendDelivery, in); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	refused(apierr.StillWaiting(), again)
	l, err := w.LeaseDeliveries(t.Context(), contract.LeaseDeliveries{})
	if err != nil || l == nil || l.URL != made.URL || len(l.Deliveries) != 1 || l.Deliveries[0].ID.UUID != id {
		t.Fatalf("got %+v, %v", l, err)
	}
	if got := base64.StdEncoding.EncodeToString(l.Secrets[0]); "whsec_"+got != made.Secret {
		t.Error("the lease has another secret")
	}
	if body := string(l.Deliveries[0].Body); !strings.HasPrefix(body, `{"type":"webhook.test","timestamp":"`) {
		t.Errorf("the body is %s", body)
	}
	answer := "no"
	err = w.SaveDeliveries(t.Context(), contract.SaveDeliveries{WebhookLease: l.WebhookLease, Tries: []contract.DeliveryTry{
		{ID: l.Deliveries[0].ID, At: w.Now(), TookMS: 7, Status: 500, Error: api.TryStatus, Answer: &answer},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.SaveDeliveries(t.Context(), contract.SaveDeliveries{WebhookLease: l.WebhookLease}); !errors.Is(err, contract.ErrLeaseLost) {
		t.Errorf("a lease that is over: %v", err)
	}
	list := api.ListDeliveriesRequest{WebhookRequest: in, Status: api.DeliveryFailed, PageRequest: api.PageRequest{Limit: 9}}
	page := asked[api.ListDeliveriesRequest, api.Page[api.Delivery], struct{ Data []api.Delivery }](t, w, api.ListDeliveries, list)
	if len(page.Data) != 1 || len(page.Data[0].Tries) != 1 || *page.Data[0].Tries[0].Status != 500 || *page.Data[0].Tries[0].Answer != "no" {
		t.Errorf("got %+v", page)
	}
	if sent := asked[api.ResendDeliveryRequest, api.Delivery, api.Delivery](t, w, api.ResendDelivery, again); sent.ID != tested.ID {
		t.Errorf("got %+v", sent)
	}
	refused(apierr.WebhookNotFound(), api.ResendDeliveryRequest{Delivery: again.Delivery})
	refused(apierr.DeliveryNotFound(), api.ResendDeliveryRequest{WebhookRequest: in})
	no := false
	off := asked[api.ReplaceWebhookRequest, api.Webhook, hook](t, w, api.ReplaceWebhook, api.ReplaceWebhookRequest{
		WebhookRequest: in, NewWebhook: api.NewWebhook{URL: made.URL, Events: []api.EventType{api.DriftAlarm}, Enabled: &no},
	})
	if off.Enabled || off.Waiting != 0 || off.DisabledReason != nil {
		t.Errorf("got %+v", off)
	}
	refused(apierr.WebhookDisabled(), again)
	if _, err := contract.Do(t.Context(), w.Service, w.key, api.TestWebhook, in); !errors.Is(err, apierr.WebhookDisabled()) {
		t.Errorf("a test: %v", err)
	}
	if _, err := contract.Do(t.Context(), w.Service, w.key, api.DeleteWebhook, in); err != nil {
		t.Error(err)
	}
	if _, err := contract.Do(t.Context(), w.Service, w.key, api.ReadWebhook, in); !errors.Is(err, apierr.WebhookNotFound()) {
		t.Errorf("a webhook that is deleted: %v", err)
	}
}
