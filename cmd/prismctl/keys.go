package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) keys() *cobra.Command {
	keys := group("keys", "Create, list and revoke API keys")
	keys.AddCommand(a.keysCreate(), a.keysList(), a.keysRevoke())
	return keys
}

func (a *app) keysCreate() *cobra.Command {
	return a.calling("create NAME", "Create a key and print it, this one time", cobra.ExactArgs(1), func(cmd *cobra.Command, c *client.Client, args []string) error {
		key, err := c.CreateKey(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(a.err, "Key %s. Its text is shown only now.\n", key.ID)
		_, err = fmt.Fprintln(a.out, key.Key.Reveal())
		return err
	})
}

func (a *app) keysList() *cobra.Command {
	var output string
	cmd := a.calling("list", "List the account's keys, newest first", cobra.NoArgs, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		keys, err := c.ListKeys(cmd.Context())
		if err != nil {
			return err
		}
		return list(a, output, each(keys...), "id name prefix created_at last_used_at revoked_at", func(k client.APIKey) row {
			return row{cells: []string{k.ID, k.Name, k.Prefix, k.CreatedAt.String(), optional(k.LastUsedAt), optional(k.RevokedAt)}}
		})
	})
	outputFlag(cmd, &output)
	return cmd
}

func (a *app) keysRevoke() *cobra.Command {
	return a.calling("revoke ID", "Revoke a key at once", cobra.ExactArgs(1), func(cmd *cobra.Command, c *client.Client, args []string) error {
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
