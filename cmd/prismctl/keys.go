package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) keys() *cobra.Command {
	keys := group("keys", "Create, list and revoke API keys")
	keys.AddCommand(a.keysCreate(), a.keysList(), a.keysRevoke())
	return keys
}

func (a *app) keysCreate() *cobra.Command {
	var role, expires string
	cmd := a.calling(description{
		use: "create NAME", short: "Create a key and print it, this one time",
		example: `prismctl keys create ci --role caller
prismctl keys create laptop --role editor --expires 2027-01-31T00:00:00Z`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		n := client.NewKey{Name: args[0], Role: client.Role(role)}
		if expires != "" {
			at, err := time.Parse(time.RFC3339, expires)
			if err != nil {
				return usage(errors.New("--expires takes a time such as 2027-01-31T00:00:00Z"))
			}
			n.ExpiresAt = &at
		}
		key, err := c.CreateKey(cmd.Context(), n)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(a.err, "Key %s. Its text is shown only now.\n", key.ID)
		_, err = fmt.Fprintln(a.out, key.Key.Reveal())
		return err
	})
	cmd.Flags().StringVar(&role, "role", string(client.Owner), "what the key may do: owner, editor, caller, labeller or reader")
	choices(cmd, "role", roleNames...)
	cmd.Flags().StringVar(&expires, "expires", "", "when the key ends, such as 2027-01-31T00:00:00Z; never without it")
	return cmd
}

func (a *app) keysList() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "list", short: "List the account's keys, newest first",
		example: `prismctl keys list
prismctl keys list -o json --jq '.[] | select(.revoked_at == null) | .id'`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		return list(cmd.Context(), a, output, c.Keys(cmd.Context()), keyColumns, func(k client.APIKey) row {
			return row{cells: []string{
				k.ID, k.Name, k.Prefix, string(k.Role), k.CreatedAt.String(), optional(k.ExpiresAt), optional(k.LastUsedAt),
				optional(k.RevokedAt), keyState(k, time.Now()),
			}}
		})
	})
	output = outputFlag(cmd, listFormats...)
	return cmd
}

var keyColumns = columns{
	"id name prefix role created_at expires_at last_used_at revoked_at state", "id name~ role state last_used_at:used",
}

// keyState is whether a key can be used.
func keyState(k client.APIKey, now time.Time) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked"
	case k.ExpiresAt != nil && !k.ExpiresAt.After(now):
		return "expired"
	}
	return "active"
}

func (a *app) keysRevoke() *cobra.Command {
	return a.calling(description{
		use: "revoke ID", short: "Revoke a key at once",
		example: `prismctl keys revoke "$KEY_ID"`, complete: a.completeKeys,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		key, err := c.RevokeKey(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(a.err, "Key %s (%s) is revoked.\n", key.ID, printable(key.Name))
		return nil
	})
}

// optional is the text of v, or "" without v.
func optional[T any](v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(*v)
}
