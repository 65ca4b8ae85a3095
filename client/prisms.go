package client

import (
	"context"
	"iter"
	"net/http"
	"strconv"
)

// CreatePrism creates a prism with its version 1. A slug that the account has already is ErrConflict.
func (c *Client) CreatePrism(ctx context.Context, p NewPrism) (Prism, error) {
	return fetch[Prism](ctx, c, createPrism(p))
}

// CheckPrism makes every check of CreatePrism and returns the prism as it would be, but creates nothing.
func (c *Client) CheckPrism(ctx context.Context, p NewPrism) (Prism, error) {
	return fetch[Prism](ctx, c, dryRun(createPrism(p)))
}

func createPrism(p NewPrism) call {
	return call{operation: "createPrism", method: http.MethodPost, path: "/prisms", body: p, want: http.StatusCreated}
}

// dryRun makes a call store nothing (spec: dry-run).
func dryRun(k call) call {
	k.dryRun, k.want, k.repeatable = true, http.StatusOK, true
	return k
}

// ReadPrism reads a prism by its slug or id, an archived one too.
func (c *Client) ReadPrism(ctx context.Context, prism string) (Prism, error) {
	return fetch[Prism](ctx, c, call{
		operation: "readPrism", method: http.MethodGet, path: "/prisms/" + segment(prism), repeatable: true,
	})
}

// PrismFilter selects the prisms of a list.
type PrismFilter struct {
	// Archived selects the archived prisms instead of the others.
	Archived bool
}

// ListPrisms returns one page of the account's prisms, newest first.
func (c *Client) ListPrisms(ctx context.Context, f PrismFilter, o PageOptions) (Page[Prism], error) {
	q := o.query()
	if f.Archived {
		q.Set("archived", "true")
	}
	return fetch[Page[Prism]](ctx, c, call{
		operation: "listPrisms", method: http.MethodGet, path: "/prisms", query: q, repeatable: true,
	})
}

// Prisms iterates over the account's prisms, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Prisms(ctx context.Context, f PrismFilter) iter.Seq2[Prism, error] {
	return pages(func(cursor string) (Page[Prism], error) {
		return c.ListPrisms(ctx, f, PageOptions{Limit: maxLimit, Cursor: cursor})
	})
}

// CreateVersion adds the next version of a prism, which answers calls from then on.
func (c *Client) CreateVersion(ctx context.Context, prism string, v NewVersion) (Version, error) {
	return fetch[Version](ctx, c, createVersion(prism, v))
}

// CheckVersion makes every check of CreateVersion and returns the version as it would be, but adds nothing.
func (c *Client) CheckVersion(ctx context.Context, prism string, v NewVersion) (Version, error) {
	return fetch[Version](ctx, c, dryRun(createVersion(prism, v)))
}

func createVersion(prism string, v NewVersion) call {
	return call{
		operation: "createVersion", method: http.MethodPost, path: "/prisms/" + segment(prism) + "/versions", body: v,
		want: http.StatusCreated,
	}
}

// ReadVersion reads a version of a prism.
func (c *Client) ReadVersion(ctx context.Context, prism string, version int) (Version, error) {
	return fetch[Version](ctx, c, call{
		operation: "readVersion", method: http.MethodGet,
		path: "/prisms/" + segment(prism) + "/versions/" + strconv.Itoa(version), repeatable: true,
	})
}

// ReplaceLens replaces the Lens of a prism, for old results too.
func (c *Client) ReplaceLens(ctx context.Context, prism string, l Lens) (Prism, error) {
	return fetch[Prism](ctx, c, replaceLens(prism, l))
}

// CheckLens makes every check of ReplaceLens and returns the prism as it would be, but edits nothing.
func (c *Client) CheckLens(ctx context.Context, prism string, l Lens) (Prism, error) {
	return fetch[Prism](ctx, c, dryRun(replaceLens(prism, l)))
}

func replaceLens(prism string, l Lens) call {
	return call{
		operation: "replaceLens", method: http.MethodPut, path: "/prisms/" + segment(prism) + "/lens", body: l, repeatable: true,
	}
}

// ArchivePrism archives a prism, which then takes no calls. Its results stay readable. The call is idempotent.
func (c *Client) ArchivePrism(ctx context.Context, prism string) (Prism, error) {
	return fetch[Prism](ctx, c, call{
		operation: "archivePrism", method: http.MethodPost, path: "/prisms/" + segment(prism) + "/archive", repeatable: true,
	})
}

// UnarchivePrism lets an archived prism take calls again. The call is idempotent.
func (c *Client) UnarchivePrism(ctx context.Context, prism string) (Prism, error) {
	return fetch[Prism](ctx, c, call{
		operation: "unarchivePrism", method: http.MethodPost, path: "/prisms/" + segment(prism) + "/unarchive", repeatable: true,
	})
}
