package client

import (
	"context"
	"iter"
	"strconv"

	"github.com/prism-results/prism/pkg/api"
)

// CreatePrism creates a prism with its version 1. A slug that the account has already is ErrConflict. A dry run returns the
// prism as it would be.
func (c *Client) CreatePrism(ctx context.Context, p NewPrism, options ...CallOption) (Prism, error) {
	return c.fetchPrism(ctx, declared(api.CreatePrism).sending(p), options)
}

// ReadPrism reads a prism by its slug or id, an archived one too.
func (c *Client) ReadPrism(ctx context.Context, prism string, options ...CallOption) (Prism, error) {
	return c.fetchPrism(ctx, declared(api.ReadPrism, prism), options)
}

// PrismFilter selects the prisms of a list.
type PrismFilter struct {
	// Archived selects the archived prisms instead of the others.
	Archived bool
	// All selects both.
	All bool
	// AdHoc selects the ad-hoc prisms, which else are left out.
	AdHoc bool
}

// ListPrisms returns one page of the account's prisms, newest first.
func (c *Client) ListPrisms(ctx context.Context, f PrismFilter, o PageOptions, options ...CallOption) (Page[Prism], error) {
	q := o.query()
	switch {
	case f.All:
		q.Set("archived", "all")
	case f.Archived:
		q.Set("archived", "true")
	}
	if f.AdHoc {
		q.Set("kind", api.AdHocPrisms)
	}
	return fetch[Page[Prism]](ctx, c, declared(api.ListPrisms).where(q), options)
}

// Prisms iterates over the account's prisms, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Prisms(ctx context.Context, f PrismFilter, options ...CallOption) iter.Seq2[Prism, error] {
	return pages(func(cursor string) (Page[Prism], error) {
		return c.ListPrisms(ctx, f, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}

// CreateVersion adds the next version of a prism, which answers calls from then on. A dry run returns the version as it would
// be. The call can be conditional: see IfUnchanged.
func (c *Client) CreateVersion(ctx context.Context, prism string, v NewVersion, options ...CallOption) (Version, error) {
	k := declared(api.CreateVersion, prism).with(options)
	k.body = versionOf{v, k.ifLatest, k.taken}
	return fetch[Version](ctx, c, k, nil)
}

type versionOf struct {
	NewVersion
	IfLatest           int                 `json:"if_latest,omitempty"`
	ExamplesFromLabels *ExamplesFromLabels `json:"examples_from_labels,omitempty"`
}

// ListVersions returns one page of the versions of a prism, newest first.
func (c *Client) ListVersions(ctx context.Context, prism string, o PageOptions, options ...CallOption) (Page[Version], error) {
	k := declared(api.ListVersions, prism).where(o.query())
	return fetch[Page[Version]](ctx, c, k, options)
}

// Versions iterates over the versions of a prism, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Versions(ctx context.Context, prism string, options ...CallOption) iter.Seq2[Version, error] {
	return pages(func(cursor string) (Page[Version], error) {
		return c.ListVersions(ctx, prism, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}

// RenamePrism replaces the name of a prism; "" is no name.
func (c *Client) RenamePrism(ctx context.Context, prism, name string, options ...CallOption) (Prism, error) {
	return c.fetchPrism(ctx, declared(api.RenamePrism, prism).sending(api.NewName{Name: &name}), options)
}

// SetSearchable has searches find the results of a prism, or leave them out.
func (c *Client) SetSearchable(ctx context.Context, prism string, searchable bool, options ...CallOption) (Prism, error) {
	return c.fetchPrism(ctx, declared(api.SetSearchable, prism).sending(api.Searchable{Searchable: searchable}), options)
}

// ReadVersion reads a version of a prism.
func (c *Client) ReadVersion(ctx context.Context, prism string, version int, options ...CallOption) (Version, error) {
	return fetch[Version](ctx, c, declared(api.ReadVersion, prism, strconv.Itoa(version)), options)
}

// ReplaceLens replaces the Lens of a prism, for old results too. A dry run returns the prism as it would be. The call can be
// conditional: see IfUnchanged.
func (c *Client) ReplaceLens(ctx context.Context, prism string, l Lens, options ...CallOption) (Prism, error) {
	return c.fetchPrism(ctx, declared(api.ReplaceLens, prism).sending(l), options)
}

// ArchivePrism archives a prism, which then takes no calls. Its results stay readable. The call is idempotent.
func (c *Client) ArchivePrism(ctx context.Context, prism string, options ...CallOption) (Prism, error) {
	return c.fetchPrism(ctx, declared(api.ArchivePrism, prism), options)
}

// UnarchivePrism lets an archived prism take calls again. The call is idempotent.
func (c *Client) UnarchivePrism(ctx context.Context, prism string, options ...CallOption) (Prism, error) {
	return c.fetchPrism(ctx, declared(api.UnarchivePrism, prism), options)
}
