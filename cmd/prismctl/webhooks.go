package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) webhooks() *cobra.Command {
	webhooks := group("webhooks", "Have events sent to a URL, and see how that goes")
	webhooks.AddCommand(a.webhooksCreate(), a.webhooksList(), a.webhooksGet(), a.webhooksReplace(), a.webhooksSwitch(true), a.webhooksSwitch(false),
		a.webhooksDelete(), a.webhooksTest(), a.webhooksRotate(), a.webhooksDeliveries(), a.webhooksResend(), a.webhooksListen())
	return webhooks
}

// newWebhook are the flags of a webhook.
type newWebhook struct {
	client.NewWebhook
	events            []string
	status, condition string
	off               bool
}

func (a *app) webhookFlags(cmd *cobra.Command, n *newWebhook) {
	types := client.EventType("").Values()
	cmd.Flags().StringSliceVar(&n.events, "event", nil, "an event that is sent: "+strings.Join(types, ", ")+"; may be given several times")
	choices(cmd, "event", types...)
	required(cmd, "event")
	cmd.Flags().StringArrayVar(&n.Prisms, "prism", nil, "only events of this prism; may be given several times")
	completeFlag(cmd, "prism", func(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		return a.completePrisms(cmd, nil, start)
	})
	cmd.Flags().StringVar(&n.status, "status", "", "only result.created of results with this status: ok or failed")
	choices(cmd, "status", "ok", "failed")
	cmd.Flags().StringVar(&n.condition, "condition", "", "only result.created whose Lens fits COLUMN:OP:VALUE, such as topic:is:billing or topic_probability:from:0.8; OP is is, not, from or to")
	cmd.Flags().BoolVar(&n.Answers, "answers", false, "send the columns of the Lens of ok results too")
	cmd.Flags().BoolVar(&n.RunRows, "run-rows", false, "send result.created of rows of runs too, up to 100 results in an event")
	cmd.Flags().BoolVar(&n.off, "disabled", false, "send nothing until the webhook is enabled")
}

// sent is the webhook that the flags describe.
func (n *newWebhook) sent(url string) (client.NewWebhook, error) {
	n.URL, n.Status, n.Enabled = url, client.Status(n.status), new(!n.off)
	for _, e := range n.events {
		n.Events = append(n.Events, client.EventType(e))
	}
	if n.condition != "" {
		parts := strings.SplitN(n.condition, ":", 3)
		if len(parts) != 3 || slices.Contains(parts, "") {
			return client.NewWebhook{}, usage(errors.New("--condition takes COLUMN:OP:VALUE, such as topic:is:billing"))
		}
		n.Condition = &client.EventCondition{Column: parts[0], Op: client.ConditionOp(parts[1]), Value: parts[2]}
	}
	return n.NewWebhook, nil
}

func (a *app) webhooksCreate() *cobra.Command {
	var n newWebhook
	cmd := a.calling(description{
		use: "create URL", short: "Create a webhook and print its secret, this one time",
		example: `prismctl webhooks create https://example.com/hooks/prism --event result.created --event run.finished
prismctl webhooks create https://example.com/hooks/prism --event result.created --prism tickets --condition topic:is:billing --answers`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		sent, err := n.sent(args[0])
		if err != nil {
			return err
		}
		made, err := c.CreateWebhook(cmd.Context(), sent)
		if err != nil {
			return err
		}
		return a.writeSecret(made, "Webhook "+made.ID+".")
	})
	a.webhookFlags(cmd, &n)
	return cmd
}

// writeSecret prints a secret, and beside it what was done and what the secret is for.
func (a *app) writeSecret(w client.CreatedWebhook, done string) error {
	_, _ = fmt.Fprintf(a.err, "%s Its secret is shown only now: give it to the receiver, which verifies each event with it.\n", done)
	_, err := fmt.Fprintln(a.out, w.Secret.Reveal())
	return err
}

