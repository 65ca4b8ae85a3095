// Package system runs a whole Prism of real processes for the tests, with a network between them that can be made to
// fail:
//
//	clients ─▶ gateway-1, gateway-2 ─┬─▶ results-1, results-2 in turn ─▶ Postgres
//	                                 ├─▶ model-proxy ─▶ the model that counts
//	                                 └─▶ Redis
//
// Workers of file runs, if there are any, call what gateways do, and senders of events call results. Each arrow behind one of them is a Link. Everything listens on loopback.
package system

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/pkg/testkit/redistest"
	"github.com/prism-results/prism/test/internal/upstream"
)

// Config of a system.
type Config struct {
	// Flags are flags of go build for the services.
	Flags []string
	Model upstream.Config
	// OwnLocks leaves Redis out: each gateway has locks of its own, which the other gateway does not see.
	OwnLocks bool
	// Sentinels has three Sentinels watch Redis and a replica. The gateways reach them without links.
	Sentinels bool
	// Cluster makes Redis a cluster of six nodes. The gateways reach them without links.
	Cluster bool
	// Forgetful makes Postgres not wait for its disk, for tests in which Postgres doesn't crash.
	Forgetful bool
	// Standby gives Postgres a synchronous standby.
	Standby bool
	// Databases are so many further ones beside home, each in a Postgres of its own. They are named b, c and so on.
	Databases int
	// Logical makes each Postgres one from and to which accounts can be moved.
	Logical bool
	// Gateway, Results and Models hold further settings of the gateways, of the results services and of model-proxy.
	Gateway, Results, Models map[string]string
	// Workers of file runs.
	Workers int
	// Senders send events of webhooks, also to this machine.
	Senders int
	// Console has a console behind the gateways.
	Console bool
	// TLS is launch.Options.TLS. The certificates are there before the system starts.
	TLS string
}

// System is a running Prism.
type System struct {
	*Database             // home
	Databases []*Database // home is the first
	Gateways  []*Part
	Results   []*Part
	Models    *Part
	Workers   []*Part
	Senders   []*Part
	Console   *Part // nil without one
	Links     []*Link
	Redis     *redistest.Server
	// Sentinels or Cluster are set in place of Redis if the configuration asks for them.
	Sentinels *redistest.Sentinels
	Cluster   *redistest.Cluster
	Model     *upstream.Model

	config  Config
	options launch.Options
	dir     string // of files of databases

	noted problems
}

const two = 2

// New starts a system and returns when every part is ready. Close ends the system.
func New(ctx context.Context, c Config) (s *System, err error) {
	s = &System{config: c, Model: upstream.New(c.Model)}
	s.options = launch.Options{Flags: c.Flags, TLS: c.TLS, Env: map[string]string{"PRISM_LOG_LEVEL": "warn"}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
			s = nil
		}
	}()
	if err := s.stores(ctx); err != nil {
		return s, err
	}
	if err := s.parts(ctx); err != nil {
		return s, err
	}
	for _, p := range s.Parts() {
		if err := p.Start(ctx); err != nil {
			return s, err
		}
	}
	return s, nil
}

// stores starts Postgres and Redis.
func (s *System) stores(ctx context.Context) (err error) {
	if s.dir, err = os.MkdirTemp("", "prism-system-"); err != nil {
		return err
	}
	if err = s.databases(ctx); err != nil {
		return err
	}
	switch {
	case s.config.OwnLocks:
	case s.config.Sentinels:
		if s.Sentinels, err = redistest.StartSentinels(ctx); err != nil {
			return err
		}
	case s.config.Cluster:
		if s.Cluster, err = redistest.StartCluster(ctx); err != nil {
			return err
		}
	default:
		if s.Redis, err = redistest.Start(ctx, redistest.Options{}); err != nil {
			return err
		}
	}
	_, err = s.Operate(ctx, "migrate")
	return err
}

func (s *System) parts(ctx context.Context) error {
	var addrs []string
	for i := range two {
		name := fmt.Sprintf("results-%d", i+1)
		env, err := s.linked(name)
		if err != nil {
			return err
		}
		env["PRISM_RESULTS_TOKEN"], env["PRISM_RESULTS_CONSOLE_TOKEN"] = launch.ResultsToken, launch.SessionsToken
		if s.config.Senders > 0 {
			env["PRISM_RESULTS_WEBHOOKS_TOKEN"] = launch.DeliveriesToken
		}
		maps.Copy(env, s.config.Results)
		p, err := s.part(name)(s.options.Service(ctx, launch.Results, env))
		if err != nil {
			return err
		}
		s.Results, addrs = append(s.Results, p), append(addrs, p.Listen)
	}
	link, err := s.link("model-proxy to the model", s.Model.Addr())
	if err != nil {
		return err
	}
	models := map[string]string{
		"PRISM_MODEL_PROXY_TOKEN": launch.ModelsToken,
		"PRISM_MODEL_PROVIDER":    "systemone",
		"PRISM_MODEL_BASE_URL":    "http://" + link.Addr() + model.Path,
		"PRISM_MODEL_NAME":        "counting",
	}
	maps.Copy(models, s.config.Models)
	if s.Models, err = s.part("model-proxy")(s.options.Service(ctx, launch.ModelProxy, models)); err != nil {
		return err
	}
	for i := range two {
		p, err := s.between(ctx, fmt.Sprintf("gateway-%d", i+1), addrs, launch.Options.Gateway)
		if err != nil {
			return err
		}
		s.Gateways = append(s.Gateways, p)
	}
	if s.config.Console {
		if err := s.console(ctx, addrs); err != nil {
			return err
		}
	}
	for i := range s.config.Workers {
		p, err := s.between(ctx, fmt.Sprintf("worker-%d", i+1), addrs, launch.Options.Worker)
		if err != nil {
			return err
		}
		s.Workers = append(s.Workers, p)
	}
	return s.senders(ctx, addrs)
}

