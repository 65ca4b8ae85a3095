package launch

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"time"

	"github.com/prism-results/prism/pkg/testkit/certs"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// Options of a Prism.
type Options struct {
	// ModelURL is the base URL of a systemone model. Without one Prism uses the offline model.
	ModelURL string
	// Database and Redis are URLs. A standalone Prism does without them.
	Database, Redis string
	// DatabasesFile is of several databases, in place of Database.
	DatabasesFile string
	// ModelsFile is a file of models, in place of the model at ModelURL.
	ModelsFile string
	// Dir is the data folder of a standalone Prism without Database.
	Dir string
	// TLS is a folder for the certificates of the services, which then speak mutual TLS. Without one they speak plain HTTP. The
	// certificates of a service are in gateway, results, model-proxy, runs, console or webhooks below it.
	TLS string
	// Env holds further settings of every service.
	Env map[string]string
	// Flags are further flags of go build.
	Flags []string
	// Started is Service.Started of every service.
	Started func(*program.Process)
}

// The tokens of the calls to results and to model-proxy, of the gateway's requests to the console, and of the calls of the console, of
// webhooks and of the operator to results.
const (
	OperatorToken   = "operatortokenmark-4d8a1f62c7e90b35"
	DeliveriesToken = "deliveriestokenmark-3c7f1e85a0d94b62"
	ResultsToken    = "resultstokenmark-7f3a9c51d2e84b60"
	ModelsToken     = "modelstokenmark-0c5e8d17b94f4a23"
	ConsoleToken    = "consoletokenmark-5b1d9e70c3a64f28"
	SessionsToken   = "sessionstokenmark-8e2c4a96f17b4d03"
)

// ModelKey is the key that model-proxy sends to the model.
const ModelKey = "upstreamkeymark-1b9d84c7e05f4a23"

// ModelName is the model that model-proxy asks for.
const ModelName = "decision-model-1"

func (o Options) model() map[string]string {
	if o.ModelsFile != "" {
		return map[string]string{"PRISM_MODELS_FILE": o.ModelsFile, "MODEL_KEY": ModelKey}
	}
	if o.ModelURL == "" {
		return map[string]string{"PRISM_MODEL_PROVIDER": "offline"}
	}
	return map[string]string{
		"PRISM_MODEL_PROVIDER": "systemone", "PRISM_MODEL_BASE_URL": o.ModelURL,
		"PRISM_MODEL_NAME": ModelName, "PRISM_MODEL_API_KEY": ModelKey,
	}
}

// Service is one service of a Prism with these options and its own settings.
func (o Options) Service(ctx context.Context, pkg string, env map[string]string) (*Service, error) {
	all := map[string]string{}
	if folder := folders[pkg]; o.TLS != "" && folder != "" {
		all["PRISM_INTERNAL_TLS_DIR"] = filepath.Join(o.TLS, folder)
	}
	for _, settings := range []map[string]string{env, o.Env} {
		maps.Copy(all, settings)
	}
	s, err := New(ctx, pkg, all, o.Flags...)
	if err != nil {
		return nil, err
	}
	s.Started = o.Started
	return s, nil
}

// Standalone is Prism in one process. It is not started yet.
func (o Options) Standalone(ctx context.Context) (*Service, error) {
	env := o.model()
	env["PRISM_DATA_DIR"] = o.Dir
	if o.Database != "" {
		env["PRISM_DATABASE_URL"] = o.Database
	}
	if o.Redis != "" {
		env["PRISM_REDIS_URL"] = o.Redis
	}
	return o.Service(ctx, Prism, env)
}

// Three is Prism as three services.
type Three struct{ Results, Models, Gateway *Service }

