// Package prismtest runs the real standalone Prism, built from this repository, for tests of its callers. The model prefers
// the first option, yes and the first level. The model refuses every text that holds [Refuse], so such a result fails.
package prismtest

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// Refuse makes the model refuse a text.
const Refuse = "no answer to this"

// Server is a running Prism.
type Server struct {
	URL string // of the API
	Key string // of an account of its own with one prism, "tickets"

	dir     string
	model   *model.Model
	service *launch.Service
}

// Start builds and starts a Prism with an empty store.
func Start(ctx context.Context) (s *Server, err error) {
	s = &Server{model: model.New(answer)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if s.dir, err = os.MkdirTemp("", "prismtest"); err != nil {
		return s, err
	}
	options := launch.Options{Dir: s.dir, ModelURL: s.model.BaseURL()}
	if s.service, err = options.Standalone(ctx); err != nil {
		return s, err
	}
	if err = s.service.Start(ctx); err != nil {
		return s, err
	}
	s.URL = s.service.URL()
	s.Key, err = s.service.DemoKey(ctx)
	return s, err
}

// Account makes another account and returns a key of the account.
func (s *Server) Account(ctx context.Context, name string) (string, error) {
	return s.service.Account(ctx, name)
}

// Stop ends the server and removes its store.
func (s *Server) Stop() error {
	var err error
	if s.service != nil {
		err = s.service.Stop()
	}
	s.model.Close()
	return errors.Join(err, os.RemoveAll(s.dir))
}

// Root is the repository: the nearest folder above the working one that has a go.work.
func Root() (string, error) { return program.Root() }

func answer(r model.Request) model.Step {
	for field := range r.State {
		if strings.Contains(r.Field(field), Refuse) {
			return model.Status(http.StatusBadRequest)
		}
	}
	return model.Likely()
}
