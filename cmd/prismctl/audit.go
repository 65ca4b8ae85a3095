package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) audit() *cobra.Command {
	audit := group("audit", "Read who changed prisms and keys")
	audit.AddCommand(a.auditList())
	return audit
}

func (a *app) auditList() *cobra.Command {
	var (
		from, to string
		filter   client.AuditFilter
		size     listSize
		output   *output
	)
	show := func(cmd *cobra.Command, c *client.Client, _ []string) error {
		limit, err := size.items()
		if err != nil {
			return err
		}
		if filter.From, filter.To, err = period(from, to); err != nil {
			return err
		}
		entries := first(c.Audit(cmd.Context(), filter), limit)
		return list(cmd.Context(), a, output, entries, auditColumns, auditRow)
	}
	cmd := a.calling(description{
		use: "list", short: "List who changed what, newest first",
		example: `prismctl audit list
prismctl audit list --from 2026-11-01 --actor operator -o csv`,
	}, show)
	output = outputFlag(cmd, listFormats...)
	cmd.Flags().StringVar(&from, "from", "", "only changes made at this time or later, such as 2026-11-21 or 2026-11-21T09:00:00Z")
	cmd.Flags().StringVar(&to, "to", "", "only changes made before this time")
	cmd.Flags().StringVar(&filter.Actor, "actor", "", "only changes made with the key with this id, by an operator: operator, by the retention of prisms: retention, or by what sends events: webhooks")
	size.flags(cmd)
	return cmd
}

var auditColumns = columns{"at actor actor_id action object object_id detail", "action object~ actor~ at:when"}

func auditRow(e client.AuditEntry) row {
	detail, err := json.Marshal(e.Detail)
	if err != nil {
		detail = []byte(err.Error())
	}
	return row{cells: []string{
		e.At.String(), e.Actor.Name, optional(e.Actor.ID), string(e.Action), e.Object.Name, e.Object.ID, string(detail),
	}}
}
