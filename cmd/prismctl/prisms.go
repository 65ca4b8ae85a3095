package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/cmd/prismctl/internal/definition"
)

func (a *app) prisms() *cobra.Command {
	prisms := group("prisms", "Define, list and archive prisms")
	prisms.AddCommand(a.apply(), a.prismsList(), a.prismsGet(), a.prismsVersions(), a.prismsRename(), a.prismsRetention(), a.prismsPreview(),
		a.archive("archive PRISM...", "Archive prisms: they take no calls, and their results stay readable", "archived", (*client.Client).ArchivePrism),
		a.archive("unarchive PRISM...", "Let archived prisms take calls again", "unarchived", (*client.Client).UnarchivePrism))
	return prisms
}

func (a *app) prismsList() *cobra.Command {
	var (
		output string
		filter client.PrismFilter
	)
	cmd := a.calling("list", "List prisms, newest first", cobra.NoArgs, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		prisms := c.Prisms(cmd.Context(), filter)
		return list(a, output, prisms, "slug name version questions created_at archived_at", func(p client.Prism) row {
			return row{cells: []string{
				p.Slug, optional(p.Name), strconv.Itoa(p.LatestVersion), strconv.Itoa(len(p.Version.Questions)), p.CreatedAt.String(), optional(p.ArchivedAt),
			}}
		})
	})
	outputFlag(cmd, &output)
	cmd.Flags().BoolVar(&filter.Archived, "archived", false, "list the archived prisms instead")
	cmd.Flags().BoolVar(&filter.All, "all", false, "list the archived prisms too")
	cmd.MarkFlagsMutuallyExclusive("archived", "all")
	return cmd
}

func (a *app) prismsVersions() *cobra.Command {
	var output string
	cmd := a.calling("versions PRISM", "List the versions of a prism, newest first", cobra.ExactArgs(1), func(cmd *cobra.Command, c *client.Client, args []string) error {
		return list(a, output, c.Versions(cmd.Context(), args[0]), "version fields questions created_at", func(v client.Version) row {
			return row{cells: []string{
				strconv.Itoa(v.Version), strconv.Itoa(len(v.Fields)), strconv.Itoa(len(v.Questions)), v.CreatedAt.String(),
			}}
		})
	})
	outputFlag(cmd, &output)
	cmd.ValidArgsFunction = a.completePrisms
	return cmd
}

func (a *app) prismsRename() *cobra.Command {
	cmd := a.calling("rename PRISM NAME", "Change the name of a prism, which is for people; \"\" is no name", cobra.ExactArgs(2), func(cmd *cobra.Command, c *client.Client, args []string) error {
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
		output  string
		version int
	)
	cmd := a.calling("get PRISM", "Show a prism as a file for apply", cobra.ExactArgs(1), func(cmd *cobra.Command, c *client.Client, args []string) error {
		p, err := c.ReadPrism(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if version != 0 {
			if p.Version, err = c.ReadVersion(cmd.Context(), args[0], version); err != nil {
				return err
			}
		}
		switch output {
		case "yaml":
			return a.showPrism(p)
		case "json":
			return writeJSON(a.out, p, "  ")
		case "jsonl":
			return writeJSON(a.out, p, "")
		}
		return usage(fmt.Errorf("unknown output %q: yaml, json or jsonl", output))
	})
	cmd.Flags().StringVarP(&output, "output", "o", "yaml", "format: yaml, json or jsonl")
	choices(cmd, "output", "yaml", "json", "jsonl")
	cmd.Flags().IntVar(&version, "version", 0, "show this version instead of the latest")
	cmd.ValidArgsFunction = a.completePrisms
	return cmd
}

func (a *app) showPrism(p client.Prism) error {
	text := definition.YAML(definition.Of(p))
	archived := ""
	if p.ArchivedAt != nil {
		archived = ", archived " + p.ArchivedAt.String()
	}
	_, err := fmt.Fprintf(a.out, "# %s, version %d of %s%s\n%s", p.ID, p.Version.Version, p.Version.CreatedAt, archived, text)
	return err
}

func (a *app) archive(use, short, done string, change func(*client.Client, context.Context, string, ...client.CallOption) (client.Prism, error)) *cobra.Command {
	cmd := a.calling(use, short, cobra.MinimumNArgs(1), func(cmd *cobra.Command, c *client.Client, args []string) error {
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

// completePrisms completes slugs, as far as Prism lists them within two seconds.
func (a *app) completePrisms(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c, _, err := a.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
	defer cancel()
	var slugs []string
	for p, err := range c.Prisms(ctx, client.PrismFilter{}) {
		if err != nil {
			break
		}
		slugs = append(slugs, p.Slug+"\t"+optional(p.Name))
	}
	return slugs, cobra.ShellCompDirectiveNoFileComp
}
