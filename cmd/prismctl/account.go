package main

import (
	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) account() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "account", short: "Read the account, its limits and what it has",
		example: `prismctl account
prismctl account --jq .stored_bytes`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		account, err := c.ReadAccount(cmd.Context())
		if err != nil {
			return err
		}
		return a.write(cmd.Context(), output, account)
	})
	output = outputFlag(cmd, "json", "yaml", "jsonl")
	return cmd
}