func (a *app) webhooksList() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "list", short: "List webhooks, newest first",
		example: `prismctl webhooks list
prismctl webhooks list -o json --jq '.[] | select(.disabled_reason != null) | .id'`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		return list(cmd.Context(), a, output, c.Webhooks(cmd.Context()), webhookColumns, func(w client.Webhook) row {
			return row{cells: []string{
				w.ID, w.URL, eventNames(w.Events), strings.Join(w.Prisms, " "), optional(w.Status), conditionText(w.Condition), strconv.FormatBool(w.Answers),
				strconv.FormatBool(w.RunRows), webhookState(w), strconv.FormatInt(w.Waiting, 10), optional(w.PreviousSecretUntil), w.CreatedAt.String(),
			}}
		})
	})
	output = outputFlag(cmd, listFormats...)
	return cmd
}

var webhookColumns = columns{
	"id url events prisms status condition answers run_rows state waiting previous_secret_until created_at", "id url~ state waiting",
}

func eventNames(events []client.EventType) string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = string(e)
	}
	return strings.Join(names, " ")
}

func conditionText(c *client.EventCondition) string {
	if c == nil {
		return ""
	}
	return c.Column + ":" + string(c.Op) + ":" + c.Value
}

// webhookState is whether a webhook sends events, and if not, why.
func webhookState(w client.Webhook) string {
	switch {
	case w.Enabled:
		return "enabled"
	case w.DisabledReason != nil:
		return string(*w.DisabledReason)
	}
	return "disabled"
}

func (a *app) webhooksGet() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "get ID", short: "Read a webhook, without its secret", example: `prismctl webhooks get "$WEBHOOK"`, complete: a.completeWebhooks,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		w, err := c.ReadWebhook(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.write(cmd.Context(), output, w)
	})
	output = outputFlag(cmd, "json", "yaml", "jsonl")
	return cmd
}

func (a *app) webhooksReplace() *cobra.Command {
	var n newWebhook
	cmd := a.calling(description{
		use: "replace ID URL", short: "Replace all of a webhook but its id, its secret and what waits",
		example:  `prismctl webhooks replace "$WEBHOOK" https://example.com/hooks/new --event result.failed`,
		complete: a.completeWebhooks,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		sent, err := n.sent(args[1])
		if err != nil {
			return err
		}
		w, err := c.ReplaceWebhook(cmd.Context(), args[0], sent)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(a.err, "Webhook %s is replaced, and %s.\n", w.ID, webhookState(w))
		return nil
	})
	a.webhookFlags(cmd, &n)
	return cmd
}

