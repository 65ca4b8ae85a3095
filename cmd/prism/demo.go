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

Makes an account with two prisms, keys, the results of a month and a run of a file, to look at in the console. The offline
model answers; names of models, times, tokens and costs are made up.

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

// fill composes the services without a server and with a clock that the demo sets, and fills a new account.
func fill(ctx context.Context, cfg results.Config, name string, plan sample.Plan, called string, stdout io.Writer, log *slog.Logger) error {
	var clock sample.Clock
	service, err := results.Open(ctx, cfg, results.Deps{Log: log, Now: clock.Now})
	if err != nil {
		return err
	}
	defer service.Close()
	if err := service.Migrate(ctx); err != nil {
		return err
	}
	models, err := modelproxy.New(modelproxy.Config{Provider: "offline"}, modelproxy.Deps{Log: log})
	if err != nil {
		return err
	}
	rows, err := gateway.NewRows(gateway.Config{}, gateway.RowsDeps{
		Results: service, Models: models, Metrics: prometheus.NewRegistry(), Log: log, Tracer: noop.NewTracerProvider(),
	})
	if err != nil {
		return err
	}
	worker, err := runs.New(runs.Config{}, runs.Deps{
		Leases: service, Rows: rows, Metrics: prometheus.NewRegistry(), Log: log, Tracer: noop.NewTracerProvider(),
	})
	if err != nil {
		return err
	}
	op := service.Operator()
	var account prism.AccountID
	d := sample.Deps{
		Results: service, Models: models, Clock: &clock,
		Account: func(ctx context.Context) (err error) { account, err = op.CreateAccount(ctx, name); return err },
		Key: func(ctx context.Context, name string, role prism.Role) (contract.KeyDigest, error) {
			text, err := op.CreateKey(ctx, account, name, role)
			key, _ := apikey.Parse(text)
			return key.Digest(), err
		},
		Work: func(ctx context.Context) { work(ctx, service, worker) },
	}
	began := time.Now()
	if err := sample.Fill(ctx, d, plan); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "The account %[1]q has %d results and a run, made in %s. To look at it:\n\n  %[4]s console link --account %[1]s\n",
		name, plan.Calls, time.Since(began).Round(time.Second), called)
	return err
}

// work reads files and answers the rows of runs until ctx ends.
func work(ctx context.Context, service *results.Service, worker *runs.Service) {
	stored := make(chan struct{})
	go func() { defer close(stored); _ = service.Run(ctx) }()
	worker.Run(ctx)
	<-stored
}
