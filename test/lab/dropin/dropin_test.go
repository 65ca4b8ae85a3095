package dropin

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// guided is a program of the guide.
type guided struct{ language, client, source string }

// said is the input of each program.
const said = "I was charged twice. Please pay me back."

// The programs of the guide run as they stand there. Each gets the model's answer, and makes one result. When the model refuses, the
// client's own retries make no second result, and no second call of the model. A 503, which took nothing, they repeat.
// spec: formats-of-others, retries-of-others
func TestTheProgramsOfTheGuideAskPrism(t *testing.T) {
	t.Parallel()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/drop-in.md"))
	if err != nil {
		t.Fatal(err)
	}
	var programs []guided
	for _, block := range regexp.MustCompile("(?s)```(python|js|go) (\\w+)\n(.*?)```").FindAllSubmatch(page, -1) {
		programs = append(programs, guided{string(block[1]), string(block[2]), string(block[3])})
	}
	if len(programs) != 8 {
		t.Fatalf("the guide has %d programs", len(programs))
	}
	prism := newPrism(t, root, string(page))
	for _, p := range programs {
		t.Run(p.language+" "+p.client, func(t *testing.T) {
			if changed := strings.Count(p.source, " changed\n"); changed != 2 {
				t.Errorf("%d lines are changed", changed)
			}
			question := "refund"
			if strings.HasSuffix(p.client, "_adhoc") { // spec: adhoc-call, adhoc-names
				question = "q1"
			}
			answer := model.Answer(model.Answers{question: model.Yes(0.875)})
			script := prism.model.Script(answer)
			output, err := prism.run(t, p, script.Tag)
			if err != nil || strings.TrimSpace(output) != "0.875" {
				t.Errorf("it says %q, %v", output, err)
			}
			prism.wantOne(t, script, client.OK)

			script = prism.model.Script(model.Status(400))
			if output, err = prism.run(t, p, script.Tag); err == nil {
				t.Errorf("a failed result is no error: %q", output)
			}
			prism.wantOne(t, script, client.Failed)

			script = prism.model.Script(answer)
			before := prism.refuse(1)
			output, err = prism.run(t, p, script.Tag)
			calls := prism.calls.Load() - before
			if p.client == "litellm" { // which leaves it to the program
				if err == nil || calls != 1 || script.Calls() != 0 {
					t.Errorf("after a 503 it says %q, after %d calls of Prism and %d of the model", output, calls, script.Calls())
				}
				return
			}
			if err != nil || strings.TrimSpace(output) != "0.875" {
				t.Errorf("after a 503 it says %q, %v", output, err)
			}
			if calls != 2 {
				t.Errorf("%d calls of Prism", calls)
			}
			prism.wantOne(t, script, client.OK)
		})
	}
}

// prism is a running Prism with the prism of the guide.
type prism struct {
	root, url, key string
	model          *model.Model
	client         *client.Client
	service        *launch.Service
	results        int
	env            []string // of programs, beside where Prism is

	refusing atomic.Int64 // how many of the next calls are a 503
	calls    atomic.Int64
}

// refuse makes the next calls a 503, and returns how many calls there were.
func (p *prism) refuse(next int64) (before int64) {
	p.refusing.Store(next)
	return p.calls.Load()
}

// serve passes calls on to Prism, or answers them as a Prism that is stopping does (spec: error-service-unavailable).
func (p *prism) serve(to string) http.Handler {
	target, err := url.Parse(to)
	if err != nil {
		panic(err) // it is that of a server which was started
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.calls.Add(1)
		if p.refusing.Add(-1) >= 0 {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"statusCode": 503, "error": "Service Unavailable", "message": "Service Unavailable"}`))
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

func newPrism(t *testing.T, root, page string) *prism {
	t.Helper()
	p := &prism{root: root, model: model.New(nil)}
	t.Cleanup(p.model.Close)
	s, err := launch.New(t.Context(), launch.Prism, map[string]string{
		"PRISM_DATA_DIR": t.TempDir(), "PRISM_MODEL_PROVIDER": "systemone", "PRISM_MODEL_BASE_URL": p.model.BaseURL(),
		"PRISM_MODEL_NAME": "m", "PRISM_MODEL_API_KEY": "k",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Process().StopAfter(t)
	p.service = s
	front := httptest.NewServer(p.serve(s.URL()))
	t.Cleanup(front.Close)
	p.url = front.URL
	if p.key, err = s.DemoKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.client, err = client.New(client.Config{URL: p.url, Key: p.key}); err != nil {
		t.Fatal(err)
	}
	shell := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(page)
	if output, err := p.execute(t, t.TempDir(), "sh", "-c", shell[1]); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return p
}

// run runs a program whose input has a tag too.
func (p *prism) run(t *testing.T, g guided, tag string) (string, error) {
	t.Helper()
	if strings.Count(g.source, said) != 1 {
		t.Fatalf("the program does not say %q once", said)
	}
	command := p.command(t, g.language, strings.Replace(g.source, said, said+" "+tag, 1))
	return p.execute(t, p.root, command[0], command[1:]...)
}

// command is the command that runs a program of the guide, which is compiled if its language is.
func (p *prism) command(t *testing.T, language, source string) []string {
	t.Helper()
	tools := filepath.Join(p.root, ".tools/dropin")
	dir, err := os.MkdirTemp(tools, "run-") // below node_modules, where node looks
	if err != nil {
		t.Fatalf("this test needs clients from PyPI and npm: make compat: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, map[string]string{"python": "program.py", "js": "program.mjs", "go": "main.go"}[language])
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	switch language {
	case "js":
		node, err := program.Find("node")
		if err != nil {
			t.Fatal(err)
		}
		return []string{node, file}
	case "go":
		built := filepath.Join(dir, "program")
		if _, err := p.execute(t, p.root, "go", "build", "-trimpath", "-o", built, file); err != nil {
			t.Fatal(err)
		}
		return []string{built}
	}
	return []string{filepath.Join(tools, "python/bin/python"), file}
}

// execute runs a program in a folder, and returns what it prints.
func (p *prism) execute(t *testing.T, dir, name string, args ...string) (string, error) {
	t.Helper()
	path, err := program.Find(name)
	if strings.Contains(name, "/") {
		path, err = name, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PRISM_URL="+p.url, "PRISM_API_KEY="+p.key, "CGO_ENABLED=0")
	cmd.Env = append(cmd.Env, p.env...)
	output, err := cmd.Output()
	return string(output), err
}

// wantOne checks that a program made one result, with one call of the model.
func (p *prism) wantOne(t *testing.T, script *model.Script, status client.Status) {
	t.Helper()
	if calls := script.Calls(); calls != 1 {
		t.Errorf("%d calls of the model", calls)
	}
	page, err := p.client.ListResults(t.Context(), client.ResultFilter{}, client.PageOptions{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	all := page.Data
	if made := len(all) - p.results; made != 1 || all[0].Status != status {
		t.Errorf("%d results", made)
	}
	p.results = len(all)
}
