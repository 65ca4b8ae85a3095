package main

import (
	"context"
	"io"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/daemon"
	"github.com/prism-results/prism/pkg/mtls"
	modelproxy "github.com/prism-results/prism/services/model-proxy"
)

// modelSettings select the models.
type modelSettings struct {
	Provider string `env:"PRISM_MODEL_PROVIDER" unless:"PRISM_MODELS_FILE" oneof:"systemone openai-decisions openai-chat anthropic offline" help:"which model API is spoken"`
	Upstream modelproxy.Upstream
}

type settings struct {
	Listen config.Address `env:"PRISM_LISTEN" default:"127.0.0.1:8082" help:"address of the service's API"`
	Admin  config.Address `env:"PRISM_ADMIN_LISTEN" default:"127.0.0.1:9092" help:"address of /healthz, /readyz and /metrics"`
	Tokens wire.ModelsTokens
	TLS    mtls.ServerSettings
	Models modelSettings
	Daemon daemon.Settings
}

func run(ctx context.Context, args []string, env config.Environment, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == "models" {
		s, err := config.Parse[modelSettings](nil, env, stdout)
		if err != nil {
			return err
		}
		cfg, err := s.Upstream.Config(env, s.Provider)
		if err != nil {
			return err
		}
		return modelproxy.Command(ctx, args, cfg, stdout)
	}
	env.Commands = modelproxy.CheckUsage
	s, err := config.Parse[settings](args, env, stdout)
	if err != nil {
		return err
	}
	d, err := daemon.New(ctx, "model-proxy", s.Daemon, env.Getenv, stderr)
	if err != nil {
		return err
	}
	cfg, err := s.Models.Upstream.Config(env, s.Models.Provider)
	if err != nil {
		return err
	}
	cfg.MaxInFlight, cfg.Memory = d.Settings.MaxInFlight, d.Memory
	models, err := modelproxy.New(cfg, modelproxy.Deps{Metrics: d.Metrics, Log: d.Log, Tracer: d.Traces.Provider})
	if err != nil {
		return err
	}
	defer models.Close()
	tokens, err := s.Tokens.Open(d.Log)
	if err != nil {
		return err
	}
	server, err := d.InternalServer(wire.BodyLimit, tokens.Accepts, s.TLS)
	if err != nil {
		return err
	}
	server.ShareByAccount(wire.AccountOf)
	wire.MountModels(server.App(), models, tokens, d.Log)
	return d.Run(ctx, daemon.Plan{API: s.Listen, Admin: s.Admin, Server: server, Background: models.Run})
}
