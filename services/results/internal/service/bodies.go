package service

import (
	"math"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
)

// The bodies of the management API.
type (
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

func newPrismBody(p prism.Prism) api.Prism {
	body := api.Prism{
		ID: p.ID.String(), Slug: p.Slug, Name: optional(p.Name), ArchivedAt: apiTime(p.ArchivedAt),
		CreatedAt: api.Time{Time: p.CreatedAt}, LatestVersion: int(p.Latest.Number), Lens: p.Lens, Version: newVersionBody(p.Latest),
	}
	if p.RetentionDays > 0 {
		body.RetentionDays = new(int(p.RetentionDays))
	}
	return body
}

func newVersionBody(v prism.Version) api.Version {
	return api.Version{
		Version: int(v.Number), Instructions: optional(v.Instructions), Model: optional(v.Model), Escalate: v.Escalate, Fields: v.Fields,
		Questions: api.NewQuestions(v.Questions), CreatedAt: api.Time{Time: v.CreatedAt},
	}
}

func apiTime(t *time.Time) *api.Time {
	if t == nil {
		return nil
	}
	return &api.Time{Time: *t}
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
	after, err := position(list, p)
	return store.Page{After: after, Limit: p.Limit + 1}, err
}

// position is the row that the cursor of a page names, or the zero id for the first page.
func position(list contract.List, p contract.Page) (prism.UUID, error) {
	if p.Cursor == "" {
		return prism.UUID{}, nil
	}
	after, ok := list.ParseCursor(p.Cursor)
	if !ok { // the gateway of the previous release does not check cursors
		return prism.UUID{}, apierr.Invalid(apierr.Problem{Path: "cursor", Text: "Invalid cursor"})
	}
	return after, nil
}

// newListBody is a page of the rows that a store found for storePage.
func newListBody[R any](of contract.List, rows []R, limit int, body func(R) (strictjson.Value, error), id func(R) prism.UUID) (listBody, error) {
	more := len(rows) > limit
	return newBoundedList(of, rows[:min(len(rows), limit)], more, math.MaxInt, body, id)
}

// definitionsBytes bounds the body of a page with more than one prism or version (spec: page-bytes).
const definitionsBytes = 4 << 20

// newBoundedList is a page that ends before the row that would make its body larger than most bytes, unless it is the first. more
// tells that the list has more than these rows.
func newBoundedList[R any](
	of contract.List, rows []R, more bool, most int, body func(R) (strictjson.Value, error), id func(R) prism.UUID,
) (listBody, error) {
	list := listBody{}
	size := len(`{"data":[],"next_cursor":""}`) + len(of.Cursor(prism.UUID{}))
	for _, r := range rows {
		value, err := body(r)
		if err != nil {
			return listBody{}, err
		}
		if size += len(value) + len(","); size > most && len(list.Data) > 0 {
			more = true
			break
		}
		list.Data = append(list.Data, value)
	}
	if n := len(list.Data); more && n > 0 {
		cursor := of.Cursor(id(rows[n-1]))
		list.NextCursor = &cursor
	}
	return list, nil
}
