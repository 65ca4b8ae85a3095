// Package modelsfile configures the models: by a file that is read again when it changes, or a single model by settings
// (spec: models-file, models-reload).
package modelsfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/reload"
	"github.com/prism-results/prism/pkg/yamlfile"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
)

// DefaultName is the name of the single model that settings configure.
const DefaultName = "default"

// interval is how often Run reads the files to see whether they have changed.
const interval = time.Second

// Config is where models come from.
type Config struct {
	// Path is the file of models. Without it, Single is the only model.
	Path   string
	Single models.Spec
	// SingleKeyFile is the file with the key of Single, which is read again when it changes. Optional.
	SingleKeyFile string
	// Getenv reads the variables that the file names.
	Getenv func(name string) string
	// EnvironmentProxy: models without a proxy of their own use that of HTTPS_PROXY and NO_PROXY.
	EnvironmentProxy bool
	// MaxConns limits the idle connections that are kept to an upstream.
	MaxConns int
	Tracer   trace.TracerProvider
	// Answers is upstream.Config.Answers.
	Answers *fair.Bound
	// Renewals counts the renewals of what models show of the workload's identity. Optional.
	Renewals *credential.Renewals
	Log      *slog.Logger
	// Refused is called for each new file that cannot be used. Optional.
	Refused func()
	// Loaded is called for the models of each new file before they are used. Optional.
	Loaded func(*models.Set)
}

// Source has the current models. It is safe for concurrent use.
type Source struct {
	*models.Current
	cfg        Config
	identities identities

	mu   sync.Mutex
	seen map[string]content // of each file of the last load, which may have failed
	open []opened           // the models of the current set

	used, refused string // the hashes of the files of models in use, and that cannot be used; "" without one
}

// Hashes returns the hash of the file of models in use, and of a later one that cannot be used; "" without one
// (contract.HashOfModels).
func (s *Source) Hashes() (used, refused string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, s.refused
}

// note notes whether the file of models that was read last is in use. The caller holds mu, or is the only one.
func (s *Source) note(inUse bool) {
	c, ok := s.seen[s.cfg.Path]
	if !ok || c.err != "" {
		s.refused = ""
		return
	}
	hash := contract.HashOfModels([]byte(c.text))
	if s.refused = hash; inUse {
		s.used, s.refused = hash, ""
	}
}

// opened is a model and the spec that it was opened with.
type opened struct {
	spec  models.Spec
	model *models.Model
}

// content is a file as it was read.
type content struct {
	text string
	err  string
}

// Open reads the file of models, or takes the single model. Its error lists every problem: it wraps *yamlfile.Problems for a file.
func Open(cfg Config) (*Source, error) {
	s := &Source{Current: &models.Current{}, cfg: cfg, identities: identities{log: cfg.Log, renewals: cfg.Renewals}}
	set, err := s.load()
	if err != nil {
		return nil, err
	}
	s.Replace(set)
	s.note(true)
	return s, nil
}

func (s *Source) clients() clients {
	c := clients{maxConns: s.cfg.MaxConns, tracer: s.cfg.Tracer, answers: s.cfg.Answers, identity: s.identities.open}
	c.explain = func(ctx context.Context) bool { return s.cfg.Log.Enabled(ctx, slog.LevelDebug) }
	if s.cfg.EnvironmentProxy {
		c.proxy = EnvironmentProxy(s.cfg.Getenv)
	}
	return c
}

// Run reads the files again when they change, and on SIGHUP, until ctx ends (spec: models-reload).
func (s *Source) Run(ctx context.Context) error {
	if s.cfg.Path == "" && s.cfg.SingleKeyFile == "" {
		<-ctx.Done()
		return nil
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	return s.run(ctx, hangup)
}

func (s *Source) run(ctx context.Context, hangup <-chan os.Signal) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-hangup:
			s.Reload(ctx)
		case <-tick.C:
			s.Refresh(ctx)
		}
	}
}

// Refresh does what Reload does if a file has changed since it was read last.
func (s *Source) Refresh(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, before := range s.seen {
		if read(path) != before {
			s.reload(ctx)
			return
		}
	}
}

