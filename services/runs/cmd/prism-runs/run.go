package main

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/daemon"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway"
	"github.com/prism-results/prism/services/runs"
)

type settings struct {
	Admin    config.Address `env:"PRISM_ADMIN_LISTEN" default:"127.0.0.1:9093" help:"address of /healthz, /readyz and /metrics"`
	Services wire.Callees
	Redis    config.URL `env:"PRISM_REDIS_URL" schemes:"redis rediss unix redis+sentinel rediss+sentinel redis+cluster rediss+cluster" example:"redis://127.0.0.1:6379" help:"the gateways' Redis, for limits of accounts; without it each process counts alone"`
	Auth     gateway.RedisAuth
	Runs     runs.Settings
	Daemon   daemon.Settings
}

func run(ctx context.Context, args []string, env config.Environment, stdout, stderr io.Writer) error {
	s, err := config.Parse[settings](args, env, stdout)
	if err != nil {
		return err
	}
	if s.Runs.Concurrency < 1 {
		return errors.New("PRISM_RUNS_CONCURRENCY: must be at least 1")
	}
	d, err := daemon.New(ctx, "runs", s.Daemon, env.Getenv, stderr)
	if err != nil {
		return err
	}
	deps := wire.ClientDeps{Tracer: d.Traces.Provider, Propagator: d.Traces.Propagator}
	// Each lease may have a save under way beside the leasing and the renewing.
	services, err := s.Services.Open(ctx, deps, d.Log, d.Metrics, runs.MaxLeases+8, s.Runs.Concurrency+8)
	if err != nil {
		return err
	}
	defer services.Close()
	rows, err := gateway.NewRows(
		gateway.Config{RedisURL: s.Redis.String(), RedisAuth: s.Auth},
		gateway.RowsDeps{Results: services.Results, Models: services.Models, Metrics: d.Metrics, Log: d.Log, Tracer: d.Traces.Provider})
	if err != nil {
		return err
	}
	worker, err := runs.New(runs.Config{Concurrency: s.Runs.Concurrency}, runs.Deps{
		Leases: services.Results, Rows: rows, Metrics: d.Metrics, Log: d.Log, Tracer: d.Traces.Provider,
	})
	if err != nil {
		return err
	}
	return d.Run(ctx, daemon.Plan{
		Admin:      s.Admin,
		Checks:     []httpkit.Check{{Name: "results", Probe: worker.Ready}},
		Serve:      func(ctx context.Context, _ net.Listener) error { worker.Run(ctx); return nil },
		Background: func(ctx context.Context) error { rows.Run(ctx); return nil },
	})
}
