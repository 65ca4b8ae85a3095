package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/cmd/prismctl/internal/apply"
	"github.com/prism-results/prism/pkg/definition"
)

// checked is a prism of a file without problems.
type checked struct {
	File    string `json:"file"`
	Prism   string `json:"prism"`
	Checked string `json:"checked"` // "offline", or "by" the address of the Prism
	Change  string `json:"change"`  // what apply would do, as far as Prism was asked
}

var checkedColumns = columns{"file prism checked change", "file~ prism~ checked~ change~"}

func (a *app) validate() *cobra.Command {
	var (
		online bool
		output *output
	)
	cmd := a.command(description{
		use: "validate FILE|FOLDER...", short: "Check definitions, without a Prism or by one, and change nothing",
		example: `prismctl validate tickets.yaml
prismctl validate prisms/ --online
prismctl prisms get tickets | prismctl validate -`,
	}, func(cmd *cobra.Command, args []string) error {
		files, err := a.definitions(cmd.Context(), args)
		if err != nil {
			return err
		}
		var reports []checked
		var problems []error
		checker, places := definition.NewChecker(), map[string]string{}
		for _, f := range files {
			slug := f.Prism.Slug
			problems = append(problems, checker.Check(f))
			if other := places[slug]; other != "" {
				problems = append(problems, fmt.Errorf("%s: %s is defined in %s too", f.At("slug"), slug, other))
			}
			places[slug] = f.At("slug")
			reports = append(reports, checked{File: f.Name, Prism: slug, Checked: "offline"})
		}
		if err := errors.Join(problems...); err != nil {
			return invalid(err)
		}
		if online {
			c, t, err := a.client()
			if err != nil {
				return err
			}
			changes, err := apply.Plan(cmd.Context(), c, files, false, nil)
			if err != nil {
				return err
			}
			for _, change := range changes {
				for i := range reports {
					if reports[i].Prism == change.Slug {
						reports[i].Checked, reports[i].Change = "by "+t.Host, change.Summary()
					}
				}
			}
		}
		return list(cmd.Context(), a, output, each(reports), checkedColumns, func(c checked) row {
			return row{cells: []string{c.File, c.Prism, c.Checked, c.Change}}
		})
	})
	cmd.Long = `Check definitions of prisms, and change nothing.

The files are checked by the schema and by the rules of the Lens, which needs no Prism and no key. With --online, the
Prism in use checks them too, as "prismctl prisms apply --dry-run" does: also what only it knows, such as its models.
Every problem is listed with its file and line, and the exit code is 3.`
	cmd.Flags().BoolVar(&online, "online", false, "let the Prism in use check the definitions too")
	output = outputFlag(cmd, listFormats...)
	cmd.ValidArgsFunction = nil // a shell completes file names
	return cmd
}
