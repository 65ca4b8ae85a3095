package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/prism"
)

func (a *app) views() *cobra.Command {
	views := group("views", "Save, list and delete views of results, which the account shares")
	views.AddCommand(a.viewsSave(), a.viewsList(), a.viewsDelete())
	return views
}

func (a *app) viewsSave() *cobra.Command {
	var (
		status, from, to, replaced, key, run, ref string
		view                                      client.NewView
		search                                    client.ResultSearch
	)
	cmd := a.calling(description{
		use: "save NAME", short: "Save a view and print its id",
		example: `prismctl views save "Sure about billing" --prism tickets --where topic:is:billing --where topic:from:0.8 --sort -urgency@average
prismctl views save Failed --status failed --default`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		view.Name, view.Filters.Status, view.Filters.Q, view.Filters.Where = args[0], client.Status(status), search.Q, search.Where
		if cmd.Flags().Changed("ref") {
			view.Filters.Ref = &ref
		}
		begin, end, err := period(from, to)
		if err != nil {
			return err
		}
		for _, bound := range []struct {
			to *(*client.Time)
			at client.Time
		}{{&view.Filters.From, client.Time{Time: begin}}, {&view.Filters.To, client.Time{Time: end}}} {
			if !bound.at.IsZero() {
				*bound.to = &bound.at
			}
		}
		if view.Filters.Key, view.Filters.Run, err = filterIDs(key, run); err != nil {
			return err
		}
		saved, err := saveView(cmd, c, replaced, view)
		if err == nil {
			_, err = fmt.Fprintln(a.out, saved.ID)
		}
		return err
	})
	selectFlags(cmd, &status, &ref, &view.Filters.Model, &key, &run, &search)
	cmd.Flags().Int32Var(&view.Filters.Version, "version", 0, "only results of this version")
	timeFlags(cmd, &from, &to)
	assigneeFlag(cmd, &view.Filters.Assignee)
	cmd.Flags().StringVar(&view.Filters.Sort, "sort", "", "the order, as of results list")
	a.prismFlag(cmd, &view.Filters.Prism, "only results of this prism")
	cmd.Flags().StringArrayVar(&view.Columns, "column", nil, "a column of the table; may be given several times, in their order")
	cmd.Flags().BoolVar(&view.Default, "default", false, "have the console begin with the view: of its prism, or of all results")
	cmd.Flags().StringVar(&replaced, "replace", "", "replace all of the view of this id")
	completeFlag(cmd, "replace", a.completeViews)
	return cmd
}

// filterIDs reads --key-id and --run.
func filterIDs(key, run string) (k prism.KeyID, r prism.RunID, err error) {
	for _, id := range []struct {
		to         *prism.UUID
		flag, text string
	}{{&k.UUID, "key-id", key}, {&r.UUID, "run", run}} {
		if id.text == "" {
			continue
		}
		if *id.to, err = prism.ParseUUID(id.text); err != nil {
			return k, r, usage(errors.New("--" + id.flag + " takes an id"))
		}
	}
	return k, r, nil
}

func saveView(cmd *cobra.Command, c *client.Client, replaced string, view client.NewView) (client.View, error) {
	if replaced == "" {
		return c.CreateView(cmd.Context(), view)
	}
	return c.ReplaceView(cmd.Context(), replaced, view)
}

func (a *app) viewsList() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "list", short: "List views, newest first",
		example: `prismctl views list
prismctl views list -o json --jq '.[] | select(.default) | .name'`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		return list(cmd.Context(), a, output, c.Views(cmd.Context()), viewColumns, func(v client.View) row {
			filters, _ := json.Marshal(v.Filters) // of texts, numbers and times, which always have a form
			return row{cells: []string{v.ID, v.Name, v.Filters.Prism, string(filters), strconv.FormatBool(v.Default), v.CreatedAt.String()}}
		})
	})
	output = outputFlag(cmd, listFormats...)
	return cmd
}

var viewColumns = columns{"id name prism filters default created_at", "id name~ prism~ default"}

func (a *app) viewsDelete() *cobra.Command {
	return a.calling(description{
		use: "delete ID", short: "Delete a view for the whole account; its results stay",
		example: `prismctl views delete "$VIEW"`, complete: a.completeViews,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		if err := c.DeleteView(cmd.Context(), args[0]); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(a.err, "%s is deleted.\n", printable(args[0]))
		return nil
	})
}
