package main

import (
	"context"
	"fmt"
	"io"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/daemon"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/mtls"
	"github.com/prism-results/prism/services/gateway"
)

type settings struct {
	Listen  config.Address `env:"PRISM_LISTEN" default:"127.0.0.1:8080" help:"address of the API"`
	Admin   config.Address `env:"PRISM_ADMIN_LISTEN" default:"127.0.0.1:9090" help:"address of /healthz, /readyz and /metrics"`
	Results config.URL     `env:"PRISM_RESULTS_URL" required:"true" schemes:"http https" example:"http://127.0.0.1:8081" help:"where results is"`
	Models  config.URL     `env:"PRISM_MODEL_PROXY_URL" required:"true" schemes:"http https" example:"http://127.0.0.1:8082" help:"where model-proxy is"`
	Redis   config.URL     `env:"PRISM_REDIS_URL" schemes:"redis rediss unix redis+sentinel rediss+sentinel redis+cluster rediss+cluster" example:"redis://127.0.0.1:6379" help:"Redis, for locks; without it they are in memory, right for one gateway alone"`
	Auth    gateway.RedisAuth
	Tokens  struct {
		Results wire.ResultsTokens
		Models  wire.ModelsTokens
		Shared  wire.SharedToken
	}
	TLS     mtls.Settings
	Proxies httpkit.Proxies `env:"PRISM_TRUSTED_PROXIES" example:"10.0.0.0/8" help:"addresses and networks of proxies whose X-Forwarded-For is believed"`
	Daemon  daemon.Settings
}

func run(ctx context.Context, args []string, env config.Environment, stdout, stderr io.Writer) error {
	s, err := config.Parse[settings](args, env, stdout)
	if err != nil {
		return err
	}
	d, err := daemon.New(ctx, "gateway", s.Daemon, env.Getenv, stderr)
	if err != nil {
		return err
	}
	deps := wire.ClientDeps{Tracer: d.Traces.Provider, Propagator: d.Traces.Propagator}
	resultsTokens, err := s.Tokens.Results.Open(s.Tokens.Shared, d.Log)
	if err != nil {
		return err
	}
	modelsTokens, err := s.Tokens.Models.Open(s.Tokens.Shared, d.Log)
	if err != nil {
		return err
	}
	identity, err := s.TLS.Open(d.Log, d.Metrics)
	if err != nil {
		return err
	}
	if identity != nil && (s.Results.Scheme() != "https" || s.Models.Scheme() != "https") {
		d.Log.WarnContext(ctx, "calls are in plain text: PRISM_INTERNAL_TLS_DIR is set, but an address has no https://",
			"results", s.Results.Scheme(), "model_proxy", s.Models.Scheme())
	}
	// Each call in flight has a connection to each service if it needs one, so that accounts share the requests in flight and
	// nothing behind them (spec: fair-shares). A call to the model holds its connection for up to 15 s.
	conns := 2 * d.Settings.MaxInFlight
	results, err := wire.NewResults(wire.ClientConfig{
		URL: s.Results.String(), TLS: identity, Tokens: resultsTokens, MaxConns: conns,
	}, deps)
	if err != nil {
		return fmt.Errorf("PRISM_RESULTS_URL: %w (for example PRISM_RESULTS_URL=http://127.0.0.1:8081)", err)
	}
	defer results.Close()
	models, err := wire.NewModels(wire.ClientConfig{
		URL: s.Models.String(), TLS: identity, Tokens: modelsTokens, MaxConns: conns,
	}, deps)
	if err != nil {
		return fmt.Errorf("PRISM_MODEL_PROXY_URL: %w (for example PRISM_MODEL_PROXY_URL=http://127.0.0.1:8082)", err)
	}
	defer models.Close()
	server := d.Server(s.Proxies)
	g, err := gateway.New(
		gateway.Config{RedisURL: s.Redis.String(), RedisAuth: s.Auth, DrainDelay: s.Daemon.DrainDelay},
		gateway.Deps{
			Results: results, Models: models, Server: server,
			Metrics: d.Metrics, Log: d.Log, Tracer: d.Traces.Provider,
		})
	if err != nil {
		return err
	}
	return d.Run(ctx, daemon.Plan{API: s.Listen, Admin: s.Admin, Server: server, Serve: g.Run})
}
