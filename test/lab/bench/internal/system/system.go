// Package system starts what is measured: Prism in its topologies, the peer, and the bare chain.
package system

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/test/internal/load"
)

// System is a running server, of one or several processes, with a key and stored results of each prism.
type System struct {
	Name      string
	Addr      string // host and port that callers use
	Key       string
	Processes []*Process
	URL       string     // of the database; "" with SQLite
	file      string     // of SQLite, if Archived started it
	Query     string     // after the path of creates with a key
	IDs       [][]string // of stored results, by prism in the order of Prisms
	Request   []byte     // of every call that asks the model, if it is no create

	stores *Stores
}

// Names of the systems in reports.
const (
	OneProcess     = "Prism, one process"
	ThreeProcesses = "Prism, three processes"
	OnSQLite       = "Prism, one process on SQLite"
	NodePeer       = "Node and Fastify, one process"
	BareChain      = "Bare chain, three processes"
	PortkeyGateway = "Portkey's gateway"
)

// Close ends the processes. It may be called twice.
func (s *System) Close() {
	for _, p := range s.Processes {
		p.Kill()
	}
}

func (s *System) add(p *Process) { s.Processes, s.Addr = append(s.Processes, p), p.Addr }

// modelSettings are the settings for a model at a URL, the models of a file, or without either the offline model.
func modelSettings(url string) map[string]string {
	switch {
	case url == "":
		return map[string]string{"PRISM_MODEL_PROVIDER": "offline"}
	case filepath.IsAbs(url):
		return map[string]string{"PRISM_MODELS_FILE": url}
	}
	return map[string]string{"PRISM_MODEL_PROVIDER": "systemone", "PRISM_MODEL_BASE_URL": url}
}

// maxInFlight lets all calls of the benchmark in.
const maxInFlight = "8192"

// start runs one process of Prism over a database.
func (d *Data) start(ctx context.Context, bin, url, modelURL string) (*System, error) {
	env := modelSettings(modelURL)
	env["PRISM_DATABASE_URL"], env["PRISM_MAX_IN_FLIGHT"] = url, maxInFlight
	p, err := startPrism(ctx, filepath.Join(bin, "prism"), env, d.stores.Env)
	if err != nil {
		return nil, err
	}
	s := d.system(OneProcess, url)
	s.add(p)
	return s, nil
}

func (d *Data) system(name, url string) *System {
	return &System{Name: name, Key: d.key, URL: url, IDs: d.ids, stores: d.stores}
}

// One starts Prism as one process over Postgres. Its locks are in memory.
func (d *Data) One(ctx context.Context, bin, modelURL string) (*System, error) {
	url, err := d.clone(ctx)
	if err != nil {
		return nil, err
	}
	return d.start(ctx, bin, url, modelURL)
}

// Three starts Prism as three processes over Postgres and Redis.
func (d *Data) Three(ctx context.Context, bin, modelURL string) (*System, error) {
	url, err := d.clone(ctx)
	if err != nil {
		return nil, err
	}
	return d.three(ctx, bin, url, modelURL)
}

// Workers is Three with a worker of file runs.
func (d *Data) Workers(ctx context.Context, bin, modelURL string) (*System, error) {
	s, err := d.Three(ctx, bin, modelURL)
	if err != nil {
		return nil, err
	}
	env := maps.Clone(s.Processes[len(s.Processes)-1].Env) // of the gateway, which calls the same services
	p, err := startPrism(ctx, filepath.Join(bin, "prism-runs"), env, d.stores.Env)
	if err != nil {
		s.Close()
		return nil, err
	}
	s.Processes = append(s.Processes, p)
	return s, nil
}

// Sending is Three with a sender of webhooks, which may call this machine.
func (d *Data) Sending(ctx context.Context, bin, modelURL string) (*System, error) {
	s, err := d.Three(ctx, bin, modelURL)
	if err != nil {
		return nil, err
	}
	p, err := startPrism(ctx, filepath.Join(bin, "prism-webhooks"), map[string]string{
		"PRISM_RESULTS_URL": "http://" + s.Processes[0].Addr, "PRISM_RESULTS_WEBHOOKS_TOKEN": launch.DeliveriesToken,
		"PRISM_WEBHOOK_ALLOW": "127.0.0.0/8",
	}, d.stores.Env)
	if err != nil {
		s.Close()
		return nil, err
	}
	s.Processes = append(s.Processes, p)
	return s, nil
}

