package program

import (
	"context"
	"maps"
	"strings"

	"github.com/prism-results/prism/pkg/testkit/freeport"
)

// The settings of the two addresses that every service listens on.
const (
	listenVariable = "PRISM_LISTEN"
	adminVariable  = "PRISM_ADMIN_LISTEN"
)

// Service is a service of Prism that runs.
type Service struct {
	*Process
	Listen string // address of the API
	Admin  string // address of /readyz, /healthz and /metrics
}

// Serve starts a service and returns it when it is ready. Addresses that Env does not set are chosen among the free ones,
// and chosen again when another process takes one of them first. A service that does not get ready is killed; the error
// holds the end of its output.
func Serve(ctx context.Context, c Command) (s *Service, err error) {
	for range 3 {
		if s, err = serve(ctx, c); err == nil || !strings.Contains(err.Error(), "address already in use") {
			return s, err
		}
	}
	return nil, err
}

func serve(ctx context.Context, c Command) (*Service, error) {
	env := map[string]string{}
	for _, name := range []string{listenVariable, adminVariable} {
		addr, err := freeport.Addr()
		if err != nil {
			return nil, err
		}
		env[name] = addr
	}
	maps.Copy(env, c.Env)
	c.Env = env
	p, err := Launch(c)
	if err != nil {
		return nil, err
	}
	if err := p.AwaitReady(ctx, env[adminVariable]); err != nil {
		p.Kill()
		return nil, err
	}
	return &Service{Process: p, Listen: env[listenVariable], Admin: env[adminVariable]}, nil
}
