package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/test/internal/attack"
	"github.com/prism-results/prism/test/internal/cgroup"
	"github.com/prism-results/prism/test/internal/load"
)

const (
	// slug is the prism of every account of a confined Prism.
	slug = "confined"
	// hang begins a message to which the model never responds.
	hang = "hang"
)

// confined is a Prism as it is shipped, whose processes have a memory limit each. The kernel kills a process beyond its limit.
type confined struct {
	services []*launch.Service
	groups   []*cgroup.Group
	database string   // the URL of Postgres; "" in one process
	keys     []string // of the accounts; the last one is quiet
	result   string   // a result of the quiet account
}

// front is the service that callers call.
func (c *confined) front() *launch.Service { return c.services[len(c.services)-1] }

func (c *confined) addr() string { return c.front().Listen }

func (c *confined) quiet() string { return c.keys[len(c.keys)-1] }

// each is one limit for every service.
func each(limit int64) func(service string) int64 { return func(string) int64 { return limit } }

// startConfined starts a Prism of one process or of three, each with its limit in bytes, and makes accounts with a prism each.
func startConfined(t *testing.T, three bool, limit func(service string) int64, accounts int) *confined {
	t.Helper()
	return startWith(t, three, false, limit, accounts)
}

// startWith is startConfined with a worker of file runs beside the three, if it is told to. One process has its own.
func startWith(t *testing.T, three, worker bool, limit func(service string) int64, accounts int) *confined {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startBudget)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	m := model.New(func(r model.Request) model.Step {
		if strings.HasPrefix(r.Field("message"), hang) {
			return model.Hang()
		}
		return model.Likely()
	})
	t.Cleanup(m.Close)
	c := &confined{}
	options := launch.Options{ModelURL: m.BaseURL(), Dir: t.TempDir(), Env: map[string]string{"PRISM_LOG_LEVEL": "error"}}
	if three {
		postgres, err := pgtest.Start(ctx, pgtest.Options{})
		must(err)
		t.Cleanup(func() { _ = postgres.Close() }) // nothing in it is kept
		database, err := postgres.CreateDatabase(ctx, "")
		must(err)
		c.database = postgres.URL(database)
		options.Database = c.database
		parts, err := options.Services(ctx)
		must(err)
		c.services = parts.All()
		if worker {
			runs, err := options.Worker(ctx, parts.Results.URL(), parts.Models.URL())
			must(err)
			c.services = slices.Insert(c.services, 2, runs)
		}
	} else {
		service, err := options.Standalone(ctx)
		must(err)
		_, err = service.Operate(ctx, "migrate")
		must(err)
		c.services = []*launch.Service{service}
	}
	for i := range accounts {
		key, err := c.services[0].Account(ctx, fmt.Sprintf("account-%d", i))
		must(err)
		c.keys = append(c.keys, key)
	}
	c.confine(t, limit, m)
	must(launch.Start(ctx, c.services...))
	for _, key := range c.keys {
		c.must(t, http.StatusCreated, load.Request{Method: http.MethodPost, URL: c.url("/v1/prisms"), Key: key, Body: load.Definition(slug)})
	}
	c.result = c.create(t, c.quiet(), "quiet")
	return c
}

// confine gives each service a control group of its own, and ends the services with the test.
func (c *confined) confine(t *testing.T, limit func(service string) int64, m *model.Model) {
	t.Helper()
	folder := t.TempDir()
	for _, s := range c.services {
		g, err := cgroup.New(s.Name, limit(s.Name))
		if err != nil {
			t.Fatal(err)
		}
		c.groups = append(c.groups, g)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
			defer cancel()
			if err := g.Remove(ctx); err != nil {
				t.Error(err)
			}
		})
		if s.Bin, err = g.Wrap(folder, s.Bin); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		m.Close() // ends the calls that hang, which a stop would wait for
		if err := launch.Stop(c.services...); err != nil {
			t.Error(err)
		}
	})
}

