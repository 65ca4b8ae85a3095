package main

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) auth() *cobra.Command {
	auth := group("auth", "Log in and out, and show which key is used")
	auth.AddCommand(a.authStatus(), a.login(), a.logout())
	return auth
}

// status is which Prism and which key commands use, as far as the API tells.
type status struct {
	Host    string `json:"host"`
	Context string `json:"context,omitempty"`
	// Key is the beginning of the key; KeyFrom is where prismctl has the key from.
	Key     string `json:"key"`
	KeyFrom string `json:"key_from"`
	Role    string `json:"role"`
	// Only owners may read keys and the name of the account, so these are empty for other keys.
	KeyID     string       `json:"key_id,omitempty"`
	KeyName   string       `json:"key_name,omitempty"`
	ExpiresAt *client.Time `json:"expires_at,omitempty"`
	Account   string       `json:"account,omitempty"`
}

func (a *app) authStatus() *cobra.Command {
	var output *output
	cmd := a.command(description{
		use: "status", short: "Show which Prism and which key commands use, and try the key",
		example: `prismctl auth status
prismctl auth status --context staging -o json --jq .role`,
	}, func(cmd *cobra.Command, _ []string) error {
		c, t, err := a.client()
		if err != nil {
			return err
		}
		s := status{Host: t.Host, Context: t.Name, Key: masked(t.Key), KeyFrom: t.from}
		if err := s.ask(cmd.Context(), c, t.Key); err != nil {
			return &aboutError{"the key " + s.Key + " from " + s.KeyFrom, err}
		}
		return a.writeOne(cmd.Context(), output, s, func() error { return a.showStatus(s) })
	})
	cmd.Long = `Show which Prism and which key commands use, and try the key. An owner's key also tells its id, its expiry and the
account. The key itself is never shown.`
	output = outputFlag(cmd, oneFormats...)
	return cmd
}

// ask finds out what the key may do. It changes nothing.
func (s *status) ask(ctx context.Context, c *client.Client, key string) error {
	if _, err := c.ListPrisms(ctx, client.PrismFilter{}, client.PageOptions{Limit: 1}); err != nil {
		return err // every role may do this
	}
	for k, err := range c.Keys(ctx) {
		if forbidden(err) {
			return s.askRole(ctx, c)
		}
		if err != nil {
			return err
		}
		if k.RevokedAt == nil && strings.HasPrefix(key, k.Prefix) {
			s.KeyID, s.KeyName, s.ExpiresAt = k.ID, k.Name, k.ExpiresAt
			break
		}
	}
	s.Role = string(client.Owner)
	for e, err := range c.Audit(ctx, client.AuditFilter{Actor: "operator"}) {
		if err != nil {
			return err
		}
		if e.Action == client.AccountCreate {
			s.Account = e.Object.Name
			break
		}
	}
	return nil
}

// askRole finds the role of a key that is not an owner's by calls that store nothing. Prism checks the role before it checks
// whether the slug is free and whether the prism exists (spec: order-of-checks-role).
func (s *status) askRole(ctx context.Context, c *client.Client) error {
	_, err := c.CreatePrism(ctx, client.NewPrism{Slug: "check", NewVersion: client.NewVersion{
		Definition: client.Definition{
			Fields: []client.Field{{Key: "text"}}, Questions: []client.Question{{Key: "good", Type: client.YesNo, Text: "Is it good?"}},
		},
	}}, client.WithDryRun())
	if !forbidden(err) {
		s.Role = string(client.Editor)
		return unlessAnswered(err)
	}
	_, err = c.RetryResults(ctx, client.ResultRetry{Prism: "none"}, 0, client.WithDryRun())
	if s.Role = string(client.Caller); forbidden(err) {
		s.Role = string(client.Labeller) + " or " + string(client.Reader)
	}
	return unlessAnswered(err)
}

// forbidden reports that the role of the key does not allow a call.
func forbidden(err error) bool {
	var e *client.Error
	return errors.As(err, &e) && e.Status == http.StatusForbidden
}

// unlessAnswered drops an error that refuses the call itself: then the role is known. It returns any other error.
func unlessAnswered(err error) error {
	var e *client.Error
	if errors.As(err, &e) && e.Status < http.StatusInternalServerError {
		return nil
	}
	return err
}

func (a *app) showStatus(s status) error {
	var rows []row
	for _, r := range []struct{ name, value string }{
		{"host", s.Host},
		{"context", s.Context},
		{"key", s.Key + " from " + s.KeyFrom},
		{"key id", s.KeyID},
		{"key name", s.KeyName},
		{"role", s.Role},
		{"expires", optional(s.ExpiresAt)},
		{"account", s.Account},
	} {
		if r.name == "expires" && s.KeyID != "" && r.value == "" {
			r.value = "never"
		}
		if r.value != "" {
			rows = append(rows, row{cells: []string{r.name, r.value}})
		}
	}
	return table(a.out, rows)
}
