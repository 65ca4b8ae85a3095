package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// topology is one way to put Prism together.
type topology string

const (
	// standalone is one process on embedded parts. The process exports its traces.
	standalone topology = "standalone"
	// services is the services, a worker of runs, a sender of events and the console with a real Postgres and Redis, as they are shipped: no traces are recorded.
	services topology = "services"
	// traced is services that export their traces, for the tests of traces alone.
	traced topology = "traced services"
	// encrypted is services that speak mutual TLS, for the tests of TLS and of the console.
	encrypted topology = "encrypted services"
	// spread is services over several databases, for the tests of what accounts in different databases do. With PRISM_TEST_DATABASES the stacks
	// of services are so too.
	spread topology = "services over several databases"
)

// topologies are those that run all cases.
var topologies = []topology{standalone, services}

// makeDatabases makes the database of a stack, or the databases and their file. The settings may have a database of their own.
func (s *stack) makeDatabases(ctx context.Context, settings map[string]string) error {
	names := []string{"home"}
	if (s.topology == spread || s.topology == services && os.Getenv("PRISM_TEST_DATABASES") != "") && settings["PRISM_DATABASE_URL"] == "" {
		names = append(names, "b", "c", "d")
	}
	text := ""
	for i, name := range names {
		url, err := world.database(ctx)
		if err != nil {
			return err
		}
		s.databases = append(s.databases, url)
		switch i {
		case 0:
			text = fmt.Sprintf("home: {url: %q}\ndatabases:\n", url)
		default:
			text += fmt.Sprintf("  %s: {url: %q}\n", name, url)
		}
	}
	if len(names) == 1 {
		s.options.Database = s.databases[0]
		return nil
	}
	dir, err := os.MkdirTemp(world.dir, "databases-")
	if err != nil {
		return err
	}
	s.options.DatabasesFile = filepath.Join(dir, "databases.yaml")
	return os.WriteFile(s.options.DatabasesFile, []byte(text), 0o600)
}

// newStack prepares the processes of a new, empty stack. The settings override what the processes are given otherwise.
func newStack(ctx context.Context, top topology, settings map[string]string) (*stack, error) {
	s := &stack{topology: top, model: world.model, options: launch.Options{
		ModelURL: world.model.BaseURL(), Flags: program.TestFlags(), Started: world.started, Env: map[string]string{},
	}}
	if top == standalone || top == traced {
		s.options.Env["OTEL_EXPORTER_OTLP_ENDPOINT"] = world.traces.URL()
		s.options.Env["OTEL_EXPORTER_OTLP_PROTOCOL"] = "http/protobuf"
	}
	for name, value := range settings {
		s.options.Env[name] = value
	}
	var err error
	if top == encrypted {
		if s.options.TLS, err = os.MkdirTemp(world.dir, "tls-"); err != nil {
			return nil, err
		}
	}
	if top == standalone {
		if s.options.Dir, err = os.MkdirTemp(world.dir, "data-"); err != nil {
			return nil, err
		}
		s.front, err = s.options.Standalone(ctx)
		s.store, s.parts = s.front, []*launch.Service{s.front}
		return s, err
	}
	if err := s.makeDatabases(ctx, settings); err != nil {
		return nil, err
	}
	s.options.Redis = world.redis.URL()
	three, err := s.options.Services(ctx)
	if err != nil {
		return nil, err
	}
	worker, err := s.options.Worker(ctx, three.Gateway.Env["PRISM_RESULTS_URL"], three.Gateway.Env["PRISM_MODEL_PROXY_URL"])
	if err != nil {
		return nil, err
	}
	console, err := s.options.Console(ctx, three.Gateway.Env["PRISM_RESULTS_URL"])
	if err != nil {
		return nil, err
	}
	sender, err := s.options.Sender(ctx, three.Gateway.Env["PRISM_RESULTS_URL"])
	if err != nil {
		return nil, err
	}
	s.options.Behind(three.Gateway, console)
	s.front, s.store = three.Gateway, three.Results
	s.parts = []*launch.Service{three.Results, three.Models, worker, console, sender, three.Gateway}
	return s, nil
}