// Reload reads the file and the files that it names. If they cannot be used, that is logged and counted, and the current models
// stay.
func (s *Source) Reload(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reload(ctx)
}

func (s *Source) reload(ctx context.Context) {
	set, err := s.load()
	s.note(err == nil)
	if err != nil {
		s.cfg.Log.WarnContext(ctx, "the new models cannot be used; the previous ones stay in use", "error", err.Error())
		if s.cfg.Refused != nil {
			s.cfg.Refused()
		}
		return
	}
	if s.cfg.Loaded != nil {
		s.cfg.Loaded(set)
	}
	s.Replace(set)
	s.cfg.Log.InfoContext(ctx, "models read", "models", len(set.Models()), "default", set.Default().Name)
}

// load reads the files. A model whose spec has not changed is taken from the current set, with its connections, its calls under
// way and its circuit breaker.
func (s *Source) load() (*models.Set, error) {
	seen := map[string]content{}
	readOnce := func(path string) (string, error) {
		c, ok := seen[path]
		if !ok {
			c = read(path)
			seen[path] = c
		}
		if c.err != "" {
			return "", errors.New(c.err)
		}
		return c.text, nil
	}
	defer func() { s.seen = seen }()
	if s.cfg.Path == "" {
		return s.loadSingle(readOnce)
	}
	text, err := readOnce(s.cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("PRISM_MODELS_FILE: %w", err)
	}
	r := reader{secrets: secrets{env: s.cfg.Getenv, file: readOnce}}
	f := r.read([]byte(text))
	all := s.openAll(f, &r)
	if len(r.Problems) > 0 {
		slices.SortStableFunc(r.Problems, func(a, b yamlfile.Problem) int { return cmp.Compare(a.Line, b.Line) })
		return nil, fmt.Errorf("PRISM_MODELS_FILE: %w", &yamlfile.Problems{Of: "models", Path: s.cfg.Path, List: r.Problems})
	}
	s.open = all
	list := make([]*models.Model, len(all))
	for i, o := range all {
		list[i] = o.model
	}
	return models.NewSet(list, f.defaultModel), nil
}

// loadSingle makes the set of the single model.
func (s *Source) loadSingle(readFile func(path string) (string, error)) (*models.Set, error) {
	spec := s.cfg.Single
	spec.Name = DefaultName
	if s.cfg.SingleKeyFile != "" {
		key, err := readFile(s.cfg.SingleKeyFile)
		if spec.APIKey = strings.TrimSpace(key); err == nil && spec.APIKey == "" {
			err = fmt.Errorf("%s: is empty", s.cfg.SingleKeyFile)
		}
		if err != nil {
			return nil, fmt.Errorf("PRISM_MODEL_API_KEY_FILE: %w", err)
		}
	}
	m, faults := open(spec, variables, s.clients())
	var problems []error
	for _, f := range faults {
		problems = append(problems, fmt.Errorf("%s: %s", f.setting, f.problem))
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return models.NewSet([]*models.Model{m}, DefaultName), nil
}

// openAll makes the models of a file, and adds what is wrong with their settings.
func (s *Source) openAll(f file, r *reader) (all []opened) {
	for _, e := range f.entries {
		if i := slices.IndexFunc(s.open, func(o opened) bool { return reflect.DeepEqual(o.spec, e.Spec) }); i >= 0 {
			all = append(all, s.open[i])
			continue
		}
		if e.Provider == "" { // reported by checkEntry
			continue
		}
		m, faults := open(e.Spec, members, s.clients())
		for _, fault := range faults {
			member := fault.setting
			if member == members.apiKey && e.lines["api_key_file"] > 0 {
				member = "api_key_file"
			}
			where := cmp.Or(e.Name, "a model")
			r.Add(e.at(member), where+"."+member, fault.problem)
		}
		all = append(all, opened{e.Spec, m})
	}
	return all
}

func read(path string) content {
	text, err := reload.ReadFile(path)
	if err != nil {
		return content{err: err.Error()}
	}
	return content{text: string(text)}
}
