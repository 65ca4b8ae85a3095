package webhooks

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/signature"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Prisms finds the prisms that a request names.
type Prisms interface {
	Prism(ctx context.Context, account prism.AccountID, ref prism.Ref) (prism.Prism, error)
}

// Handlers are those of the operations on webhooks.
type Handlers struct {
	store  Store
	events events.Store
	access *access.Access
	prisms Prisms
	now    func() time.Time
	newID  func() (prism.UUID, error)
}

// NewHandlers makes Handlers over a store.
func NewHandlers(
	s Store, e events.Store, a *access.Access, p Prisms, now func() time.Time, newID func() (prism.UUID, error),
) *Handlers {
	return &Handlers{s, e, a, p, now, newID}
}

// Operations are the operations on webhooks.
func (h *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{
		access.Change(h.access, api.CreateWebhook, h.createWebhook),
		access.Encoded(api.ListWebhooks, h.listWebhooks),
		access.Handle(api.ReadWebhook, h.readWebhook),
		access.Change(h.access, api.ReplaceWebhook, h.replaceWebhook),
		access.Change(h.access, api.DeleteWebhook, h.deleteWebhook),
		access.Change(h.access, api.TestWebhook, h.testWebhook),
		access.Change(h.access, api.RotateWebhook, h.rotateWebhook),
		access.Encoded(api.ListDeliveries, h.listDeliveries),
		access.Change(h.access, api.ResendDelivery, h.resendDelivery),
	}
}

// check makes the webhook that was sent, without an id.
func (h *Handlers) check(ctx context.Context, account prism.AccountID, n api.NewWebhook) (Webhook, error) {
	w := Webhook{URL: n.URL, Enabled: n.Enabled == nil || *n.Enabled, Settings: Settings{
		Status: n.Status, Condition: n.Condition, Answers: n.Answers, RunRows: n.RunRows,
	}}
	var problems []apierr.Problem
	if text := urlProblem(n.URL); text != "" {
		problems = append(problems, apierr.Problem{Path: "url", Text: text})
	}
	if c := n.Condition; c != nil && (c.Op == api.CellFrom || c.Op == api.CellTo) {
		if _, ok := number(c.Value); !ok {
			problems = append(problems, apierr.Problem{Path: "condition.value", Text: "must be a number for from and to"})
		}
	}
	if len(problems) > 0 {
		return w, apierr.Invalid(problems...)
	}
	for _, e := range n.Events {
		if !slices.Contains(w.Events, e) {
			w.Events = append(w.Events, e)
		}
	}
	for _, name := range n.Prisms {
		p, err := h.prisms.Prism(ctx, account, prism.ParseRef(name))
		if err != nil {
			return w, access.Translate(err, apierr.PrismNotFound())
		}
		if !slices.Contains(w.Prisms, p.ID) {
			w.Prisms, w.Slugs = append(w.Prisms, p.ID), append(w.Slugs, p.Slug)
		}
	}
	return w, nil
}

// urlProblem is what is wrong with the form of a URL; empty if nothing is. Whether its address may be called is known only when it is called
// (spec: webhook-url).
func urlProblem(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Opaque != "":
		return "must be an https:// or http:// URL with a host"
	case u.User != nil:
		return "must not have a user or a password"
	case strings.Contains(text, "#"):
		return "must not have a fragment"
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "must have ASCII characters only: write others as %XX, and a host in its xn-- form"
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return "must have a port from 1 to 65535"
		}
	}
	return ""
}

// body is the webhook at a time.
func (w Webhook) body(now time.Time) api.Webhook {
	b := api.Webhook{
		ID: w.ID.String(), URL: w.URL, Events: w.Events, Prisms: w.Slugs, Condition: w.Condition, Answers: w.Answers, RunRows: w.RunRows,
		Enabled: w.Enabled, Waiting: w.Waiting, CreatedAt: api.Time{Time: w.CreatedAt},
	}
	if w.Status != "" {
		b.Status = &w.Status
	}
	if w.DisabledReason != "" {
		b.DisabledReason = &w.DisabledReason
	}
	if w.PreviousUntil != nil && now.Before(*w.PreviousUntil) {
		b.PreviousSecretUntil = &api.Time{Time: *w.PreviousUntil}
	}
	return b
}