// Services returns the three services on a migrated database. They are not started yet.
func (o Options) Services(ctx context.Context) (t Three, err error) {
	if o.TLS != "" {
		if err := o.certify(); err != nil {
			return t, err
		}
	}
	if t.Results, err = o.Service(ctx, Results, map[string]string{
		"PRISM_RESULTS_TOKEN": ResultsToken, "PRISM_RESULTS_CONSOLE_TOKEN": SessionsToken,
		"PRISM_RESULTS_WEBHOOKS_TOKEN": DeliveriesToken, "PRISM_OPERATOR_TOKEN": OperatorToken, "PRISM_DATABASE_URL": o.Database,
		"PRISM_DATABASES_FILE": o.DatabasesFile,
	}); err != nil {
		return t, err
	}
	env := o.model()
	env["PRISM_MODEL_PROXY_TOKEN"] = ModelsToken
	if t.Models, err = o.Service(ctx, ModelProxy, env); err != nil {
		return t, err
	}
	if t.Gateway, err = o.Gateway(ctx, o.URL(t.Results.Listen), o.URL(t.Models.Listen)); err != nil {
		return t, err
	}
	_, err = t.Results.Operate(ctx, "migrate")
	return t, err
}

// Gateway is a gateway in front of results and model-proxy.
func (o Options) Gateway(ctx context.Context, results, models string) (*Service, error) {
	return o.between(ctx, Gateway, results, models)
}

// Worker is a worker of file runs, which calls results and model-proxy.
func (o Options) Worker(ctx context.Context, results, models string) (*Service, error) {
	return o.between(ctx, Runs, results, models)
}

// Sender sends events of webhooks, also to this machine. It calls results.
func (o Options) Sender(ctx context.Context, results string) (*Service, error) {
	return o.Service(ctx, Webhooks, map[string]string{
		"PRISM_RESULTS_URL": results, "PRISM_RESULTS_WEBHOOKS_TOKEN": DeliveriesToken, "PRISM_WEBHOOK_ALLOW": "127.0.0.0/8",
	})
}

// Console is a console that calls results. A gateway passes requests on to it when Behind has told the gateway.
func (o Options) Console(ctx context.Context, results string) (*Service, error) {
	return o.Service(ctx, Console, map[string]string{
		"PRISM_RESULTS_URL": results, "PRISM_CONSOLE_TOKEN": ConsoleToken, "PRISM_RESULTS_CONSOLE_TOKEN": SessionsToken,
	})
}

// Behind tells a gateway that is not started yet of the console behind it.
func (o Options) Behind(gateway, console *Service) {
	gateway.Env["PRISM_CONSOLE_URL"], gateway.Env["PRISM_CONSOLE_TOKEN"] = o.URL(console.Listen), ConsoleToken
}

// between is a service that calls results and model-proxy.
func (o Options) between(ctx context.Context, pkg, results, models string) (*Service, error) {
	env := map[string]string{
		"PRISM_RESULTS_URL": results, "PRISM_RESULTS_TOKEN": ResultsToken,
		"PRISM_MODEL_PROXY_URL": models, "PRISM_MODEL_PROXY_TOKEN": ModelsToken,
	}
	if o.Redis != "" {
		env["PRISM_REDIS_URL"] = o.Redis
	}
	return o.Service(ctx, pkg, env)
}

// URL is where another service finds the one that listens on an address.
func (o Options) URL(listen string) string {
	if o.TLS != "" {
		return "https://" + listen
	}
	return "http://" + listen
}

// folders are the folders below Options.TLS with the certificates of the services.
var folders = map[string]string{Gateway: "gateway", Results: "results", ModelProxy: "model-proxy", Runs: "runs", Console: "console", Webhooks: "webhooks"}

// certify makes an authority, and certificates of all services.
func (o Options) certify() error {
	authority, err := certs.New()
	if err != nil {
		return err
	}
	for _, service := range folders {
		files, err := authority.Issue(time.Hour, service, "127.0.0.1")
		if err := errors.Join(err, files.Write(filepath.Join(o.TLS, service))); err != nil {
			return err
		}
	}
	return nil
}

// All are the services in the order in which they start.
func (t Three) All() []*Service { return []*Service{t.Results, t.Models, t.Gateway} }

// Start starts services in their order. When one does not start, the others are stopped.
func Start(ctx context.Context, services ...*Service) error {
	for _, s := range services {
		if err := s.Start(ctx); err != nil {
			return errors.Join(err, Stop(services...))
		}
	}
	return nil
}

// Stop stops services in the reverse order, so that a service stops before the services that it calls.
func Stop(services ...*Service) error {
	var errs []error
	for i := len(services) - 1; i >= 0; i-- {
		errs = append(errs, services[i].Stop())
	}
	return errors.Join(errs...)
}
