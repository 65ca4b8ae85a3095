package service

import (
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
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
		Questions: v.Questions, CreatedAt: api.Time{Time: v.CreatedAt},
	}
}

func apiTime(t *time.Time) *api.Time {
	if t == nil {
		return nil
	}
	return &api.Time{Time: *t}
}

func newKeyBody(k store.APIKey, lastUsed *time.Time) api.APIKey {
	return api.APIKey{
		ID: k.ID.String(), Name: k.Name, Prefix: k.Prefix, Role: k.Role, CreatedAt: api.Time{Time: k.CreatedAt},
		ExpiresAt: apiTime(k.ExpiresAt), LastUsedAt: apiTime(lastUsed), RevokedAt: apiTime(k.RevokedAt),
	}
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
