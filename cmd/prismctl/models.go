package main

import (
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
	cmd := a.calling(about{
		use: "models", short: "List the models that definitions can name",
		example: `prismctl models
prismctl models -o wide`,
	}, show)
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
