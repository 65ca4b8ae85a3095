package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) models() *cobra.Command {
	var output *output
	show := func(cmd *cobra.Command, c *client.Client, _ []string) error {
		models, err := c.ListModels(cmd.Context())
		if err != nil {
			return err
		}
		return list(cmd.Context(), a, output, each(models.Data), modelColumns, modelRow)
	}
	cmd := a.calling(description{
		use: "models", short: "List the models that definitions can name",
		example: `prismctl models
prismctl models -o wide`,
	}, show)
	output = outputFlag(cmd, listFormats...)
	cmd.AddCommand(a.modelStates(), a.modelsCheck())
	return cmd
}

func (a *app) modelStates() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "states", short: "Say whether the models are asked, and how their last calls failed",
		example: `prismctl models states
prismctl models states -o json --jq '.[] | select(.state != "asked") | .name'`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		states, err := c.ListModelStates(cmd.Context())
		if err != nil {
			return err
		}
		return list(cmd.Context(), a, output, each(states.Data), stateColumns, stateRow)
	})
	output = outputFlag(cmd, listFormats...)
	return cmd
}

var stateColumns = columns{"name state running max_in_flight failures", "name~ state running failures~"}

func stateRow(s client.ModelState) row {
	places, failures := "", make([]string, len(s.Failures))
	if s.MaxInFlight != nil {
		places = strconv.Itoa(*s.MaxInFlight)
	}
	for i, f := range s.Failures {
		failures[i] = string(f.Reason)
	}
	return row{cells: []string{s.Name, string(s.State), strconv.Itoa(s.Running), places, strings.Join(slices.Compact(failures), " ")}}
}

// modelsCheck checks a model. It fails if a part failed.
func (a *app) modelsCheck() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "check NAME", short: "Ask a model two known questions, and say what works",
		example: `prismctl models check fast
prismctl models check fast -o json --jq '.[] | select(.status != "ok") | .write'`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		check, err := c.CheckModel(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		err = list(cmd.Context(), a, output, each(check.Checks), columns{"part status text write", "part status text~ write~"}, func(p client.CheckedPart) row {
			return row{cells: []string{string(p.Part), string(p.Status), p.Text, optional(p.Write)}}
		})
		if err == nil && !check.OK {
			return &codeError{exitFailed, errTold}
		}
		return err
	})
	output = outputFlag(cmd, listFormats...)
	return cmd
}

var modelColumns = columns{
	"name default provider model probabilities currency input output fallback", "name~ default provider model~ probabilities",
}

func modelRow(m client.Model) row {
	cells := []string{m.Name, "", m.Provider, m.Model, string(m.Probabilities), "", "", "", strings.Join(m.Fallback, " ")}
	if m.Default {
		cells[1] = "default"
	}
	if p := m.Price; p != nil {
		cells[5], cells[6], cells[7] = p.Currency, decimal(p.Input), decimal(p.Output)
	} else if m.PriceReported {
		cells[6] = "reported"
	}
	return row{cells: cells}
}

// decimal is a price without an exponent.
func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