// webhooksSwitch is the command that enables or disables a webhook and keeps the rest of it.
func (a *app) webhooksSwitch(on bool) *cobra.Command {
	command := description{
		use: "disable ID", short: "Send no more events: what waits fails, and what happens meanwhile is not sent later",
		example: `prismctl webhooks disable "$WEBHOOK"`, complete: a.completeWebhooks,
	}
	if on {
		command.use, command.short = "enable ID", "Send what happens from now on, also after Prism has disabled the webhook"
		command.example = `prismctl webhooks enable "$WEBHOOK"`
	}
	return a.calling(command, func(cmd *cobra.Command, c *client.Client, args []string) error {
		w, err := c.ReadWebhook(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		sent := client.NewWebhook{
			URL: w.URL, Events: w.Events, Prisms: w.Prisms, Condition: w.Condition, Answers: w.Answers, RunRows: w.RunRows, Enabled: &on,
		}
		if w.Status != nil {
			sent.Status = *w.Status
		}
		if w, err = c.ReplaceWebhook(cmd.Context(), args[0], sent); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(a.err, "Webhook %s is %s.\n", w.ID, webhookState(w))
		return nil
	})
}

func (a *app) webhooksDelete() *cobra.Command {
	return a.calling(description{
		use: "delete ID", short: "Delete a webhook with what waits and its deliveries",
		example: `prismctl webhooks delete "$WEBHOOK"`, complete: a.completeWebhooks,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		if err := c.DeleteWebhook(cmd.Context(), args[0]); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(a.err, "%s is deleted.\n", printable(args[0]))
		return nil
	})
}

func (a *app) webhooksRotate() *cobra.Command {
	return a.calling(description{
		use: "rotate ID", short: "Make a new secret and print it, this one time; the old one signs for 24 hours too",
		example: `prismctl webhooks rotate "$WEBHOOK"`, complete: a.completeWebhooks,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		made, err := c.RotateWebhook(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.writeSecret(made, "Webhook "+made.ID+" has a new secret; the old one signs too until "+optional(made.PreviousSecretUntil)+".")
	})
}

const (
	// webhookTestWait is how long test waits for the outcome: a try takes 15 seconds at most.
	webhookTestWait  = 30 * time.Second
	webhookTestPause = 250 * time.Millisecond
)

func (a *app) webhooksTest() *cobra.Command {
	return a.calling(description{
		use: "test ID", short: "Send an event webhook.test, and wait for what the receiver answers",
		example: `prismctl webhooks test "$WEBHOOK"`, complete: a.completeWebhooks,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		sent, err := c.TestWebhook(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		for begun := time.Now(); sent.Status == client.DeliveryWaiting && time.Since(begun) < webhookTestWait; {
			select {
			case <-cmd.Context().Done():
				return cmd.Context().Err()
			case <-time.After(webhookTestPause):
			}
			page, err := c.ListDeliveries(cmd.Context(), args[0], "", client.PageOptions{Limit: 100})
			if err != nil {
				return err
			}
			if i := slices.IndexFunc(page.Data, func(d client.Delivery) bool { return d.ID == sent.ID }); i >= 0 {
				sent = page.Data[i]
			}
		}
		switch sent.Status {
		case client.DeliveryDelivered:
			_, _ = fmt.Fprintf(a.err, "The receiver answered %s.\n", lastTry(sent))
			return nil
		case client.DeliveryFailed:
			return &codeError{exitFailed, fmt.Errorf("the test was not delivered: %s", lastTry(sent))}
		case client.DeliveryWaiting:
		}
		return &codeError{exitUnavailable, errors.New("the test still waits: prismctl webhooks deliveries " + args[0] + " will show what becomes of it")}
	})
}

// tryErrors are the errors of a try in words.
var tryErrors = map[client.TryError]string{
	client.TryRefused:    "the address is not public, and the operator has not allowed it",
	client.TryUnresolved: "the host is not known",
	client.TryConnection: "no connection, or it broke",
	client.TryTLS:        "the certificate is not valid for the host",
	client.TryTimeout:    "no answer within 15 seconds",
	client.TryStatus:     "the answer is not 2xx",
}

// lastTry is what became of the newest try of a delivery.
func lastTry(d client.Delivery) string {
	if len(d.Tries) == 0 {
		return ""
	}
	t := d.Tries[len(d.Tries)-1]
	var parts []string
	if t.Status != nil {
		parts = append(parts, strconv.Itoa(*t.Status))
	}
	if t.Error != nil {
		parts = append(parts, cmp.Or(tryErrors[*t.Error], string(*t.Error)))
	}
	return fmt.Sprintf("%s after %d ms", strings.Join(parts, ", "), t.TookMS)
}

func (a *app) webhooksDeliveries() *cobra.Command {
	var output *output
	var status string
	cmd := a.calling(description{
		use: "deliveries ID", short: "List the events for a webhook, newest first, and how they were tried",
		example: `prismctl webhooks deliveries "$WEBHOOK"
prismctl webhooks deliveries "$WEBHOOK" --status failed -o json --jq '.[].id'`, complete: a.completeWebhooks,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		all := c.Deliveries(cmd.Context(), args[0], client.DeliveryStatus(status))
		return list(cmd.Context(), a, output, all, deliveryColumns, func(d client.Delivery) row {
			return row{cells: []string{d.ID, d.Event, d.At.String(), string(d.Status), optional(d.NextAt), strconv.Itoa(len(d.Tries)), lastTry(d)}}
		})
	})
	cmd.Flags().StringVar(&status, "status", "", "only deliveries in this state: waiting, delivered or failed")
	choices(cmd, "status", client.DeliveryStatus("").Values()...)
	output = outputFlag(cmd, listFormats...)
	return cmd
}

var deliveryColumns = columns{"id event at status next_at tries last_try", "id event~ status last_try~"}

func (a *app) webhooksResend() *cobra.Command {
	return a.calling(description{
		use: "resend ID DELIVERY", short: "Send an event that was delivered or has failed again",
		example: `prismctl webhooks resend "$WEBHOOK" "$DELIVERY"`, complete: a.completeDeliveries,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		d, err := c.ResendDelivery(cmd.Context(), args[0], args[1])
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(a.err, "%s (%s) is sent again.\n", d.ID, printable(d.Event))
		return nil
	})
}