func (h *Handlers) createWebhook(
	ctx context.Context, account prism.AccountID, by store.By, in api.CreateWebhookRequest,
) (out api.CreatedWebhook, err error) {
	behind, err := h.events.LatestEvents(ctx, account)
	if err != nil {
		return out, err
	}
	w, err := h.check(ctx, account, in.NewWebhook)
	if err != nil {
		return out, err
	}
	w.ID, w.CreatedAt = prism.WebhookID{UUID: by.Entry}, by.At
	secret, text := signature.NewSecret()
	err = h.store.CreateWebhook(ctx, account, w, secret, behind, api.MaxWebhooks, by)
	return api.CreatedWebhook{Webhook: w.body(by.At), Secret: text}, err
}

func (h *Handlers) listWebhooks(ctx context.Context, c store.Caller, in api.ListWebhooksRequest) ([]byte, error) {
	return bodies.List(contract.ListOfWebhooks, in.Limit, in.Cursor,
		func(page store.Page) ([]Webhook, bool, error) { return h.store.ListWebhooks(ctx, c.Account, page) },
		func(w Webhook) (api.Webhook, error) { return w.body(h.now()), nil },
		func(w Webhook) prism.UUID { return w.ID.UUID })
}

func (h *Handlers) readWebhook(ctx context.Context, c store.Caller, in api.WebhookRequest) (out api.Webhook, err error) {
	w, err := h.store.Webhook(ctx, c.Account, in.Webhook)
	return w.body(h.now()), err
}

func (h *Handlers) replaceWebhook(
	ctx context.Context, account prism.AccountID, by store.By, in api.ReplaceWebhookRequest,
) (out api.Webhook, err error) {
	behind, err := h.events.LatestEvents(ctx, account)
	if err != nil {
		return out, err
	}
	w, err := h.check(ctx, account, in.NewWebhook)
	if err != nil {
		return out, err
	}
	w.ID = in.Webhook
	w, err = h.store.ReplaceWebhook(ctx, account, w, behind, by)
	return w.body(by.At), err
}

func (h *Handlers) deleteWebhook(ctx context.Context, account prism.AccountID, by store.By, in api.WebhookRequest) (api.None, error) {
	return api.None{}, h.store.DeleteWebhook(ctx, account, in.Webhook, by)
}

func (h *Handlers) rotateWebhook(
	ctx context.Context, account prism.AccountID, by store.By, in api.WebhookRequest,
) (api.CreatedWebhook, error) {
	secret, text := signature.NewSecret()
	w, err := h.store.RotateWebhook(ctx, account, in.Webhook, secret, by.At.Add(PreviousSecret), by)
	return api.CreatedWebhook{Webhook: w.body(by.At), Secret: text}, err
}

func (h *Handlers) testWebhook(ctx context.Context, account prism.AccountID, by store.By, in api.WebhookRequest) (out api.Delivery, err error) {
	least, err := h.newID()
	if err != nil {
		return out, err
	}
	d, err := h.store.TestWebhook(ctx, account, in.Webhook, least, by)
	return d.body(), err
}

func (h *Handlers) listDeliveries(ctx context.Context, c store.Caller, in api.ListDeliveriesRequest) ([]byte, error) {
	return bodies.List(contract.ListOfDeliveries, in.Limit, in.Cursor,
		func(page store.Page) ([]Delivery, bool, error) {
			return h.store.ListDeliveries(ctx, c.Account, in.Webhook, in.Status, page)
		},
		func(d Delivery) (api.Delivery, error) { return d.body(), nil },
		func(d Delivery) prism.UUID { return d.ID.UUID })
}

func (h *Handlers) resendDelivery(
	ctx context.Context, account prism.AccountID, by store.By, in api.ResendDeliveryRequest,
) (api.Delivery, error) {
	d, err := h.store.ResendDelivery(ctx, account, in.Webhook, in.Delivery, by)
	return d.body(), err
}

func (d Delivery) body() api.Delivery {
	b := api.Delivery{
		ID: d.ID.String(), Event: string(d.Event.Type), At: api.Time{Time: d.Event.At}, Status: d.Status, NextAt: bodies.Time(d.NextAt),
		Tries: make([]api.DeliveryTry, len(d.Tried)),
	}
	for i, t := range d.Tried {
		b.Tries[i] = api.DeliveryTry{At: api.Time{Time: t.At}, TookMS: t.TookMS, Error: t.Error, Answer: t.Answer}
		if t.Status != 0 {
			b.Tries[i].Status = &d.Tried[i].Status
		}
	}
	return b
}