// senders makes the senders of events, with links to results.
func (s *System) senders(ctx context.Context, results []string) error {
	for i := range s.config.Senders {
		name := fmt.Sprintf("webhooks-%d", i+1)
		toResults, err := s.link(name+" to results", results...)
		if err != nil {
			return err
		}
		p, err := s.part(name)(s.options.Sender(ctx, s.options.URL(toResults.Addr())))
		if err != nil {
			return err
		}
		s.Senders = append(s.Senders, p)
	}
	return nil
}

// console makes a console, and tells the gateways of it.
func (s *System) console(ctx context.Context, results []string) error {
	toResults, err := s.link("console to results", results...)
	if err != nil {
		return err
	}
	if s.Console, err = s.part("console")(s.options.Console(ctx, s.options.URL(toResults.Addr()))); err != nil {
		return err
	}
	for _, g := range s.Gateways {
		s.options.Behind(g.Service, s.Console.Service)
	}
	return nil
}

// between makes a gateway or a worker, with links to what it calls.
func (s *System) between(
	ctx context.Context, name string, results []string,
	service func(o launch.Options, ctx context.Context, results, models string) (*launch.Service, error),
) (*Part, error) {
	toResults, err := s.link(name+" to results", results...)
	if err != nil {
		return nil, err
	}
	toModels, err := s.link(name+" to model-proxy", s.Models.Listen)
	if err != nil {
		return nil, err
	}
	options := s.options
	options.Env = maps.Clone(s.options.Env)
	maps.Copy(options.Env, s.config.Gateway)
	if s.Redis != nil {
		toRedis, err := s.link(name+" to Redis", "unix:"+redisSocket(s.Redis))
		if err != nil {
			return nil, err
		}
		options.Redis = "redis://" + toRedis.Addr()
	}
	if s.Sentinels != nil {
		options.Redis = s.Sentinels.URL()
	}
	if s.Cluster != nil {
		options.Redis = s.Cluster.URL()
	}
	return s.part(name)(service(options, ctx, options.URL(toResults.Addr()), options.URL(toModels.Addr())))
}

func (s *System) link(name string, targets ...string) (*Link, error) {
	l, err := newLink(name, targets...)
	if err == nil {
		s.Links = append(s.Links, l)
	}
	return l, err
}

// part returns a function that makes a part of a service.
func (s *System) part(name string) func(*launch.Service, error) (*Part, error) {
	return func(service *launch.Service, err error) (*Part, error) {
		return &Part{Service: service, Name: name, problem: s.Problem}, err
	}
}

// Parts are all parts, in the order in which they start.
func (s *System) Parts() []*Part {
	parts := append([]*Part(nil), s.Results...)
	if s.Models != nil {
		parts = append(parts, s.Models)
	}
	parts = slices.Concat(parts, s.Gateways, s.Workers, s.Senders)
	if s.Console != nil {
		parts = append(parts, s.Console)
	}
	return parts
}

// Link is the link with a name.
func (s *System) Link(name string) (*Link, error) {
	for _, l := range s.Links {
		if l.Name == name {
			return l, nil
		}
	}
	return nil, fmt.Errorf("system: there is no link %s", name)
}

// Account makes an account and returns an API key of the account.
func (s *System) Account(ctx context.Context, name string) (string, error) {
	operator, err := s.commands(ctx)
	if err != nil {
		return "", err
	}
	return operator.Account(ctx, name)
}

// Operate runs an operator's command.
func (s *System) Operate(ctx context.Context, args ...string) (string, error) {
	operator, err := s.commands(ctx)
	if err != nil {
		return "", err
	}
	return operator.Operate(ctx, args...)
}

// Problem records what must not happen, such as a part that ends by itself.
func (s *System) Problem(err error) { s.noted.add(err) }

// Problems are the recorded problems, and output that no part should print.
func (s *System) Problems() []error {
	all := s.noted.all()
	for _, p := range s.Parts() {
		all = append(all, p.crashed()...)
	}
	return all
}

// Close ends everything.
func (s *System) Close() error {
	s.noted.close()
	var errs []error
	for _, p := range s.Parts() {
		errs = append(errs, p.Kill())
	}
	for _, l := range s.Links {
		l.close()
	}
	s.Model.Close()
	if s.Redis != nil {
		errs = append(errs, s.Redis.Close())
	}
	if s.Sentinels != nil {
		errs = append(errs, s.Sentinels.Close())
	}
	if s.Cluster != nil {
		errs = append(errs, s.Cluster.Close())
	}
	for _, d := range s.Databases {
		errs = append(errs, d.close()...)
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

// problems collects errors until it is closed.
type problems struct {
	mu     sync.Mutex
	errs   []error
	closed bool
}

func (p *problems) add(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.errs = append(p.errs, err)
	}
}

func (p *problems) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

func (p *problems) all() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.errs)
}

// postgresSocket is the file of the Unix socket in a URL of pgtest.
func postgresSocket(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return path.Join(u.Query().Get("host"), ".s.PGSQL."+u.Query().Get("port"))
}

func redisSocket(s *redistest.Server) string { return strings.TrimPrefix(s.URL(), "unix://") }
