package main

import (
	"context"
	"io"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/daemon"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway"
)

type settings struct {
	Listen   config.Address `env:"PRISM_LISTEN" default:"127.0.0.1:8080" help:"address of the API"`
	Admin    config.Address `env:"PRISM_ADMIN_LISTEN" default:"127.0.0.1:9090" help:"address of /healthz, /readyz and /metrics"`
	Services wire.Callees
	Console  wire.BehindGateway
	Redis    config.URL `env:"PRISM_REDIS_URL" schemes:"redis rediss unix redis+sentinel rediss+sentinel redis+cluster rediss+cluster" example:"redis://127.0.0.1:6379" help:"Redis, for locks; without it they are in memory, right for one gateway alone"`
	Auth     gateway.RedisAuth
	Proxies  httpkit.Proxies `env:"PRISM_TRUSTED_PROXIES" example:"10.0.0.0/8" help:"addresses and networks of proxies whose X-Forwarded-For is believed"`
	Daemon   daemon.Settings
}

func run(ctx context.Context, args []string, env config.Environment, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == "probe" {
		return probe(ctx, args[1:], stdout)
	}
	s, err := config.Parse[settings](args, env, stdout)
	if err != nil {
		return err
	}
	d, err := daemon.New(ctx, "gateway", s.Daemon, env.Getenv, stderr)
	if err != nil {
		return err
	}
	// Each call in flight has a connection to each service if it needs one, so that accounts share the requests in flight and
	// nothing behind them (spec: fair-shares). A call to the model holds its connection for up to 15 s.
	conns := 2 * d.Settings.MaxInFlight
	deps := wire.ClientDeps{Tracer: d.Traces.Provider, Propagator: d.Traces.Propagator}
	services, err := s.Services.Open(ctx, deps, d.Log, d.Metrics, conns, conns)
	if err != nil {
		return err
	}
	defer services.Close()
	console, err := s.Console.Open(services.TLS, deps, d.Log, d.Settings.MaxInFlight)
	if err != nil {
		return err
	}
	if console != nil {
		defer console.Close()
	}
	server := d.Server(s.Proxies)
	g, err := gateway.New(
		gateway.Config{RedisURL: s.Redis.String(), RedisAuth: s.Auth, DrainDelay: s.Daemon.DrainDelay},
		gateway.Deps{
			Results: services.Results, Models: services.Models, Server: server, Console: console,
			Metrics: d.Metrics, Log: d.Log, Tracer: d.Traces.Provider,
		})
	if err != nil {
		return err
	}
	return d.Run(ctx, daemon.Plan{API: s.Listen, Admin: s.Admin, Server: server, Serve: g.Run})
}
