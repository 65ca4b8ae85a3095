package service

import (
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
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
