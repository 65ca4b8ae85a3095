package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) prismsSearchable() *cobra.Command {
	cmd := a.calling(description{
		use: "searchable PRISM [true|false]", short: "Show or set whether searches find the results of a prism",
		example: `prismctl prisms searchable tickets
prismctl prisms searchable tickets false`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		if len(args) == 1 {
			p, err := c.ReadPrism(cmd.Context(), args[0])
			if err == nil {
				_, err = fmt.Fprintln(a.out, p.Searchable == nil)
			}
			return err
		}
		if args[1] != "true" && args[1] != "false" {
			return usage(errors.New("say true or false"))
		}
		p, err := c.SetSearchable(cmd.Context(), args[0], args[1] == "true")
		if err == nil {
			_, _ = fmt.Fprintf(a.err, "%s: %s.\n", p.Slug, searchableText(p.Searchable == nil))
		}
		return err
	})
	cmd.Long = `Show or set whether searches find the results of a prism. With false its results are not indexed, and those that were are taken
out of the index.`
	cmd.ValidArgsFunction = a.completePrisms
	return cmd
}

func searchableText(is bool) string {
	if is {
		return "searches find the results"
	}
	return "searches leave the results out"
}
