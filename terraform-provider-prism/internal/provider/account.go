package provider

import (
	"context"
	"iter"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// What belongs to an account, and is imported by its id.

const aboutRotation = "Any text, such as a date. When it is set first, nothing happens; then another one "

type keySettings struct {
	api.NewKey
	Rotation string `json:"rotation,omitzero"`
}

// toldKey is a key with its text, which only the response that makes it has.
type toldKey struct {
	api.APIKey
	Key string `json:"key,omitzero"`
}

func keys() kind[keySettings, toldKey] {
	return kind[keySettings, toldKey]{
		name: "key", identity: "id",
		description: "An API key. Nothing of it can change, so any change makes another key; with `create_before_destroy` the old one is revoked " +
			"after what uses it has the new one. Its text is in the state: keep the state where only those read it who may have the key. " +
			"`destroy` revokes. Of an imported key the text is not known.",
		texts: map[string]string{
			"name": "What people call it.", "role": "What the key may do.", "expires_at": "From this time on the key is refused. Without it, never.",
			"rotation": aboutRotation + "makes another key.", "id": "The id, by which a key is imported.",
			"prefix": "The first characters of the key, to tell keys apart.", "created_at": "When the key was created.", "key": "The API key.",
		},
		replaced: []string{"name", "role", "expires_at", "rotation"}, local: []string{"rotation"}, required: []string{"role"},
		sensitive: []string{"key"},
		uses:      []api.Operation{api.CreateKey, api.ListKeys, api.RevokeKey},
		settings: func(k toldKey) keySettings {
			s := keySettings{NewKey: api.NewKey{Name: k.Name, Role: k.Role}}
			if k.ExpiresAt != nil {
				s.ExpiresAt = &k.ExpiresAt.Time
			}
			return s
		},
		normal: func(s *keySettings) {
			if s.ExpiresAt != nil {
				s.ExpiresAt = new(s.ExpiresAt.UTC().Truncate(time.Millisecond)) // spec: key-create
			}
		},
		create: func(ctx context.Context, c *client.Client, want keySettings) (toldKey, error) {
			k, err := c.CreateKey(ctx, want.NewKey)
			return toldKey{k.APIKey, k.Key.Reveal()}, err
		},
		read: func(ctx context.Context, c *client.Client, id string, _ keySettings) (toldKey, error) {
			k, err := find(c.Keys(ctx), func(k client.APIKey) bool { return k.ID == id && k.RevokedAt == nil })
			return toldKey{APIKey: k}, err
		},
		update: func(ctx context.Context, c *client.Client, id string, _, _ keySettings) (toldKey, error) {
			k, err := find(c.Keys(ctx), func(k client.APIKey) bool { return k.ID == id })
			return toldKey{APIKey: k}, err
		},
		remove: func(ctx context.Context, c *client.Client, id string, _ keySettings) error {
			_, err := c.RevokeKey(ctx, id)
			return err
		},
	}
}

// find is the first of a list that is meant, or ErrNotFound.
func find[T any](list iter.Seq2[T, error], meant func(T) bool) (none T, err error) {
	for x, err := range list {
		switch {
		case err != nil:
			return none, err
		case meant(x):
			return x, nil
		}
	}
	return none, client.ErrNotFound
}

// toldMember is a member with its sign-in link, which only the response that invites it has.
type toldMember struct {
	api.Member
	Link          string   `json:"link,omitzero"`
	LinkExpiresAt api.Time `json:"link_expires_at,omitzero"`
}

func members() kind[api.NewMember, toldMember] {
	read := func(ctx context.Context, c *client.Client, id string, _ api.NewMember) (toldMember, error) {
		m, err := find(c.Members(ctx), func(m client.Member) bool { return m.ID == id })
		return toldMember{Member: m}, err
	}
	return kind[api.NewMember, toldMember]{
		name: "member", identity: "id",
		description: "A member of the account, who is invited by a sign-in link, or with `claim` a rule that makes members of those who sign in by " +
			"OpenID Connect. `destroy` removes the member with its sessions. The last owner of an account is neither removed nor changed.",
		texts: map[string]string{
			"name": "What people call the member or rule.", "email": "Where the invitation goes, for people: Prism sends no mail. Not with `claim`.",
			"role": "What the member may do.", "claim": "Makes a rule: the claim `name` of OpenID Connect and its `value`.",
			"id": "The id, by which a member or rule is imported.", "created_at": "When the member or rule was made.",
			"link":            "The path of the sign-in link, behind the address of the console. It is used once. A rule and an imported member have none.",
			"link_expires_at": "When the link expires.",
		},
		replaced: []string{"email", "claim"}, sensitive: []string{"link"},
		uses: []api.Operation{api.AddMember, api.ListMembers, api.ChangeMember, api.RemoveMember},
		settings: func(m toldMember) api.NewMember {
			s := api.NewMember{Name: m.Name, Role: m.Role, Claim: m.Claim}
			if m.Email != nil {
				s.Email = *m.Email
			}
			return s
		},
		create: func(ctx context.Context, c *client.Client, want api.NewMember) (toldMember, error) {
			m, err := c.AddMember(ctx, want)
			return toldMember{m.Member, m.Link.Reveal(), m.ExpiresAt}, err
		},
		read: read,
		update: func(ctx context.Context, c *client.Client, id string, was, want api.NewMember) (toldMember, error) {
			change := client.MemberChange{Name: want.Name}
			if was.Role != want.Role { // a new role ends sessions
				change.Role = want.Role
			}
			m, err := c.ChangeMember(ctx, id, change)
			return toldMember{Member: m}, err
		},
		remove: func(ctx context.Context, c *client.Client, id string, _ api.NewMember) error {
			return c.RemoveMember(ctx, id)
		},
	}
}

type webhookSettings struct {
	api.NewWebhook
	Rotation string `json:"rotation,omitzero"`
}

// toldWebhook is a webhook with its secret, which only the response that makes it has.
type toldWebhook struct {
	api.Webhook
	Secret string `json:"secret,omitzero"`
}

func webhooks() kind[webhookSettings, toldWebhook] {
	return kind[webhookSettings, toldWebhook]{
		name: "webhook", identity: "id",
		description: "A webhook: where events of the account are sent. Of one that Prism has disabled the plan enables it again. Its secret is in the " +
			"state. Of an imported webhook it is not known. `destroy` deletes it, with what waits.",
		texts: map[string]string{
			"url": "Where events are sent: `https://`, or `http://` to networks that the operator allows.", "events": "Which events are sent.",
			"prisms": "Only events of these prisms, by their slugs. Without it, of all.", "status": "Only `result.created` with this status: `ok` or `failed`.",
			"condition": "Only `result.created` of whose Lens this holds: `column`, `op` and `value`.",
			"answers":   "Whether events have the columns of the Lens.", "run_rows": "Whether `result.created` is sent of rows of runs too.",
			"enabled": "Whether events are sent.", "rotation": aboutRotation + "makes a new secret; the old one signs for a day more.",
			"id": "The id, by which a webhook is imported.", "disabled_reason": "Why Prism has disabled the webhook.",
			"previous_secret_until": "Until when the secret before the last rotation signs too.", "created_at": "When the webhook was made.",
			"secret": "What events are signed with.",
		},
		local: []string{"rotation"}, unordered: []string{"events", "prisms"}, defaults: map[string]string{"enabled": "true"},
		sensitive: []string{"secret"},
		changing: map[string][]string{
			"secret": {"rotation"}, "previous_secret_until": {"rotation"}, "disabled_reason": {"enabled"},
		},
		uses: []api.Operation{api.CreateWebhook, api.ReadWebhook, api.ReplaceWebhook, api.DeleteWebhook, api.RotateWebhook},
		settings: func(w toldWebhook) webhookSettings {
			s := api.NewWebhook{
				URL: w.URL, Events: w.Events, Prisms: w.Prisms, Condition: w.Condition, Answers: w.Answers, RunRows: w.RunRows, Enabled: &w.Enabled,
			}
			if w.Status != nil {
				s.Status = *w.Status
			}
			return webhookSettings{NewWebhook: s}
		},
		create: func(ctx context.Context, c *client.Client, want webhookSettings) (toldWebhook, error) {
			w, err := c.CreateWebhook(ctx, want.NewWebhook)
			return toldWebhook{w.Webhook, w.Secret.Reveal()}, err
		},
		read: func(ctx context.Context, c *client.Client, id string, _ webhookSettings) (toldWebhook, error) {
			w, err := c.ReadWebhook(ctx, id)
			return toldWebhook{Webhook: w}, err
		},
		update: func(ctx context.Context, c *client.Client, id string, was, want webhookSettings) (toldWebhook, error) {
			w, err := c.ReplaceWebhook(ctx, id, want.NewWebhook)
			if err != nil || was.Rotation == "" || was.Rotation == want.Rotation {
				return toldWebhook{Webhook: w}, err
			}
			rotated, err := c.RotateWebhook(ctx, id)
			return toldWebhook{rotated.Webhook, rotated.Secret.Reveal()}, err
		},
		remove: func(ctx context.Context, c *client.Client, id string, _ webhookSettings) error {
			return c.DeleteWebhook(ctx, id)
		},
		check: checkWebhook,
	}
}

// checkWebhook refuses ids of prisms, which the API tells by their slugs, so that no plan would be empty.
func checkWebhook(_ context.Context, _ *client.Client, _ string, _ *webhookSettings, want webhookSettings) (problems diag.Diagnostics) {
	for _, p := range want.Prisms {
		if _, err := prism.ParseUUID(p); err == nil {
			problems.AddAttributeError(path.Root("prisms"), "prisms names no slug", "Name the prisms by their slugs, not by their ids.")
		}
	}
	return problems
}
