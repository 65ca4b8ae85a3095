package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) models() *cobra.Command {
	var output string
	show := func(cmd *cobra.Command, c *client.Client, _ []string) error {
		models, err := c.ListModels(cmd.Context())
		if err != nil {
			return err
		}
		return list(a, output, each(models.Data), "name default provider model probabilities currency input output fallback", modelRow)
	}
	cmd := a.calling("models", "List the models that definitions can name", cobra.NoArgs, show)
	outputFlag(cmd, &output)
	return cmd
}

func modelRow(m client.Model) row {
	cells := []string{m.Name, "", m.Provider, m.Model, string(m.Probabilities), "", "", "", strings.Join(m.Fallback, " ")}
	if m.Default {
		cells[1] = "default"
	}
	if p := m.Price; p != nil {
		cells[5], cells[6], cells[7] = p.Currency, decimal(p.Input), decimal(p.Output)
	}
	return row{cells: cells}
}

// decimal is a price without an exponent.
func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
