package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/prism-results/prism/cmd/prism/internal/sample"
	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway"
	modelproxy "github.com/prism-results/prism/services/model-proxy"
	"github.com/prism-results/prism/services/results"
	"github.com/prism-results/prism/services/runs"
)

const fillUsage = `usage: prism demo [--account NAME] [--results N] [--days N]

Makes an account with what a team leaves in a month, to look at in the console: two prisms, one with two versions, keys,
members, results with failures, 400 of them labelled, calibrations, drift, runs, one of them paused, and comments. The offline model
answers; names of models, times, tokens and costs are made up.

  --account NAME  of the new account (default example)
  --results N     calls, 1 to 1,000,000 (default 5000)
  --days N        over which they are spread, until now, 1 to 365 (default 30)
`

// demoUsage is the line of the command demo in --help, in the form of operator.Usage.
const demoUsage = "  demo [--account NAME] [--results N] [--days N]              make an account with a month of results to look at\n"

// fillDemo runs the command demo.
func fillDemo(ctx context.Context, args []string, env config.Environment, stdout, stderr io.Writer) error {
	var name string
	plan := sample.Plan{Until: prism.Now(time.Now)}
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&name, "account", "example", "")
	flags.IntVar(&plan.Calls, "results", 5000, "")
	flags.IntVar(&plan.Days, "days", 30, "")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		_, _ = io.WriteString(stdout, fillUsage)
		return err
	} else if err != nil || flags.NArg() > 0 || plan.Calls < 1 || plan.Calls > 1_000_000 || plan.Days < 1 || plan.Days > 365 {
		return errors.New(strings.TrimSpace(fillUsage))
	}
	s, err := config.Parse[storeSettings](nil, env, stdout)
	if err != nil {
		return err
	}
	return fill(ctx, s.config(), name, plan, env.Called, stdout, slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
}

// fill fills a new account of a store.
func fill(ctx context.Context, cfg results.Config, name string, plan sample.Plan, called string, stdout io.Writer, log *slog.Logger) error {
	p, err := compose(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer p.results.Close()
	defer p.models.Close()
	op := p.results.Operator()
	var account prism.AccountID
	d := sample.Deps{
		Results: p.results, Console: p.results, Models: p.models, Clock: &p.clock,
		Account: func(ctx context.Context) (err error) { account, err = op.CreateAccount(ctx, name); return err },
		Key: func(ctx context.Context, name string, role prism.Role) (contract.KeyDigest, error) {
			text, err := op.CreateKey(ctx, account, name, role)
			key, _ := apikey.Parse(text)
			return key.Digest(), err
		},
		Work: p.work,
	}
	began := time.Now()
	if err := sample.Fill(ctx, d, plan); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "The account %[1]q has %[2]d results with labels, calibrations, drift, runs and comments, made in %[3]s. "+
		"To look at it:\n\n  %[4]s console link --account %[1]s\n",
		name, plan.Calls, time.Since(began).Round(time.Second), called)
	return err
}

// composed is the services without a server, with the offline model and a clock that is set.
type composed struct {
	results *results.Service
	models  *modelproxy.Service
	worker  *runs.Service
	clock   sample.Clock
}

// compose composes the services over a store, which it migrates. The caller closes results and models.
func compose(ctx context.Context, cfg results.Config, log *slog.Logger) (c *composed, err error) {
	c = &composed{}
	if c.results, err = results.Open(ctx, cfg, results.Deps{Log: log, Now: c.clock.Now}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.results.Close()
		}
	}()
	if err := c.results.Migrate(ctx); err != nil {
		return nil, err
	}
	if c.models, err = modelproxy.New(modelproxy.Config{Provider: "offline"}, modelproxy.Deps{Log: log}); err != nil {
		return nil, err
	}
	rows, err := gateway.NewRows(gateway.Config{}, gateway.RowsDeps{
		Results: c.results, Models: c.models, Metrics: prometheus.NewRegistry(), Log: log, Tracer: noop.NewTracerProvider(),
	})
	if err != nil {
		return nil, err
	}
	c.worker, err = runs.New(runs.Config{}, runs.Deps{
		Leases: c.results, Rows: rows, Metrics: prometheus.NewRegistry(), Log: log, Tracer: noop.NewTracerProvider(),
	})
	return c, err
}

// work reads files, answers the rows of runs, and counts the answers of watched prisms, until ctx ends.
func (c *composed) work(ctx context.Context) {
	stored := make(chan struct{})
	go func() { defer close(stored); _ = c.results.Run(ctx) }()
	c.worker.Run(ctx)
	<-stored
}