// ThreeInPlace is Three over the database itself instead of a copy. No copy can be made after it.
func (d *Data) ThreeInPlace(ctx context.Context, bin, modelURL string) (*System, error) {
	return d.three(ctx, bin, d.url, modelURL)
}

func (d *Data) three(ctx context.Context, bin, url, modelURL string) (*System, error) {
	s := d.system(ThreeProcesses, url)
	if err := s.startThree(ctx, bin, map[string]string{"PRISM_DATABASE_URL": url}, modelURL); err != nil {
		return nil, err
	}
	return s, nil
}

// startThree runs three processes of Prism. store has the settings of its databases.
func (s *System) startThree(ctx context.Context, bin string, store map[string]string, modelURL string) error {
	gateway := map[string]string{"PRISM_REDIS_URL": s.stores.redis.URL()}
	results := map[string]string{"PRISM_RESULTS_WEBHOOKS_TOKEN": launch.DeliveriesToken}
	maps.Copy(results, store)
	for _, part := range []struct {
		name     string
		variable string // of the gateway, for the address of this part
		env      map[string]string
	}{
		{"prism-results", "PRISM_RESULTS_URL", results},
		{"prism-model-proxy", "PRISM_MODEL_PROXY_URL", modelSettings(modelURL)},
		{"prism-gateway", "", gateway},
	} {
		part.env["PRISM_RESULTS_TOKEN"], part.env["PRISM_MODEL_PROXY_TOKEN"] = launch.ResultsToken, launch.ModelsToken
		part.env["PRISM_MAX_IN_FLIGHT"] = maxInFlight
		p, err := startPrism(ctx, filepath.Join(bin, part.name), part.env, s.stores.Env)
		if err != nil {
			s.Close()
			return err
		}
		s.add(p)
		if part.variable != "" {
			gateway[part.variable] = "http://" + p.Addr
		}
	}
	return nil
}

// SQLite starts Prism as one process over SQLite in a new folder, and makes some results of each prism.
func (s *Stores) SQLite(ctx context.Context, bin, dir, modelURL string, results int, prisms ...Prism) (*System, error) {
	env := modelSettings(modelURL)
	env["PRISM_DATA_DIR"], env["PRISM_MAX_IN_FLIGHT"] = dir, maxInFlight
	_, key, err := operate(ctx, filepath.Join(bin, "prism"), env)
	if err != nil {
		return nil, err
	}
	p, err := startPrism(ctx, filepath.Join(bin, "prism"), env, s.Env)
	if err != nil {
		return nil, err
	}
	system := &System{Name: OnSQLite, Key: key, stores: s, IDs: make([][]string, len(prisms))}
	system.add(p)
	for i, p := range prisms {
		id, err := system.define(ctx, p)
		for n := 1; n < results && err == nil; n++ {
			system.IDs[i] = append(system.IDs[i], id)
			id, err = system.Create(ctx, p)
		}
		if err != nil {
			system.Close()
			return nil, err
		}
	}
	return system, nil
}

// neighbours is how many results of each prism an account of Neighbour and Spread has.
const neighbours = 50

// Neighbour is the system for another account, with a prism and some results.
func (s *System) Neighbour(ctx context.Context, bin string, p Prism) (*System, error) {
	return s.account(ctx, bin, map[string]string{"PRISM_DATABASE_URL": s.URL}, "neighbour", p)
}

// operate makes the store, an account and a key with the operator's commands.
func operate(ctx context.Context, bin string, env map[string]string) (account, key string, err error) {
	for _, command := range []struct {
		args   []string
		output *string
	}{
		{[]string{"migrate"}, new(string)},
		{[]string{"account", "create", "bench"}, &account},
		{[]string{"key", "create", "--account", "bench"}, &key},
	} {
		if *command.output, err = program.Run(ctx, program.Command{Path: bin, Args: command.args, Env: env}); err != nil {
			return "", "", err
		}
	}
	return account, key, nil
}

// Call makes a call that is not measured and returns the body of the response. It is made again while the response is the 503, which took
// nothing.
func (s *System) Call(ctx context.Context, method, path, body string, status int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	for {
		got, b, err := s.call(ctx, method, path, body)
		if err == nil && got == http.StatusServiceUnavailable && got != status && load.Wait(ctx, time.Second) {
			continue
		}
		if err == nil && got != status {
			err = fmt.Errorf("%s: %s %s: %d: %s", s.Name, method, path, got, b)
		}
		return b, err
	}
}

func (s *System) call(ctx context.Context, method, path, body string) (status int, response []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+s.Addr+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.Key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	response, err = io.ReadAll(resp.Body)
	return resp.StatusCode, response, err
}
