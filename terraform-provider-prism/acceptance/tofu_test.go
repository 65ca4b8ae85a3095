//go:build sdk

package acceptance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// budget bounds a command of OpenTofu, on a machine of any load.
const budget = 5 * time.Minute

// world is a Prism, and OpenTofu with the provider.
type world struct {
	root, tofu, config, url, key, folderOfData string
	client                                     *client.Client

	mu     sync.Mutex
	called map[string]bool // operations
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{tofu: os.Getenv("PRISM_TOFU"), called: map[string]bool{}}
	if w.tofu == "" {
		t.Fatal("PRISM_TOFU does not name OpenTofu: make compat")
	}
	var err error
	if w.root, err = program.Root(); err != nil {
		t.Fatal(err)
	}
	w.folderOfData = t.TempDir()
	s, err := launch.Options{Dir: w.folderOfData}.Standalone(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Process().StopAfter(t)
	if w.key, err = s.DemoKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(w.record(t, s.URL()))
	t.Cleanup(front.Close)
	w.url = front.URL
	if w.client, err = client.New(client.Config{URL: s.URL(), Key: w.key}); err != nil {
		t.Fatal(err)
	}
	w.build(t)
	return w
}

// build builds the provider, and has OpenTofu take it from where it is built.
func (w *world) build(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", dir, ".")
	cmd.Dir, cmd.Env = filepath.Join(w.root, "terraform-provider-prism"), append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	w.config = filepath.Join(dir, "tofurc")
	text := "provider_installation {\n  dev_overrides {\n    \"prism-results/prism\" = \"" + dir + "\"\n  }\n}\n"
	if err := os.WriteFile(w.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// record passes calls on, and remembers of which operations they are.
func (w *world) record(t *testing.T, to string) http.Handler {
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	paths := map[string]*regexp.Regexp{}
	for _, op := range api.Operations() {
		d := op.Declared()
		paths[d.Name] = regexp.MustCompile("^" + d.Method + " " + regexp.MustCompile(`\{[a-z_]+\}`).ReplaceAllString(d.Path, `[^/]+`) + "$")
	}
	return http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		w.mu.Lock()
		for name, path := range paths {
			if path.MatchString(in.Method + " " + in.URL.Path) {
				w.called[name] = true
			}
		}
		w.mu.Unlock()
		proxy.ServeHTTP(out, in)
	})
}

// folder is a folder with a configuration, and what OpenTofu knows of it.
type folder struct {
	*world
	dir string
}

func (w *world) folder(t *testing.T, config string) *folder {
	t.Helper()
	f := &folder{w, t.TempDir()}
	f.write(t, config)
	return f
}

const head = `terraform {
  required_providers {
    prism = { source = "prism-results/prism" }
  }
}
`

func (f *folder) write(t *testing.T, config string) {
	t.Helper()
	if !strings.Contains(config, "required_providers") {
		config = head + config
	}
	if err := os.WriteFile(filepath.Join(f.dir, "main.tf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs OpenTofu, and returns what it prints and its exit code.
func (f *folder) run(t *testing.T, args ...string) (output string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), budget)
	defer cancel()
	cmd := exec.CommandContext(ctx, f.tofu, args...)
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+f.config, "TF_IN_AUTOMATION=1", "TF_CLI_ARGS=-no-color", "PRISM_URL="+f.url, "PRISM_API_KEY="+f.key)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String() + problems.String(), cmd.ProcessState.ExitCode()
}

// must runs OpenTofu, which has to succeed, and returns what it prints.
func (f *folder) must(t *testing.T, args ...string) string {
	t.Helper()
	output, code := f.run(t, args...)
	if code != 0 {
		t.Fatalf("tofu %s: exit code %d: %s", strings.Join(args, " "), code, output)
	}
	return output
}

func (f *folder) apply(t *testing.T) { t.Helper(); f.must(t, "apply", "-auto-approve", "-input=false") }

// refused is what a plan says that has to fail.
func (f *folder) refused(t *testing.T, args ...string) string {
	t.Helper()
	output, code := f.run(t, args...)
	if code != 1 {
		t.Fatalf("tofu %s: exit code %d: %s", strings.Join(args, " "), code, output)
	}
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(output)), " ")
}

// change is what a plan does to a resource.
type change struct {
	Actions      []string
	After        map[string]any
	AfterUnknown map[string]any `json:"after_unknown"`
}

func (c change) does(action string) bool { return len(c.Actions) == 1 && c.Actions[0] == action }

// plan is what would be changed, by the addresses of resources, without what stays. It is kept in the file "plan".
func (f *folder) plan(t *testing.T) map[string]change {
	t.Helper()
	if output, code := f.run(t, "plan", "-out=plan", "-detailed-exitcode", "-input=false"); code == 1 {
		t.Fatalf("tofu plan: %s", output)
	}
	var shown struct {
		Changes []struct {
			Address string
			Change  change
		} `json:"resource_changes"`
	}
	text := f.must(t, "show", "-json", "plan")
	if err := json.NewDecoder(strings.NewReader(text[strings.Index(text, "{"):])).Decode(&shown); err != nil {
		t.Fatal(err)
	}
	all := map[string]change{}
	for _, c := range shown.Changes {
		if !c.Change.does("no-op") && !c.Change.does("read") {
			all[c.Address] = c.Change
		}
	}
	return all
}

// wantEmpty checks that a plan changes nothing.
func (f *folder) wantEmpty(t *testing.T) {
	t.Helper()
	if output, code := f.run(t, "plan", "-detailed-exitcode", "-input=false"); code != 0 {
		t.Fatalf("the plan is not empty: %s", output)
	}
}

func (f *folder) output(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSpace(f.must(t, "output", "-raw", name))
}

// attribute is an attribute of a resource in the state.
func (f *folder) attribute(t *testing.T, address, name string) string {
	t.Helper()
	var shown struct {
		Values struct {
			Root struct {
				Resources []struct {
					Address string
					Values  map[string]any
				}
			} `json:"root_module"`
		}
	}
	text := f.must(t, "show", "-json")
	if err := json.NewDecoder(strings.NewReader(text[strings.Index(text, "{"):])).Decode(&shown); err != nil {
		t.Fatal(err)
	}
	for _, r := range shown.Values.Root.Resources {
		if r.Address == address {
			value, _ := r.Values[name].(string)
			return value
		}
	}
	t.Fatalf("the state has no %s", address)
	return ""
}
