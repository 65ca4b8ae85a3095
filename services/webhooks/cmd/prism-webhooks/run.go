package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/daemon"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/mtls"
	"github.com/prism-results/prism/services/webhooks"
)

type settings struct {
	Admin    config.Address `env:"PRISM_ADMIN_LISTEN" default:"127.0.0.1:9095" help:"address of /healthz, /readyz and /metrics"`
	Results  config.URL     `env:"PRISM_RESULTS_URL" required:"true" schemes:"http https" example:"http://127.0.0.1:8081" help:"where results is"`
	Tokens   wire.DeliveriesTokens
	TLS      mtls.Settings
	Webhooks webhooks.Settings
	Allow    webhooks.Networks `env:"PRISM_WEBHOOK_ALLOW" example:"10.0.0.0/8,fd00::/8" help:"networks to which events are sent beside public addresses, also with http://"`
	Daemon   daemon.Settings
}

func run(ctx context.Context, args []string, env config.Environment, stdout, stderr io.Writer) error {
	s, err := config.Parse[settings](args, env, stdout)
	if err != nil {
		return err
	}
	if s.Webhooks.Concurrency < 1 {
		return errors.New("PRISM_WEBHOOKS_CONCURRENCY: must be at least 1")
	}
	d, err := daemon.New(ctx, "webhooks", s.Daemon, env.Getenv, stderr)
	if err != nil {
		return err
	}
	tokens, err := s.Tokens.Open(d.Log)
	if err != nil {
		return err
	}
	if tokens == nil {
		return errors.New("PRISM_RESULTS_WEBHOOKS_TOKEN: is required: the token that results accepts")
	}
	identity, err := wire.OpenIdentity(ctx, s.TLS, d.Log, d.Metrics, wire.Callee{Name: "results", URL: s.Results})
	if err != nil {
		return err
	}
	// Each place may have a save under way beside the leasing.
	results, err := wire.NewDeliveries(
		wire.ClientConfig{URL: s.Results.String(), TLS: identity, Tokens: tokens, MaxConns: s.Webhooks.Concurrency + 8},
		wire.ClientDeps{Tracer: d.Traces.Provider, Propagator: d.Traces.Propagator})
	if err != nil {
		return fmt.Errorf("PRISM_RESULTS_URL: %w (for example PRISM_RESULTS_URL=http://127.0.0.1:8081)", err)
	}
	defer results.Close()
	sender, err := webhooks.New(webhooks.Config{Concurrency: s.Webhooks.Concurrency, Allow: s.Allow}, webhooks.Deps{
		Deliveries: results, Metrics: d.Metrics, Log: d.Log, Tracer: d.Traces.Provider,
	})
	if err != nil {
		return err
	}
	return d.Run(ctx, daemon.Plan{
		Admin:  s.Admin,
		Checks: []httpkit.Check{{Name: "results", Probe: sender.Ready}},
		Serve:  func(ctx context.Context, _ net.Listener) error { sender.Run(ctx); return nil },
	})
}
