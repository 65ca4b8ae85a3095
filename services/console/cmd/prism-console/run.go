package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/prism-results/prism/pkg/build"
	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/daemon"
	"github.com/prism-results/prism/pkg/mtls"
	"github.com/prism-results/prism/services/console"
	"github.com/prism-results/prism/web"
)

type settings struct {
	Listen   config.Address `env:"PRISM_LISTEN" default:"127.0.0.1:8083" help:"address of the service's pages"`
	Admin    config.Address `env:"PRISM_ADMIN_LISTEN" default:"127.0.0.1:9094" help:"address of /healthz, /readyz and /metrics"`
	Results  config.URL     `env:"PRISM_RESULTS_URL" required:"true" schemes:"http https" example:"http://127.0.0.1:8081" help:"where results is"`
	Tokens   wire.ConsoleTokens
	Sessions wire.SessionTokens
	TLS      mtls.ServerSettings
	Console  console.Settings
	Daemon   daemon.Settings
}

func run(ctx context.Context, args []string, env config.Environment, stdout, stderr io.Writer) error {
	s, err := config.Parse[settings](args, env, stdout)
	if err != nil {
		return err
	}
	d, err := daemon.New(ctx, "console", s.Daemon, env.Getenv, stderr)
	if err != nil {
		return err
	}
	accepted, err := s.Tokens.Open(d.Log)
	if err != nil {
		return err
	}
	shown, err := s.Sessions.Open(d.Log)
	if err != nil {
		return err
	}
	if accepted == nil || shown == nil {
		return errors.New("PRISM_CONSOLE_TOKEN and PRISM_RESULTS_CONSOLE_TOKEN: are required: the token that the gateway shows, " +
			"and the token that results accepts")
	}
	identity, err := s.TLS.Open(d.Log, d.Metrics)
	if err != nil {
		return err
	}
	results, err := wire.NewConsole(
		wire.ClientConfig{URL: s.Results.String(), TLS: identity, Tokens: shown, MaxConns: d.Settings.MaxInFlight},
		wire.ClientDeps{Tracer: d.Traces.Provider, Propagator: d.Traces.Propagator})
	if err != nil {
		return fmt.Errorf("PRISM_RESULTS_URL: %w (for example PRISM_RESULTS_URL=http://127.0.0.1:8081)", err)
	}
	defer results.Close()
	server := d.InternalServerWith(wire.PassedBody, accepted.Accepts, identity, s.TLS.Permissive())
	server.ShareByAccount(wire.AccountOf)
	wire.MountBehind(server.App(), accepted)
	if err := console.New(s.Console, console.Deps{
		Console: results, Build: web.Dist(), Version: build.Read(debug.ReadBuildInfo).Version,
		Server: server, Metrics: d.Metrics, Log: d.Log, Now: time.Now,
	}); err != nil {
		return err
	}
	return d.Run(ctx, daemon.Plan{API: s.Listen, Admin: s.Admin, Server: server})
}