// alive fails the test when a process has ended, and logs the most memory of each.
func (c *confined) alive(t *testing.T) {
	t.Helper()
	for i, s := range c.services {
		if state := s.Process().State(); state != nil {
			t.Errorf("VIOLATION: %s ended by itself: %s\n%s", s.Name, state, launch.Tail(s.Process(), 5))
		}
		if peak, err := c.groups[i].Peak(); err == nil {
			t.Logf("%s had at most %d MiB", s.Name, peak>>20)
		}
	}
}

// tails is the last n lines of each service's output.
func (c *confined) tails(n int) string {
	var tails []string
	for _, s := range c.services {
		tails = append(tails, s.Name+":\n"+launch.Tail(s.Process(), n))
	}
	return strings.Join(tails, "\n")
}

func (c *confined) url(path string) string { return c.front().URL() + path }

func results() string { return "/v1/prisms/" + slug + "/results" }

// fields is the body of a create call, up to its last brace.
func fields(message string) string { return `{"fields":{"message":"` + message + `"}` }

func creation(key, message string) (path, auth string, body any) {
	return results(), key, map[string]any{"fields": map[string]string{"message": message}}
}

// create makes a result and returns its id.
func (c *confined) create(t *testing.T, key, message string) string {
	t.Helper()
	path, key, body := creation(key, message)
	r := c.must(t, http.StatusOK, load.Request{Method: http.MethodPost, URL: c.url(path), Key: key, Body: body})
	var result load.Result
	if err := json.Unmarshal(r.Body, &result); err != nil {
		t.Fatal(err)
	}
	return result.ID
}

func (c *confined) must(t *testing.T, status int, in load.Request) load.Reply {
	t.Helper()
	client := load.NewClient(1, 1)
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), recoveryBudget)
	defer cancel()
	r := client.Insist(ctx, in)
	if r.Err != nil || r.Status != status {
		t.Fatalf("%s %s: %s", in.Method, in.URL, r)
	}
	return r
}

// rawCreate is a create call of a bare connection.
func rawCreate(key, message string) []byte {
	return attack.Request(http.MethodPost, results(), key, []byte(fields(message)+"}"))
}

// neighbours are calls of the quiet account, and what became of them.
type neighbours struct {
	mu    sync.Mutex
	calls map[string][]time.Duration // how long they took, by the method
	lost  map[string]int             // by what came instead of a 200
}

// neighbour makes reads, and creates if told to, one after the other, for d. Every second caller keeps its connection.
func (c *confined) neighbour(t *testing.T, d time.Duration, creates bool) *neighbours {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	n := &neighbours{calls: map[string][]time.Duration{}, lost: map[string]int{}}
	var callers sync.WaitGroup
	for i := range 4 {
		client := load.NewClient(1, int64(1-i%2))
		read := load.Request{Method: http.MethodGet, URL: c.url("/v1/results/" + c.result), Key: c.quiet()}
		path, key, body := creation(c.quiet(), "quiet")
		create := load.Request{Method: http.MethodPost, URL: c.url(path), Key: key, Body: body}
		callers.Go(func() {
			defer client.Close()
			for k := 0; ctx.Err() == nil; k++ {
				in := read
				if creates && k%2 == 1 {
					in = create
				}
				begun := time.Now()
				r := client.Do(context.WithoutCancel(ctx), in)
				n.mu.Lock()
				n.calls[in.Method] = append(n.calls[in.Method], time.Since(begun))
				if r.Err != nil || r.Status != http.StatusOK {
					n.lost[in.Method+" "+r.String()]++
				}
				n.mu.Unlock()
				load.Wait(ctx, 20*time.Millisecond)
			}
		})
	}
	callers.Wait()
	return n
}

// late tells which calls the quiet account lost, or "". On a busy machine a service may not respond to another one in time,
// which is a 503 too.
func (n *neighbours) late(t *testing.T) (lost string) {
	t.Helper()
	calls := 0
	for method, took := range n.calls {
		calls += len(took)
		slices.Sort(took)
		t.Logf("the quiet account made %d calls of %s: p50 %s, p99 %s", len(took), method, took[len(took)/2], took[len(took)*99/100])
	}
	for reply, times := range n.lost {
		lost += fmt.Sprintf("; %d of %d calls of the quiet account: %s", times, calls, reply)
	}
	return strings.TrimPrefix(lost, "; ")
}
