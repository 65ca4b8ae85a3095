package main

import (
	"context"
	"io"
	"slices"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/daemon"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/mtls"
	"github.com/prism-results/prism/services/results"
	"github.com/prism-results/prism/services/results/operator"
)

// storeSettings is the settings of the store.
type storeSettings struct {
	Database config.URL `env:"PRISM_DATABASE_URL" unless:"PRISM_DATABASE_URL_FILE PRISM_DATABASES_FILE" schemes:"postgres postgresql" example:"postgres://prism:password@127.0.0.1:5432/prism" help:"Postgres, where everything is kept"`
	Pool     results.Pool
	Files    results.Files
	Migrate  string `env:"PRISM_MIGRATIONS" default:"run" oneof:"run wait" help:"run: bring the tables up to date at the start; wait: until the command migrate has, which may connect as somebody else"`
}

func (s storeSettings) config() results.Config {
	return results.Config{
		DatabaseURL: s.Database.String(), DatabaseSecrets: s.Pool.Secrets, DatabasesFile: s.Pool.Databases, MaxConns: s.Pool.MaxConns, SynchronousCommit: s.Pool.SynchronousCommit,
		Layout:          s.Pool.Layout,
		AwaitMigrations: s.Migrate == "wait", FilesURL: s.Files.URL.String(),
	}
}

// commandSettings is the settings that operator commands need.
type commandSettings struct {
	Store  storeSettings
	Public results.Public
}

// settings is the settings that serving needs.
type settings struct {
	Store   storeSettings
	Listen  config.Address `env:"PRISM_LISTEN" default:"127.0.0.1:8081" help:"address of the service's API"`
	Admin   config.Address `env:"PRISM_ADMIN_LISTEN" default:"127.0.0.1:9091" help:"address of /healthz, /readyz and /metrics"`
	Tokens  wire.ResultsTokens
	Console wire.SessionTokens
	Sending wire.DeliveriesTokens
	Declare wire.DeclarationsTokens
	TLS     mtls.ServerSettings
	Daemon  daemon.Settings
}

func run(ctx context.Context, args []string, env config.Environment, stdout, stderr io.Writer) error {
	if operator.Commands(args) {
		c, err := operator.Parse(args, stdout)
		if err != nil {
			return err
		}
		s, err := config.Parse[commandSettings](nil, env, stdout)
		if err != nil {
			return err
		}
		return results.Operate(ctx, s.Store.config(), c.At(s.Public.At("127.0.0.1:8080")), stdout)
	}
	env.Commands = operator.Usage("")
	s, err := config.Parse[settings](args, env, stdout)
	if err != nil {
		return err
	}
	return serve(ctx, s, env, stderr)
}

func serve(ctx context.Context, s settings, env config.Environment, stderr io.Writer) error {
	d, err := daemon.New(ctx, "results", s.Daemon, env.Getenv, stderr)
	if err != nil {
		return err
	}
	service, err := results.Open(ctx, s.Store.config(),
		results.Deps{Metrics: d.Metrics, Log: d.Log, Tracer: d.Traces.Provider})
	if err != nil {
		return err
	}
	defer service.Close()
	tokens, err := s.Tokens.Open(d.Log)
	if err != nil {
		return err
	}
	sessions, err := s.Console.Open(d.Log)
	if err != nil {
		return err
	}
	sending, err := s.Sending.Open(d.Log)
	if err != nil {
		return err
	}
	declaring, err := s.Declare.Open(d.Log)
	if err != nil {
		return err
	}
	authorized := func(header []byte) bool {
		return slices.ContainsFunc([]*wire.Tokens{tokens, sessions, sending, declaring}, func(t *wire.Tokens) bool { return t != nil && t.Accepts(header) })
	}
	server, err := d.InternalServer(wire.BodyLimit, authorized, s.TLS)
	if err != nil {
		return err
	}
	server.ShareByAccount(wire.AccountOf)
	if sessions != nil {
		wire.MountConsole(server.App(), service, sessions, d.Log)
	}
	if sending != nil {
		wire.MountDeliveries(server.App(), service, sending, d.Log)
	}
	if declaring != nil {
		wire.MountDeclarations(server.App(), service, declaring, d.Log)
	}
	wire.MountResults(server.App(), service, tokens, d.Log)
	return d.Run(ctx, daemon.Plan{
		API: s.Listen, Admin: s.Admin, Server: server,
		Checks:     []httpkit.Check{{Name: "database", Probe: service.Ready}},
		Prepare:    service.Migrate,
		Background: service.Run,
	})
}
