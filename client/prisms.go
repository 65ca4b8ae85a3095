package client

import (
	"context"
	"iter"
	"net/http"
	"strconv"
)

// CreatePrism creates a prism with its version 1. A slug that the account has already is ErrConflict.
func (c *Client) CreatePrism(ctx context.Context, p NewPrism) (Prism, error) {
	return c.tagged(ctx, request("createPrism", http.MethodPost, "prisms").creating(p))
}

// CheckPrism makes every check of CreatePrism and returns the prism as it would be, but creates nothing.
func (c *Client) CheckPrism(ctx context.Context, p NewPrism) (Prism, error) {
	return fetch[Prism](ctx, c, request("createPrism", http.MethodPost, "prisms").checking(p))
}

// ReadPrism reads a prism by its slug or id, an archived one too.
func (c *Client) ReadPrism(ctx context.Context, prism string) (Prism, error) {
	return c.tagged(ctx, request("readPrism", http.MethodGet, "prisms", prism))
}

// PrismFilter selects the prisms of a list.
type PrismFilter struct {
	// Archived selects the archived prisms instead of the others.
	Archived bool
	// All selects both.
	All bool
}

// ListPrisms returns one page of the account's prisms, newest first.
func (c *Client) ListPrisms(ctx context.Context, f PrismFilter, o PageOptions) (Page[Prism], error) {
	q := o.query()
	switch {
	case f.All:
		q.Set("archived", "all")
	case f.Archived:
		q.Set("archived", "true")
	}
	return fetch[Page[Prism]](ctx, c, request("listPrisms", http.MethodGet, "prisms").where(q))
}

// Prisms iterates over the account's prisms, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Prisms(ctx context.Context, f PrismFilter) iter.Seq2[Prism, error] {
	return pages(func(cursor string) (Page[Prism], error) {
		return c.ListPrisms(ctx, f, PageOptions{Limit: maxLimit, Cursor: cursor})
	})
}

// CreateVersion adds the next version of a prism, which answers calls from then on.
func (c *Client) CreateVersion(ctx context.Context, prism string, v NewVersion) (Version, error) {
	return fetch[Version](ctx, c, request("createVersion", http.MethodPost, "prisms", prism, "versions").creating(v))
}

// CreateVersionOf is CreateVersion if the prism still has the latest version and the ETag of was; else ErrConflict.
func (c *Client) CreateVersionOf(ctx context.Context, was Prism, v NewVersion) (Version, error) {
	k := request("createVersion", http.MethodPost, "prisms", was.ID, "versions").creating(versionOf{v, was.LatestVersion})
	k.ifMatch = was.ETag
	return fetch[Version](ctx, c, k)
}

type versionOf struct {
	NewVersion
	IfLatest int `json:"if_latest,omitempty"`
}

// CheckVersion makes every check of CreateVersion and returns the version as it would be, but adds nothing.
func (c *Client) CheckVersion(ctx context.Context, prism string, v NewVersion) (Version, error) {
	return fetch[Version](ctx, c, request("createVersion", http.MethodPost, "prisms", prism, "versions").checking(v))
}

// ListVersions returns one page of the versions of a prism, newest first.
func (c *Client) ListVersions(ctx context.Context, prism string, o PageOptions) (Page[Version], error) {
	return fetch[Page[Version]](ctx, c, request("listVersions", http.MethodGet, "prisms", prism, "versions").where(o.query()))
}

// Versions iterates over the versions of a prism, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Versions(ctx context.Context, prism string) iter.Seq2[Version, error] {
	return pages(func(cursor string) (Page[Version], error) {
		return c.ListVersions(ctx, prism, PageOptions{Limit: maxLimit, Cursor: cursor})
	})
}

// RenamePrism replaces the name of a prism; "" is no name.
func (c *Client) RenamePrism(ctx context.Context, prism, name string) (Prism, error) {
	k := request("renamePrism", http.MethodPut, "prisms", prism, "name")
	k.body = newName{name}
	return c.tagged(ctx, k)
}

type newName struct {
	Name string `json:"name"`
}

// ReadVersion reads a version of a prism.
func (c *Client) ReadVersion(ctx context.Context, prism string, version int) (Version, error) {
	return fetch[Version](ctx, c, request("readVersion", http.MethodGet, "prisms", prism, "versions", strconv.Itoa(version)))
}

// ReplaceLens replaces the Lens of a prism, for old results too.
func (c *Client) ReplaceLens(ctx context.Context, prism string, l Lens) (Prism, error) {
	k := request("replaceLens", http.MethodPut, "prisms", prism, "lens")
	k.body = l
	return c.tagged(ctx, k)
}

// ReplaceLensOf is ReplaceLens if the prism still has the ETag, which Prism.ETag is; else ErrConflict.
func (c *Client) ReplaceLensOf(ctx context.Context, prism, etag string, l Lens) (Prism, error) {
	k := request("replaceLens", http.MethodPut, "prisms", prism, "lens")
	k.body, k.ifMatch = l, etag
	return c.tagged(ctx, k)
}

// CheckLens makes every check of ReplaceLens and returns the prism as it would be, but edits nothing.
func (c *Client) CheckLens(ctx context.Context, prism string, l Lens) (Prism, error) {
	return fetch[Prism](ctx, c, request("replaceLens", http.MethodPut, "prisms", prism, "lens").checking(l))
}

// ArchivePrism archives a prism, which then takes no calls. Its results stay readable. The call is idempotent.
func (c *Client) ArchivePrism(ctx context.Context, prism string) (Prism, error) {
	return c.tagged(ctx, request("archivePrism", http.MethodPost, "prisms", prism, "archive").idempotent())
}

// UnarchivePrism lets an archived prism take calls again. The call is idempotent.
func (c *Client) UnarchivePrism(ctx context.Context, prism string) (Prism, error) {
	return c.tagged(ctx, request("unarchivePrism", http.MethodPost, "prisms", prism, "unarchive").idempotent())
}
