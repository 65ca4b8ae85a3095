package modelproxy

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/model-proxy/internal/ask"
	"github.com/prism-results/prism/services/model-proxy/internal/check"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
)

// check checks a model.
func (s *Service) check(ctx context.Context, m *models.Model) (api.ModelCheck, []ask.Checked, error) {
	start := time.Now()
	did, err := s.asker.Check(ctx, m, check.Asks())
	if err != nil {
		return api.ModelCheck{}, nil, err
	}
	found := api.ModelCheck{Name: m.Name, TookMS: time.Since(start).Milliseconds(), Checks: check.Parts(m, did)}
	found.OK = !slices.ContainsFunc(found.Checks, func(p api.CheckedPart) bool { return p.Status == api.PartFailed })
	return found, did, nil
}

// Check implements contract.Models.
func (s *Service) Check(ctx context.Context, name string) (contract.ModelCheck, error) {
	set := s.models.Acquire()
	defer set.Release()
	route := set.Route(name)
	if route == nil || name == "" {
		return contract.ModelCheck{}, apierr.ModelNotFound()
	}
	found, did, err := s.check(ctx, route[0])
	if err != nil {
		return contract.ModelCheck{}, err
	}
	return contract.ModelCheck{Found: found, Definition: check.Definition(), Outcome: ask.Together(did)}, nil
}

// CheckUsage is the line of the command models check in --help.
const CheckUsage = "  models check [NAME]                                         ask the models two known questions, and say what to write in the file\n"

// errCheck is the end of a command that found a model that does not work.
var errCheck = errors.New("a model does not work as it is configured")

// Command runs `models check [NAME]` on the configured models, or the one with the name, without a server (spec: model-check).
// It shows addresses, and what upstreams say of errors.
func Command(ctx context.Context, args []string, cfg Config, out io.Writer) error {
	if len(args) < 2 || len(args) > 3 || args[0] != "models" || args[1] != "check" {
		_, err := io.WriteString(out, "usage: models check [NAME]\n")
		return errors.Join(err, flag.ErrHelp)
	}
	debug := slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug})) // so that errors are explained
	s, err := New(cfg, Deps{Log: debug})
	if err != nil {
		return err
	}
	defer s.Close()
	set := s.models.Acquire()
	defer set.Release()
	checked := set.Models()
	if len(args) == 3 {
		i := slices.IndexFunc(checked, func(m *models.Model) bool { return m.Name == args[2] })
		if i < 0 {
			return fmt.Errorf("no model has the name %q", args[2])
		}
		checked = checked[i : i+1]
	}
	working := true
	for _, m := range checked {
		found, did, err := s.check(ctx, m)
		if err != nil {
			return err
		}
		working = working && found.OK
		if err := show(out, m, found, did); err != nil {
			return err
		}
	}
	if !working {
		return errCheck
	}
	return nil
}

// show writes a check for an operator.
func show(out io.Writer, m *models.Model, checked api.ModelCheck, did []ask.Checked) error {
	_, err := fmt.Fprintf(out, "%s: %s %s %s, by %s, in %d ms\n", m.Name, m.Provider, m.BaseURL, m.Model, m.API.Probabilities, checked.TookMS)
	for _, p := range checked.Checks {
		_, wrote := fmt.Fprintf(out, "  %-7s %-18s %s\n", p.Status, p.Part, p.Text)
		if p.Write != nil {
			_, more := fmt.Fprintf(out, "  %-7s %-18s write: %s\n", "", "", *p.Write)
			wrote = errors.Join(wrote, more)
		}
		err = errors.Join(err, wrote)
	}
	if message := did[len(did)-1].Message(nil); message != "" {
		_, wrote := fmt.Fprintf(out, "  the host says: %s\n", message)
		err = errors.Join(err, wrote)
	}
	return err
}
