package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	ctrl "sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/daemon"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/mtls"
	"github.com/prism-results/prism/services/operator"
)

type settings struct {
	Admin      config.Address `env:"PRISM_ADMIN_LISTEN" default:"127.0.0.1:9096" help:"address of /healthz, /readyz and /metrics"`
	URL        config.URL     `env:"PRISM_URL" required:"true" schemes:"http https" example:"http://prism-gateway.prism" help:"where the public API is, as applications in the cluster reach it"`
	Results    config.URL     `env:"PRISM_RESULTS_URL" required:"true" schemes:"http https" example:"http://127.0.0.1:8081" help:"where results is"`
	Tokens     wire.DeclarationsTokens
	TLS        mtls.Settings
	Release    string        `env:"PRISM_OPERATOR_RELEASE" default:"prism" help:"name of the release, with which the names of its objects begin"`
	Namespace  string        `env:"PRISM_OPERATOR_NAMESPACE" required:"true" help:"namespace of the release, in which accounts and models count"`
	Namespaces string        `env:"PRISM_OPERATOR_NAMESPACES" help:"further namespaces whose objects count, separated by commas; all when empty"`
	Models     string        `env:"PRISM_OPERATOR_MODEL_PROXIES" example:"prism-model-proxy-pods.prism:9092" help:"host that has the addresses of all replicas of model-proxy, and their admin port: they are asked which file of models they use; none when empty"`
	Resync     time.Duration `env:"PRISM_OPERATOR_RESYNC" default:"1m" help:"how often an object is compared with Prism when nothing tells of a change"`
	Daemon     daemon.Settings
}

// releaseSettings are those of the command release.
type releaseSettings struct {
	Namespace  string `env:"PRISM_OPERATOR_NAMESPACE" required:"true" help:"namespace of the release"`
	Namespaces string `env:"PRISM_OPERATOR_NAMESPACES" help:"further namespaces whose objects are released, separated by commas; all when empty"`
}

func run(ctx context.Context, args []string, env config.Environment, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == "release" {
		return release(ctx, args[1:], env, stdout, stderr)
	}
	env.Commands = operator.ReleaseUsage
	s, err := config.Parse[settings](args, env, stdout)
	if err != nil {
		return err
	}
	if s.Resync < time.Second {
		return fmt.Errorf("PRISM_OPERATOR_RESYNC: must be at least 1s")
	}
	d, err := daemon.New(ctx, "operator", s.Daemon, env.Getenv, stderr)
	if err != nil {
		return err
	}
	tokens, err := s.Tokens.Open(d.Log)
	if err != nil {
		return err
	}
	if tokens == nil {
		return errors.New("PRISM_OPERATOR_TOKEN: is required: the token that results accepts")
	}
	identity, err := wire.OpenIdentity(ctx, s.TLS, d.Log, d.Metrics, wire.Callee{Name: "results", URL: s.Results})
	if err != nil {
		return err
	}
	results, err := wire.NewDeclarations(
		wire.ClientConfig{URL: s.Results.String(), TLS: identity, Tokens: tokens},
		wire.ClientDeps{Tracer: d.Traces.Provider, Propagator: d.Traces.Propagator})
	if err != nil {
		return fmt.Errorf("PRISM_RESULTS_URL: %w (for example PRISM_RESULTS_URL=http://127.0.0.1:8081)", err)
	}
	defer results.Close()
	cluster, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("there is no API server: %w", err)
	}
	o, err := operator.New(operator.Config{
		Release: s.Release, Namespace: s.Namespace, Namespaces: split(s.Namespaces), Resync: s.Resync, URL: s.URL.String(), ModelProxies: s.Models,
	}, operator.Deps{
		Kubernetes: cluster, Accounts: operator.NewAccounts(results, s.URL.String(), nil), Declarations: results, Metrics: d.Metrics, Log: d.Log,
	})
	if err != nil {
		return err
	}
	return d.Run(ctx, daemon.Plan{
		Admin:  s.Admin,
		Checks: []httpkit.Check{{Name: "custom resources", Probe: o.Ready}},
		Serve:  func(ctx context.Context, _ net.Listener) error { return o.Run(ctx) },
	})
}

// release takes the finalizers from the objects of the operator that these settings describe.
func release(ctx context.Context, args []string, env config.Environment, stdout, stderr io.Writer) error {
	s, err := config.Parse[releaseSettings](args, env, stdout)
	if err != nil {
		return err
	}
	cluster, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("there is no API server: %w", err)
	}
	namespaces := split(s.Namespaces)
	if len(namespaces) > 0 {
		namespaces = append(namespaces, s.Namespace)
	}
	return operator.Release(ctx, cluster, namespaces, slog.New(slog.NewJSONHandler(stderr, nil)))
}

// split is a list of names that commas separate.
func split(names string) []string {
	return strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' })
}
