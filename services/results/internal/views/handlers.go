package views

import (
	"context"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Handlers are those of the operations of views.
type Handlers struct {
	store    Store
	access   *access.Access
	prisms   prisms.Store
	searches *search.Handlers
}

// NewHandlers makes Handlers over a store.
func NewHandlers(s Store, a *access.Access, p prisms.Store, searches *search.Handlers) *Handlers {
	return &Handlers{s, a, p, searches}
}

// Operations are the operations of views.
func (h *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{
		access.Change(h.access, api.CreateView, h.createView),
		access.Encoded(api.ListViews, h.listViews),
		access.Change(h.access, api.ReplaceView, h.replaceView),
		access.Change(h.access, api.DeleteView, h.deleteView),
	}
}

// check makes the view that was sent. Filters that no list of results could have are refused (spec: view-filters).
func (h *Handlers) check(ctx context.Context, account prism.AccountID, id prism.ViewID, n api.NewView) (View, error) {
	v := View{ID: id, Name: n.Name, Filters: n.Filters, Columns: n.Columns, Default: n.Default}
	for _, at := range []**api.Time{&v.Filters.From, &v.Filters.To} {
		if *at != nil {
			*at = &api.Time{Time: bodies.Bound(&(*at).Time).UTC()}
		}
	}
	var p *prism.Prism
	if n.Filters.Prism != "" {
		found, err := h.prisms.Prism(ctx, account, prism.ParseRef(n.Filters.Prism))
		if err != nil {
			return v, access.Translate(err, apierr.PrismNotFound())
		}
		p, v.Prism, v.Filters.Prism = &found, found.ID, found.Slug
	}
	if n.Filters.Q == "" && len(n.Filters.Where) == 0 && n.Filters.Sort == "" {
		return v, nil
	}
	schema, err := h.searches.Schema(ctx, account, p)
	if err != nil {
		return v, err
	}
	_, problems := schema.Parse(store.Filter{}, api.ResultSearch{Q: n.Filters.Q, Where: n.Filters.Where})
	if n.Filters.Sort != "" {
		_, wrong := schema.ParseOrder(n.Filters.Sort)
		problems = append(problems, wrong...)
	}
	for i := range problems {
		problems[i].Path = "filters." + problems[i].Path
	}
	return v, search.Invalid(problems)
}

func (v View) body() api.View {
	return api.View{
		ID: v.ID.String(), Name: v.Name, Filters: v.Filters, Columns: v.Columns, Default: v.Default, CreatedAt: api.Time{Time: v.CreatedAt},
	}
}

func (h *Handlers) createView(ctx context.Context, account prism.AccountID, by store.By, in api.CreateViewRequest) (api.View, error) {
	v, err := h.check(ctx, account, prism.ViewID{UUID: by.Entry}, in.NewView)
	if err != nil {
		return api.View{}, err
	}
	v.CreatedAt = by.At
	return v.body(), h.store.CreateView(ctx, account, v, api.MaxViews, by)
}

func (h *Handlers) listViews(ctx context.Context, c store.Caller, in api.ListViewsRequest) ([]byte, error) {
	return bodies.List(contract.ListOfViews, in.Limit, in.Cursor,
		func(page store.Page) ([]View, bool, error) { return h.store.ListViews(ctx, c.Account, page) },
		func(v View) (api.View, error) { return v.body(), nil },
		func(v View) prism.UUID { return v.ID.UUID })
}

func (h *Handlers) replaceView(ctx context.Context, account prism.AccountID, by store.By, in api.ReplaceViewRequest) (api.View, error) {
	v, err := h.check(ctx, account, in.View, in.NewView)
	if err != nil {
		return api.View{}, err
	}
	v.CreatedAt, err = h.store.ReplaceView(ctx, account, v, by)
	return v.body(), err
}

func (h *Handlers) deleteView(ctx context.Context, account prism.AccountID, by store.By, in api.ViewRequest) (api.None, error) {
	return api.None{}, h.store.DeleteView(ctx, account, in.View, by)
}
