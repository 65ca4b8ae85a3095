package provider

import (
	"context"
	"fmt"
	"reflect"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/lens"
)

// What belongs to a prism, and is imported by the slug of it.

const aboutPrism = "The slug of the prism. Another prism is another resource."

type lensSettings struct {
	Prism string `json:"prism" form:"prism"`
	api.Lens
}

func lenses() kind[lensSettings, client.Prism] {
	return kind[lensSettings, client.Prism]{
		name: "lens", identity: "prism",
		description: "The Lens of a prism: the columns in which its answers are read. It stays when the prism gets a version that it fits. " +
			"Without the resource, and after `destroy`, a prism has the Lens that is derived from its questions.",
		texts: map[string]string{
			"prism": aboutPrism, "columns": "1 to 200 columns. `show` is `answer`, `probability`, `average`, `confidence` or `count`.",
		},
		replaced: []string{"prism"}, local: []string{"prism"},
		uses:     []api.Operation{api.ReadPrism, api.ReplaceLens},
		settings: func(p client.Prism) lensSettings { return lensSettings{p.Slug, p.Lens} },
		create: func(ctx context.Context, c *client.Client, want lensSettings) (client.Prism, error) {
			now, err := c.ReadPrism(ctx, want.Prism)
			if err != nil {
				return now, err
			}
			return replaceLens(ctx, c, want.Prism, want.Lens, func(p client.Prism) bool { return reflect.DeepEqual(p.Lens, now.Lens) })
		},
		read: func(ctx context.Context, c *client.Client, id string, _ lensSettings) (client.Prism, error) {
			return c.ReadPrism(ctx, id)
		},
		update: func(ctx context.Context, c *client.Client, id string, was, want lensSettings) (client.Prism, error) {
			return replaceLens(ctx, c, id, want.Lens, func(p client.Prism) bool {
				// A version of the same apply, which the Lens did not fit, has the derived one.
				return reflect.DeepEqual(p.Lens, was.Lens) || reflect.DeepEqual(p.Lens, lens.Derive(definitionOf(p.Version)))
			})
		},
		remove: func(ctx context.Context, c *client.Client, id string, _ lensSettings) error {
			now, err := c.ReadPrism(ctx, id)
			if err != nil || now.ArchivedAt != nil { // an archived prism keeps its Lens
				return err
			}
			_, err = replaceLens(ctx, c, id, lens.Derive(definitionOf(now.Version)), func(p client.Prism) bool {
				return p.LatestVersion == now.LatestVersion
			})
			return err
		},
	}
}

func replaceLens(ctx context.Context, c *client.Client, id string, l api.Lens, same func(client.Prism) bool) (p client.Prism, err error) {
	err = changing(ctx, c, id, same, func(now client.Prism) (err error) {
		p, err = c.ReplaceLens(ctx, id, l, client.IfUnchanged(now))
		return err
	})
	return p, err
}

type retentionSettings struct {
	Prism string `json:"prism" form:"prism"`
	Days  int    `json:"days" min:"1" max:"3650"`
}

func retentions() kind[retentionSettings, client.Prism] {
	set := func(ctx context.Context, c *client.Client, prism string, days *int) (client.Prism, error) {
		return c.SetRetention(ctx, prism, days)
	}
	return kind[retentionSettings, client.Prism]{
		name: "retention", identity: "prism",
		description: "How long the results of a prism are kept. Older ones are deleted for good. Without the resource, and after `destroy`, they are kept.",
		texts:       map[string]string{"prism": aboutPrism, "days": "How many days old results become, 1 to 3650."},

		replaced: []string{"prism"}, local: []string{"prism"},
		uses: []api.Operation{api.ReadPrism, api.SetRetention},
		settings: func(p client.Prism) (s retentionSettings) {
			if s.Prism = p.Slug; p.RetentionDays != nil {
				s.Days = *p.RetentionDays
			}
			return s
		},
		create: func(ctx context.Context, c *client.Client, want retentionSettings) (client.Prism, error) {
			return set(ctx, c, want.Prism, &want.Days)
		},
		read: func(ctx context.Context, c *client.Client, id string, _ retentionSettings) (client.Prism, error) {
			p, err := c.ReadPrism(ctx, id)
			if err == nil && p.RetentionDays == nil {
				err = client.ErrNotFound
			}
			return p, err
		},
		update: func(ctx context.Context, c *client.Client, id string, _, want retentionSettings) (client.Prism, error) {
			return set(ctx, c, id, &want.Days)
		},
		remove: func(ctx context.Context, c *client.Client, id string, _ retentionSettings) error {
			_, err := set(ctx, c, id, nil)
			return err
		},
	}
}

type driftSettings struct {
	Prism     string           `json:"prism" form:"prism"`
	Version   int              `json:"version,omitzero" min:"1" max:"2147483647"`
	Reference *api.DriftPeriod `json:"reference,omitzero"`
}

func drifts() kind[driftSettings, client.Drift] {
	set := func(ctx context.Context, c *client.Client, s driftSettings) (client.Drift, error) {
		return c.SetDrift(ctx, s.Prism, client.DriftChange{Watched: true, Version: s.Version, Reference: s.Reference})
	}
	return kind[driftSettings, client.Drift]{
		name: "drift", identity: "prism",
		description: "Has the answers of a prism watched for drift. After `destroy` it is not watched, and what was counted is deleted.",
		texts: map[string]string{
			"prism": aboutPrism, "version": "The version that `reference` is of. Without it the latest.",
			"reference": "What answers are compared with: a time of whole hours, `from` and `to`. Without it the first 2,000 results of the version.",
		},
		replaced: []string{"prism"}, local: []string{"prism", "version"},
		uses: []api.Operation{api.ReadDrift, api.SetDrift},
		settings: func(d client.Drift) (s driftSettings) {
			if r := d.Reference; r != nil && r.Kind == client.SetPeriod && r.From != nil && r.To != nil {
				s.Reference = &api.DriftPeriod{From: r.From.Time, To: r.To.Time}
			}
			return s
		},
		normal: func(s *driftSettings) {
			if r := s.Reference; r != nil {
				s.Reference = &api.DriftPeriod{From: r.From.UTC(), To: r.To.UTC()}
			}
		},
		create: set,
		read: func(ctx context.Context, c *client.Client, id string, was driftSettings) (client.Drift, error) {
			d, err := c.ReadDrift(ctx, id, was.Version)
			if err == nil && !d.Watched {
				err = client.ErrNotFound
			}
			return d, err
		},
		update: func(ctx context.Context, c *client.Client, id string, was, want driftSettings) (client.Drift, error) {
			now, err := c.ReadDrift(ctx, id, want.Version)
			if err != nil {
				return now, err
			}
			if was.Version == want.Version && !now.Watched {
				return now, fmt.Errorf("it is not watched: %w", errChanged)
			}
			return set(ctx, c, want)
		},
		remove: func(ctx context.Context, c *client.Client, id string, _ driftSettings) error {
			_, err := c.SetDrift(ctx, id, client.DriftChange{})
			return err
		},
	}
}
