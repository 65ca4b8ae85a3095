package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/signature"
)

const (
	// forwardWait is how long a receiver has for its answer, as of a webhook, and listenAgain the pause before a stream that has ended is
	// opened again.
	forwardWait = 15 * time.Second
	listenAgain = time.Second
	// maxEvent bounds the line of an event.
	maxEvent = 16 << 20
)

func (a *app) webhooksListen() *cobra.Command {
	var (
		filter         client.EventFilter
		events         []string
		target, secret string
	)
	cmd := a.calling(description{
		use: "listen", short: "Print what happens from now on, and forward it as a webhook would be sent it",
		example: `prismctl webhooks listen --event result.created --answers
prismctl webhooks listen --forward-to localhost:3000/hook`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		for _, e := range events {
			filter.Events = append(filter.Events, client.EventType(e))
		}
		f := forwarder{app: a, target: target}
		if target != "" {
			if err := f.sign(secret); err != nil {
				return err
			}
		}
		return f.listen(cmd.Context(), c, filter)
	})
	types := client.EventType("").Values()
	cmd.Flags().StringSliceVar(&events, "event", nil, "only this event: "+strings.Join(types, ", ")+"; may be given several times")
	choices(cmd, "event", types...)
	cmd.Flags().StringVar(&filter.Prism, "prism", "", "only events of this prism")
	completeFlag(cmd, "prism", func(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		return a.completePrisms(cmd, nil, start)
	})
	cmd.Flags().BoolVar(&filter.RunRows, "run-rows", false, "have result.created of rows of runs too")
	cmd.Flags().BoolVar(&filter.Answers, "answers", false, "have the columns of the Lens of ok results too")
	cmd.Flags().StringVar(&target, "forward-to", "", "a URL to which each event is sent with POST, signed; without a scheme http")
	cmd.Flags().StringVar(&secret, "secret", "", "the secret that signs forwarded events, whsec_…; a new one, which is printed, if absent")
	return cmd
}

// listen prints and forwards events until ctx ends. A stream that ends is opened again behind the last event.
func (f *forwarder) listen(ctx context.Context, c *client.Client, filter client.EventFilter) error {
	begin, err := c.ListEvents(ctx, filter, 1)
	if err != nil {
		return err
	}
	filter.After = begin.Next
	for {
		stream, err := c.FollowEvents(ctx, filter)
		if err == nil {
			err = f.pass(ctx, stream, &filter.After)
		}
		switch refused, ok := errors.AsType[*client.Error](err); {
		case ctx.Err() != nil:
			return &codeError{exitInterrupted, errTold}
		case ok && refused.Code != client.CodeUnavailable, errors.Is(err, errOutput):
			return err
		}
		select {
		case <-time.After(listenAgain):
		case <-ctx.Done():
			return &codeError{exitInterrupted, errTold}
		}
	}
}

// errOutput is an event that could not be printed.
var errOutput = errors.New("write the event")

// pass prints and forwards the events of a stream. after becomes the id of each.
func (f *forwarder) pass(ctx context.Context, stream io.ReadCloser, after *string) error {
	defer func() { _ = stream.Close() }()
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, maxEvent)
	id := ""
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			id = v
		}
		body, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if _, err := fmt.Fprintln(f.out, body); err != nil {
			return fmt.Errorf("%w: %w", errOutput, err)
		}
		if f.target != "" {
			f.forward(ctx, id, []byte(body))
		}
		*after = id
	}
	return lines.Err()
}

// forwarder prints events, and sends them to a URL if it has one.
type forwarder struct {
	*app
	target string
	secret []byte
}

// sign takes a secret, or makes one and prints it.
func (f *forwarder) sign(secret string) (err error) {
	if !strings.Contains(f.target, "://") {
		f.target = "http://" + f.target
	}
	if secret == "" {
		f.secret, secret = signature.NewSecret()
		_, _ = fmt.Fprintf(f.err, "Events are signed with %s\n", secret)
		return nil
	}
	if f.secret, err = signature.ParseSecret(secret); err != nil {
		return usage(errors.New("--secret takes whsec_ and base64"))
	}
	return nil
}

// forward sends an event, and prints what became of it. It is tried once.
func (f *forwarder) forward(ctx context.Context, id string, body []byte) {
	ctx, cancel := context.WithTimeout(ctx, forwardWait)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.target, bytes.NewReader(body))
	if err != nil {
		_, _ = fmt.Fprintln(f.err, err)
		return
	}
	id = "evt_" + strings.ReplaceAll(id, ".", "_")
	r.Header = signature.Header(id, time.Now(), body, f.secret)
	response, err := (&http.Client{Timeout: forwardWait}).Do(r)
	if err != nil {
		_, _ = fmt.Fprintln(f.err, err)
		return
	}
	_ = response.Body.Close()
	_, _ = fmt.Fprintf(f.err, "%s → %s\n", id, response.Status)
}
