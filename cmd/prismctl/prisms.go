package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/definition"
)

func (a *app) prisms() *cobra.Command {
	prisms := group("prisms", "Define, list and archive prisms")
	prisms.AddCommand(a.apply(), a.prismsList(), a.prismsGet(), a.prismsVersions(), a.prismsRename(), a.prismsRetention(),
		a.prismsSearchable(), a.prismsPreview(), a.prismsDistribution(),
		a.archive(description{
			use: "archive PRISM...", short: "Archive prisms: they take no calls, and their results stay readable",
			example: `prismctl prisms archive tickets`,
		}, "archived", (*client.Client).ArchivePrism),
		a.archive(description{
			use: "unarchive PRISM...", short: "Let archived prisms take calls again",
			example: `prismctl prisms unarchive tickets`,
		}, "unarchived", (*client.Client).UnarchivePrism))
	return prisms
}

func (a *app) prismsList() *cobra.Command {
	var (
		output *output
		filter client.PrismFilter
	)
	cmd := a.calling(description{
		use: "list", short: "List prisms, newest first",
		example: `prismctl prisms list
prismctl prisms list --all -o wide`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		prisms := c.Prisms(cmd.Context(), filter)
		return list(cmd.Context(), a, output, prisms, prismColumns, func(p client.Prism) row {
			return row{cells: []string{
				p.Slug, optional(p.Name), strconv.Itoa(p.LatestVersion), strconv.Itoa(len(p.Version.Questions)), p.CreatedAt.String(),
				optional(p.ArchivedAt), optional(p.Version.Model), optional(p.RetentionDays), p.ID,
			}}
		})
	})
	output = outputFlag(cmd, listFormats...)
	cmd.Flags().BoolVar(&filter.Archived, "archived", false, "list the archived prisms instead")
	cmd.Flags().BoolVar(&filter.All, "all", false, "list the archived prisms too")
	cmd.Flags().BoolVar(&filter.AdHoc, "adhoc", false, "list the ad-hoc prisms instead, which other lists leave out")
	cmd.MarkFlagsMutuallyExclusive("archived", "all", "adhoc")
	return cmd
}

var prismColumns = columns{
	"slug name version questions created_at archived_at model retention_days id",
	"slug~ name~ version questions created_at:created archived_at:archived",
}

func (a *app) prismsVersions() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "versions PRISM", short: "List the versions of a prism, newest first",
		example: `prismctl prisms versions tickets`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		return list(cmd.Context(), a, output, c.Versions(cmd.Context(), args[0]), versionColumns, func(v client.Version) row {
			return row{cells: []string{
				strconv.Itoa(v.Version), strconv.Itoa(len(v.Fields)), strconv.Itoa(len(v.Questions)), v.CreatedAt.String(),
				optional(v.Model),
			}}
		})
	})
	output = outputFlag(cmd, listFormats...)
	cmd.ValidArgsFunction = a.completePrisms
	return cmd
}

var versionColumns = columns{"version fields questions created_at model", "version fields questions created_at:created"}

func (a *app) prismsRename() *cobra.Command {
	cmd := a.calling(description{
		use: "rename PRISM NAME", short: "Change the name of a prism, which is for people; \"\" is no name",
		example: `prismctl prisms rename tickets "Support tickets"`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		p, err := c.RenamePrism(cmd.Context(), args[0], args[1])
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(a.err, "%s is named %q.\n", p.Slug, optional(p.Name))
		return nil
	})
	cmd.ValidArgsFunction = a.completePrisms
	return cmd
}

func (a *app) prismsGet() *cobra.Command {
	var (
		output  *output
		version int
	)
	cmd := a.calling(description{
		use: "get PRISM", short: "Show a prism as a file for apply",
		example: `prismctl prisms get tickets > tickets.yaml
prismctl prisms get tickets --version 2
prismctl prisms get tickets -o json --jq '.version.questions[].key'`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		p, err := readPrism(cmd.Context(), c, args[0], version)
		if err != nil {
			return err
		}
		if output.format == "definition" {
			return a.showPrism(p)
		}
		return a.write(cmd.Context(), output, p)
	})
	cmd.Long = `Show a prism as a file for apply. The other formats have every member of the API, which apply does not take.`
	output = outputFlag(cmd, "definition", "json", "yaml", "jsonl")
	cmd.Flags().IntVar(&version, "version", 0, "show this version instead of the latest")
	cmd.ValidArgsFunction = a.completePrisms
	return cmd
}

// readPrism reads a prism with one of its versions; 0 is the latest.
func readPrism(ctx context.Context, c *client.Client, prism string, version int) (client.Prism, error) {
	p, err := c.ReadPrism(ctx, prism)
	if err == nil && version != 0 {
		p.Version, err = c.ReadVersion(ctx, prism, version)
	}
	return p, err
}

func (a *app) showPrism(p client.Prism) error {
	text := definition.YAML(definition.FromPrism(p))
	archived := ""
	if p.ArchivedAt != nil {
		archived = ", archived " + p.ArchivedAt.String()
	}
	_, err := fmt.Fprintf(a.out, "# %s, version %d of %s%s\n%s", p.ID, p.Version.Version, p.Version.CreatedAt, archived, text)
	return err
}

func (a *app) archive(d description, done string, change func(*client.Client, context.Context, string, ...client.CallOption) (client.Prism, error)) *cobra.Command {
	cmd := a.calling(d, func(cmd *cobra.Command, c *client.Client, args []string) error {
		for _, name := range args {
			p, err := change(c, cmd.Context(), name)
			if err != nil {
				return &aboutError{name, err}
			}
			_, _ = fmt.Fprintf(a.err, "%s is %s.\n", p.Slug, done)
		}
		return nil
	})
	cmd.ValidArgsFunction = a.completePrisms
	return cmd
}
