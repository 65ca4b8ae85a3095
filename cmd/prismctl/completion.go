package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

// listCompletion completes the first argument with the items that read lists within two seconds. line is the value of an item, a
// tab, and a description.
func listCompletion[T any](a *app, read func(context.Context, *client.Client) (client.Page[T], error), line func(T) string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (lines []string, _ cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c, _, err := a.client()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
		defer cancel()
		page, err := read(ctx, c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, item := range page.Data {
			lines = append(lines, line(item))
		}
		return lines, cobra.ShellCompDirectiveNoFileComp
	}
}

// completePrisms completes the slugs of prisms.
func (a *app) completePrisms(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	return listCompletion(a, func(ctx context.Context, c *client.Client) (page client.Page[client.Prism], _ error) {
		for p, err := range c.Prisms(ctx, client.PrismFilter{}) {
			if err != nil {
				break // complete with the prisms so far
			}
			page.Data = append(page.Data, p)
		}
		return page, nil
	}, func(p client.Prism) string { return p.Slug + "\t" + optional(p.Name) })(cmd, args, start)
}

// completeRuns completes the ids of the newest runs.
func (a *app) completeRuns(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	return listCompletion(a, func(ctx context.Context, c *client.Client) (client.Page[client.Run], error) {
		return c.ListRuns(ctx, client.RunFilter{}, client.PageOptions{})
	}, func(r client.Run) string { return fmt.Sprintf("%s\t%s, %s", r.ID, r.Prism, r.Status) })(cmd, args, start)
}

// completeResults completes the ids of the newest results.
func (a *app) completeResults(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	return listCompletion(a, func(ctx context.Context, c *client.Client) (client.Page[client.Result], error) {
		found, err := c.ListResults(ctx, client.ResultFilter{}, client.PageOptions{})
		return found.Page, err
	}, func(r client.Result) string { return fmt.Sprintf("%s\t%s, %s", r.ID, r.Prism, r.Status) })(cmd, args, start)
}

// completeFiles completes the ids of the newest files.
func (a *app) completeFiles(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	return listCompletion(a, func(ctx context.Context, c *client.Client) (client.Page[client.File], error) {
		return c.ListFiles(ctx, client.PageOptions{})
	}, func(f client.File) string { return f.ID + "\t" + f.Name })(cmd, args, start)
}

// completeKeys completes the ids of the newest keys.
func (a *app) completeKeys(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	return listCompletion(a, func(ctx context.Context, c *client.Client) (client.Page[client.APIKey], error) {
		return c.ListKeys(ctx, client.PageOptions{})
	}, func(k client.APIKey) string { return k.ID + "\t" + k.Name + ", " + keyState(k, time.Now()) })(cmd, args, start)
}

// completeViews completes the ids of the newest views.
func (a *app) completeViews(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	return listCompletion(a, func(ctx context.Context, c *client.Client) (client.Page[client.View], error) {
		return c.ListViews(ctx, client.PageOptions{})
	}, func(v client.View) string { return v.ID + "\t" + v.Name })(cmd, args, start)
}

// completeWebhooks completes the ids of webhooks.
func (a *app) completeWebhooks(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	return listCompletion(a, func(ctx context.Context, c *client.Client) (client.Page[client.Webhook], error) {
		return c.ListWebhooks(ctx, client.PageOptions{})
	}, func(w client.Webhook) string { return w.ID + "\t" + w.URL + ", " + webhookState(w) })(cmd, args, start)
}

// completeDeliveries completes a webhook, and behind it the ids of its newest deliveries that can be sent again.
func (a *app) completeDeliveries(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return a.completeWebhooks(cmd, args, start)
	}
	return listCompletion(a, func(ctx context.Context, c *client.Client) (client.Page[client.Delivery], error) {
		return c.ListDeliveries(ctx, args[0], client.DeliveryFailed, client.PageOptions{})
	}, func(d client.Delivery) string { return d.ID + "\t" + d.Event + ", " + d.At.String() })(cmd, nil, start)
}

// completeMembers completes the ids of the newest members.
func (a *app) completeMembers(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	return listCompletion(a, func(ctx context.Context, c *client.Client) (client.Page[client.Member], error) {
		return c.ListMembers(ctx, client.PageOptions{})
	}, func(m client.Member) string { return fmt.Sprintf("%s\t%s, %s", m.ID, m.Name, m.Role) })(cmd, args, start)
}

// completeVersions completes a prism, and behind it the numbers of its versions.
func (a *app) completeVersions(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return a.completePrisms(cmd, args, start)
	}
	return listCompletion(a, func(ctx context.Context, c *client.Client) (client.Page[client.Version], error) {
		return c.ListVersions(ctx, args[0], client.PageOptions{})
	}, func(v client.Version) string { return fmt.Sprintf("%d\t%s", v.Version, v.CreatedAt) })(cmd, nil, start)
}

// completeQuestions completes the keys of the questions of the prism that --prism or the first argument names.
func (a *app) completeQuestions(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	if f := cmd.Flags().Lookup("prism"); f != nil {
		args = []string{f.Value.String()}
	}
	if len(args) == 0 || args[0] == "" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return listCompletion(a, func(ctx context.Context, c *client.Client) (client.Page[client.Question], error) {
		p, err := c.ReadPrism(ctx, args[0])
		return client.Page[client.Question]{Data: p.Version.Questions}, err
	}, func(q client.Question) string { return q.Key + "\t" + q.Text })(cmd, nil, start)
}
