// Package views keeps saved views of results, which the people of an account share.
package views

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// View is a stored view.
type View struct {
	ID        prism.ViewID
	Name      string
	Prism     prism.PrismID // of the filters; zero: none
	Filters   api.ViewFilters
	Columns   []string
	Default   bool
	CreatedAt time.Time
}

// Store keeps the views of accounts. At most one view of a prism, and one of all results, is a default: the one that was stored last.
type Store interface {
	// CreateView stores a view: ErrTooManyViews if the account has as many as most, ErrNotFound if there is no such account.
	CreateView(ctx context.Context, account prism.AccountID, v View, most int64, by store.By) error
	// ListViews is a page of the account's views, newest first. Their filters have the slugs of their prisms.
	ListViews(ctx context.Context, account prism.AccountID, page store.Page) (found []View, more bool, err error)
	// ReplaceView replaces all of a view but its id and time, which is returned. An equal view changes nothing: ErrNotFound.
	ReplaceView(ctx context.Context, account prism.AccountID, v View, by store.By) (createdAt time.Time, err error)
	// DeleteView deletes a view: ErrNotFound.
	DeleteView(ctx context.Context, account prism.AccountID, id prism.ViewID, by store.By) error
}
