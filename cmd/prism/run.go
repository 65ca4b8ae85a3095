package main

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/build"
	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/daemon"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/console"
	"github.com/prism-results/prism/services/gateway"
	modelproxy "github.com/prism-results/prism/services/model-proxy"
	"github.com/prism-results/prism/services/results"
	"github.com/prism-results/prism/services/results/operator"
	"github.com/prism-results/prism/services/runs"
	"github.com/prism-results/prism/services/webhooks"
	"github.com/prism-results/prism/web"
)

type storeSettings struct {
	DataDir  string     `env:"PRISM_DATA_DIR" default:".prism" help:"folder of the embedded store"`
	Database config.URL `env:"PRISM_DATABASE_URL" schemes:"postgres postgresql" example:"postgres://prism:password@127.0.0.1:5432/prism" help:"Postgres, instead of the embedded store"`
	Pool     results.Pool
	Files    results.Files
}

func (s storeSettings) config() results.Config {
	return results.Config{
		DatabaseURL: s.Database.String(), DatabaseSecrets: s.Pool.Secrets, DatabasesFile: s.Pool.Databases, DataDir: s.DataDir, MaxConns: s.Pool.MaxConns, SynchronousCommit: s.Pool.SynchronousCommit,
		Layout:   s.Pool.Layout,
		FilesURL: s.Files.URL.String(),
	}
}

// embedded reports whether results are stored in a file.
func (s storeSettings) embedded() bool {
	return s.Database.IsZero() && s.Pool.Secrets.URLFile == "" && s.Pool.Databases == ""
}

// commandSettings are what the operator commands need.
type commandSettings struct {
	Store  storeSettings
	Public results.Public
	Listen config.Address `env:"PRISM_LISTEN" default:"127.0.0.1:8080" help:"address of the API"`
}

// modelSettings select the models.
type modelSettings struct {
	Provider string `env:"PRISM_MODEL_PROVIDER" default:"offline" oneof:"systemone openai-decisions openai-chat anthropic offline" help:"API of the model"`
	Upstream modelproxy.Upstream
}

// settings are what serving needs.
type settings struct {
	Listen   config.Address `env:"PRISM_LISTEN" default:"127.0.0.1:8080" help:"address of the API"`
	Admin    config.Address `env:"PRISM_ADMIN_LISTEN" default:"127.0.0.1:9090" help:"address of /healthz, /readyz and /metrics"`
	Store    storeSettings
	Redis    config.URL `env:"PRISM_REDIS_URL" schemes:"redis rediss unix" example:"redis://127.0.0.1:6379" help:"Redis for locks, instead of memory"`
	Auth     gateway.RedisAuth
	Models   modelSettings
	Proxies  httpkit.Proxies `env:"PRISM_TRUSTED_PROXIES" example:"10.0.0.0/8" help:"addresses and networks of proxies whose X-Forwarded-For is believed"`
	Console  console.Settings
	Runs     runs.Settings
	Webhooks webhooks.Settings
	// A laptop calls its own programs; in a service of its own, nothing but public addresses is called by default.
	Allow  webhooks.Networks `env:"PRISM_WEBHOOK_ALLOW" default:"127.0.0.0/8,::1/128" example:"10.0.0.0/8,fd00::/8" help:"networks to which events are sent beside public addresses, also with http://"`
	Daemon daemon.Settings
}

func run(ctx context.Context, args []string, env config.Environment, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == "demo" {
		return fillDemo(ctx, args[1:], env, stdout, stderr)
	}
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
	if operator.Commands(args) {
		c, err := operator.Parse(args, stdout)
		if err != nil {
			return err
		}
		s, err := config.Parse[commandSettings](nil, env, stdout)
		if err != nil {
			return err
		}
		at := s.Listen
		if s.Store.embedded() {
			at = servedAt(s.Store.DataDir, at)
		}
		return results.Operate(ctx, s.Store.config(), c.At(s.Public.At(at)), stdout)
	}
	env.Commands = operator.Usage("") + modelproxy.CheckUsage + demoUsage
	s, err := config.Parse[settings](args, env, stdout)
	if err != nil {
		return err
	}
	return serve(ctx, s, env, stdout, stderr)
}

// serve composes the services in one process.
func serve(ctx context.Context, s settings, env config.Environment, stdout, stderr io.Writer) error {
	d, err := daemon.New(ctx, "prism", s.Daemon, env.Getenv, stderr)
	if err != nil {
		return err
	}
	stored := s.Store.config()
	stored.Serves = true
	service, err := results.Open(ctx, stored,
		results.Deps{Metrics: d.Metrics, Log: d.Log, Tracer: d.Traces.Provider})
	if err != nil {
		return err
	}
	defer service.Close()
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
	server := d.Server(s.Proxies)
	if err := console.New(s.Console, console.Deps{
		Console: service, Build: web.Dist(), Version: build.Read(debug.ReadBuildInfo).Version,
		Server: server, Metrics: d.Metrics, Log: d.Log, Now: time.Now,
	}); err != nil {
		return err
	}
	g, err := gateway.New(
		gateway.Config{RedisURL: s.Redis.String(), RedisAuth: s.Auth, DrainDelay: s.Daemon.DrainDelay, HasConsole: true},
		gateway.Deps{
			Results: service, Models: models, Server: server,
			Metrics: d.Metrics, Log: d.Log, Tracer: d.Traces.Provider,
		})
	if err != nil {
		return err
	}
	worker, err := runs.New(runs.Config{Concurrency: s.Runs.Concurrency}, runs.Deps{
		Leases: service, Rows: g.Rows(), Metrics: d.Metrics, Log: d.Log, Tracer: d.Traces.Provider,
	})
	if err != nil {
		return err
	}
	sender, err := webhooks.New(webhooks.Config{Concurrency: s.Webhooks.Concurrency, Allow: s.Allow}, webhooks.Deps{
		Deliveries: service, Metrics: d.Metrics, Log: d.Log, Tracer: d.Traces.Provider,
	})
	if err != nil {
		return err
	}
	hello := firstStart{
		service: service, out: operator.Output{Writer: stdout, Dir: s.Store.DataDir}, embedded: s.Store.embedded(),
		public: s.Console.PublicURL, called: env.Called,
	}
	return d.Run(ctx, daemon.Plan{
		API: s.Listen, Admin: s.Admin, Server: server,
		Checks:  []httpkit.Check{{Name: "database", Probe: service.Ready}},
		Prepare: service.Migrate,
		Serve: func(ctx context.Context, api net.Listener) error {
			// Create the key only after listening succeeded: else the key would be created and not shown.
			if err := hello.seed(ctx); err != nil {
				return errors.Join(err, api.Close())
			}
			if hello.embedded {
				remove, err := keepAddress(s.Store.DataDir, api.Addr())
				if err != nil {
					return errors.Join(err, api.Close())
				}
				defer func() { _ = remove() }()
			}
			hello.print(ctx, api.Addr())
			var working sync.WaitGroup
			defer working.Wait()
			if s.Runs.Concurrency > 0 {
				working.Go(func() { worker.Run(ctx) })
			}
			if s.Webhooks.Concurrency > 0 {
				working.Go(func() { sender.Run(ctx) })
			}
			return g.Run(ctx, api)
		},
		Background: func(ctx context.Context) error {
			var parts sync.WaitGroup
			var modelsErr error
			parts.Go(func() { modelsErr = models.Run(ctx) })
			err := service.Run(ctx)
			parts.Wait()
			return errors.Join(err, modelsErr)
		},
	})
}
