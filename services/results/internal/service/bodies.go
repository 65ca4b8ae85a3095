package service

import (
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/store"
)

func newPrismBody(p prism.Prism) api.Prism {
	body := api.Prism{
		ID: p.ID.String(), Slug: p.Slug, Name: bodies.Optional(p.Name), ArchivedAt: bodies.Time(p.ArchivedAt),
		CreatedAt: api.Time{Time: p.CreatedAt}, LatestVersion: int(p.Latest.Number), Lens: p.Lens, Version: newVersionBody(p.Latest),
	}
	if p.RetentionDays > 0 {
		body.RetentionDays = new(int(p.RetentionDays))
	}
	return body
}

func newVersionBody(v prism.Version) api.Version {
	return api.Version{
		Version: int(v.Number), Instructions: bodies.Optional(v.Instructions), Model: bodies.Optional(v.Model), Escalate: v.Escalate, Fields: v.Fields,
		Questions: v.Questions, CreatedAt: api.Time{Time: v.CreatedAt},
	}
}

func newKeyBody(k store.APIKey, lastUsed *time.Time) api.APIKey {
	return api.APIKey{
		ID: k.ID.String(), Name: k.Name, Prefix: k.Prefix, Role: k.Role, CreatedAt: api.Time{Time: k.CreatedAt},
		ExpiresAt: bodies.Time(k.ExpiresAt), LastUsedAt: bodies.Time(lastUsed), RevokedAt: bodies.Time(k.RevokedAt),
	}
}
