// Package modelproxy is the model-proxy service: it implements contract.Models over the configured decision models. It owns the
// 15-second wait, the retries, the fallbacks, the wire formats of the providers, and the computation of probabilities from model
// output. The package does not listen: contract/wire serves it over HTTP, and the standalone binary calls it in process.
package modelproxy

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"os"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/credential/identity"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/stack"
	"github.com/prism-results/prism/services/model-proxy/internal/ask"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/modelsfile"
)

const (
	answersShare = 16 // of the memory limit, as a divisor
	mostAnswers  = 64 << 20
)

// Service implements contract.Models. It is safe for concurrent use. Its goroutines are running asks, and until Close those that wait for
// the next ones.
type Service struct {
	models  *models.Current
	file    *modelsfile.Source // nil in tests that pass models themselves
	asker   *ask.Asker
	metrics *metrics
	log     *slog.Logger
	// goroutines run asks; nil in tests that pass models themselves: each ask has a new one.
	goroutines *stack.Goroutines
}

var _ contract.Models = (*Service)(nil)

// New checks the settings and makes the service. It connects to nothing, and reads no file but those of the models. Its error
// names every wrong setting, and every problem of the file with its line, and repeats no value
// (spec: values-are-never-repeated). It panics when Deps.Metrics already has the service's collectors.
func New(cfg Config, deps Deps) (*Service, error) {
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Getenv == nil {
		cfg.Getenv = os.Getenv
	}
	var s *Service
	source, err := modelsfile.Open(modelsfile.Config{
		Path:          cfg.ModelsFile,
		Single:        models.Spec{Provider: cfg.Provider, BaseURL: cfg.BaseURL, Model: cfg.ModelName, APIKey: cfg.APIKey},
		SingleKeyFile: cfg.APIKeyFile,
		Getenv:        cfg.Getenv, EnvironmentProxy: cfg.EnvironmentProxy, MaxConns: cfg.MaxInFlight, Tracer: deps.Tracer, Log: deps.Log,
		Answers:  fair.New(int(min(cmp.Or(cfg.Memory, math.MaxInt64)/answersShare, mostAnswers)), 0),
		Renewals: credential.NewRenewals(deps.Metrics, "models", identity.Kinds()...),
		Refused:  func() { s.metrics.refuse() }, Loaded: func(set *models.Set) { s.metrics.load(set) },
	})
	if err != nil {
		return nil, err
	}
	s = newService(cfg, deps, source.Current, stack.Waiting())
	s.file = source
	if deps.Metrics != nil {
		deps.Metrics.MustRegister(files{source})
	}
	return s, nil
}

func newService(cfg Config, deps Deps, from *models.Current, goroutines *stack.Goroutines) *Service {
	s := &Service{models: from, log: deps.Log, goroutines: goroutines}
	s.asker = ask.New(from, ask.Config{
		MaxInFlight: cfg.MaxInFlight, Goroutines: goroutines, Log: deps.Log, Ended: s.ended,
		Attempted: func(a ask.Attempt) { s.metrics.attempted(a) },
		Escalated: func(to *models.Model, code prism.ErrorCode) { s.metrics.escalated(to, code) },
	})
	s.metrics = newMetrics(deps.Metrics, from, s.asker)
	set := from.Acquire()
	defer set.Release()
	s.metrics.load(set)
	return s
}

// Ask asks the model of the definition all questions and returns within the wait, whatever the model does
// (spec: model-wait-is-hard). The Outcome has either answers, as the bytes of format raw in question order, or the error text of
// the model's fault. The error is contract.ErrUnavailable when MaxInFlight asks are running, or when a background ask found no
// place at a model; any other error is a bug in a provider.
//
// Cancelling ctx does not cancel the model call (spec: client-disconnect). ctx carries the trace.
func (s *Service) Ask(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
	v, err := s.asker.Ask(ctx, a)
	if errors.Is(err, contract.ErrUnavailable) && !a.Background { // runs exceed the bound on purpose, to find it (spec: run-slows-down)
		s.metrics.shed.Inc()
	}
	if err != nil {
		return contract.Outcome{}, err
	}
	missing := "" // the model that is not configured
	if v.Code == prism.CodeModelNotConfigured {
		missing = v.Call.Name
	} else if e := v.Call.Escalation; e != nil && e.ErrorCode == prism.CodeModelNotConfigured {
		missing = e.Name
	}
	if missing != "" {
		s.metrics.notConfigured.Inc()
		s.log.WarnContext(ctx, "model call failed", "model", missing, "reason", string(prism.CodeModelNotConfigured))
	}
	return v.Outcome, nil
}

// List describes the models in the order of the file (spec: models-list).
func (s *Service) List(context.Context) ([]api.Model, error) {
	set := s.models.Acquire()
	defer set.Release()
	return set.List(), nil
}

// States says how the models do, in the order of the file (spec: model-states).
func (s *Service) States(context.Context) ([]api.ModelState, error) {
	set := s.models.Acquire()
	defer set.Release()
	return set.States(), nil
}

// Run reads the file of models again when it or a file that it names changes, and on SIGHUP, until ctx ends.
func (s *Service) Run(ctx context.Context) error { return s.file.Run(ctx) }

// ended counts the ask of a model, and logs it if it failed (spec: upstream-error-logs).
func (s *Service) ended(ctx context.Context, e ask.End) {
	s.metrics.asked(e)
	r := e.Report
	if r.OK() {
		return
	}
	e.Model.NoteFailure(r.Class)
	line := []any{
		"model", e.Model.Name, "provider", e.Model.API.Name, "class", string(r.Class), "reason", string(r.Code), "status", r.Status,
		"cause", r.Cause, "took_ms", e.Took.Milliseconds(),
	}
	if r.Code == prism.CodeNoLogProbabilities || r.Class == failure.Parameter {
		line = append(line, "error", r.Error)
	}
	if s.log.Enabled(ctx, slog.LevelDebug) {
		sent := []string{e.Ask.Context}
		for _, f := range e.Ask.Fields {
			sent = append(sent, f.Value)
		}
		if message := r.Message(sent); message != "" {
			line = append(line, "upstream_error", message)
		}
	}
	s.log.WarnContext(ctx, "model call failed", line...)
}

// Close closes idle upstream connections and ends idle goroutines. Running asks continue.
func (s *Service) Close() {
	s.goroutines.Close()
	set := s.models.Acquire()
	defer set.Release()
	for _, m := range set.Models() {
		m.Close()
	}
}
