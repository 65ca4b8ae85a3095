package service

import (
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
)

// The bodies of the management API.
type (
	prismBody struct {
		ID            prism.PrismID `json:"id"`
		Slug          string        `json:"slug"`
		Name          *string       `json:"name"`
		ArchivedAt    *string       `json:"archived_at"`
		CreatedAt     string        `json:"created_at"`
		LatestVersion int32         `json:"latest_version"`
		Lens          prism.Lens    `json:"lens"`
		Version       versionBody   `json:"version"`
	}
	versionBody struct {
		Version      int32            `json:"version"`
		Instructions *string          `json:"instructions"`
		Fields       []prism.Field    `json:"fields"`
		Questions    []prism.Question `json:"questions"`
		CreatedAt    string           `json:"created_at"`
	}
	keyBody struct {
		ID         prism.KeyID `json:"id"`
		Name       string      `json:"name"`
		Prefix     string      `json:"prefix"`
		Role       prism.Role  `json:"role"`
		CreatedAt  string      `json:"created_at"`
		ExpiresAt  *string     `json:"expires_at"`
		LastUsedAt *string     `json:"last_used_at"`
		RevokedAt  *string     `json:"revoked_at"`
		Key        string      `json:"key,omitzero"` // only in the response that created the key
	}
	listBody struct {
		Data       []strictjson.Value `json:"data"`
		NextCursor *string            `json:"next_cursor"`
	}
)

func newPrismBody(p prism.Prism) prismBody {
	return prismBody{
		ID: p.ID, Slug: p.Slug, Name: optional(p.Name), ArchivedAt: optionalTime(p.ArchivedAt),
		CreatedAt: prism.FormatTime(p.CreatedAt), LatestVersion: p.Latest.Number, Lens: p.Lens,
		Version: newVersionBody(p.Latest),
	}
}

func newVersionBody(v prism.Version) versionBody {
	return versionBody{
		Version: v.Number, Instructions: optional(v.Instructions), Fields: v.Fields, Questions: v.Questions,
		CreatedAt: prism.FormatTime(v.CreatedAt),
	}
}

func newKeyBody(k store.APIKey, lastUsed *time.Time) keyBody {
	return keyBody{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, Role: k.Role, CreatedAt: prism.FormatTime(k.CreatedAt),
		ExpiresAt: optionalTime(k.ExpiresAt), LastUsedAt: optionalTime(lastUsed), RevokedAt: optionalTime(k.RevokedAt),
	}
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func optionalTime(t *time.Time) *string {
	if t == nil {
		return nil
	}
	s := prism.FormatTime(*t)
	return &s
}

// storePage asks the store for one row more than the caller wants, which tells whether there is a next page.
func storePage(list contract.List, p contract.Page) (store.Page, error) {
	page := store.Page{Limit: p.Limit + 1}
	if p.Cursor == "" {
		return page, nil
	}
	after, ok := list.ParseCursor(p.Cursor)
	if !ok { // the gateway of the previous release does not check cursors
		return page, apierr.Invalid(apierr.Problem{Path: "cursor", Text: "Invalid cursor"})
	}
	page.After = after
	return page, nil
}

// newListBody is a page of rows of a list.
func newListBody[R any](of contract.List, rows []R, limit int, body func(R) (strictjson.Value, error), id func(R) prism.UUID) (listBody, error) {
	list := listBody{}
	if len(rows) > limit {
		rows = rows[:limit]
		cursor := of.Cursor(id(rows[limit-1]))
		list.NextCursor = &cursor
	}
	for _, r := range rows {
		value, err := body(r)
		if err != nil {
			return listBody{}, err
		}
		list.Data = append(list.Data, value)
	}
	return list, nil
}
