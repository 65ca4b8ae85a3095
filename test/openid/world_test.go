package openid

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/pkg/testkit/program"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// world is a provider, and a Prism whose people sign in there.
type world struct {
	issuer    string
	prism     *launch.Service   // what browsers reach
	processes []*launch.Service // all of Prism
	owner     *client.Client
	store     *launch.Service // whose operator commands work on the accounts
	account   string          // of the owner
}

// start runs a standalone Prism.
func start(t *testing.T) *world {
	t.Helper()
	prism, err := launch.Options{Dir: t.TempDir(), Flags: program.TestFlags()}.Standalone(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{prism: prism, store: prism, account: "demo"}
	w.startProvider(t, prism)
	w.run(t, prism)
	key, err := prism.DemoKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.owner = newClient(t, prism.URL(), key)
	return w
}

// startServices runs the services, with the console behind the gateway.
func startServices(t *testing.T) *world {
	t.Helper()
	options := launch.Options{Database: pgtest.Shared(t).Database(t, ""), Flags: program.TestFlags()}
	three, err := options.Services(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	console, err := options.Console(t.Context(), three.Results.URL())
	if err != nil {
		t.Fatal(err)
	}
	options.Behind(three.Gateway, console)
	w := &world{prism: three.Gateway, store: three.Results, account: "acme"}
	w.startProvider(t, console)
	w.run(t, three.Results, three.Models, console, three.Gateway)
	key, err := three.Results.Account(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	w.owner = newClient(t, w.prism.URL(), key)
	return w
}

// run starts the processes of Prism, and stops them after the test.
func (w *world) run(t *testing.T, services ...*launch.Service) {
	t.Helper()
	w.processes = services
	t.Cleanup(func() {
		for _, s := range services {
			if p := s.Process(); t.Failed() && p != nil {
				t.Logf("%s printed:\n%s", s.Name, launch.Tail(p, 40))
			}
		}
		if err := launch.Stop(services...); err != nil {
			t.Error(err)
		}
	})
	if err := launch.Start(t.Context(), services...); err != nil {
		t.Fatal(err)
	}
}

// startProvider runs the provider, and gives its settings to the process with the console, which is not started yet.
func (w *world) startProvider(t *testing.T, console *launch.Service) {
	t.Helper()
	listen, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	w.issuer = "http://" + listen
	for name, value := range map[string]string{
		"PRISM_PUBLIC_URL": w.prism.URL(), "PRISM_OPENID_ISSUER": w.issuer, "PRISM_OPENID_CLIENT_ID": clientID,
		"PRISM_OPENID_CLIENT_SECRET": clientSecret,
	} {
		console.Env[name] = value
	}
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(root, ".tools/openid/node_modules/oidc-provider/lib/index.js")
	if _, err := os.Stat(module); err != nil {
		t.Fatal("this test needs oidc-provider from npm: make deps")
	}
	host, port, _ := strings.Cut(listen, ":")
	config, err := json.Marshal(map[string]any{
		"module": module, "host": host, "port": port, "people": people, "client": map[string]any{
			"client_id": clientID, "client_secret": clientSecret, "redirect_uris": []string{w.prism.URL() + "/console/openid/callback"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	node, err := program.Find("node")
	if err != nil {
		t.Fatal(err)
	}
	p, err := program.Launch(program.Command{
		Name: "oidc-provider", Path: node, Args: []string{filepath.Join(root, "test/openid/provider.mjs"), string(config)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if _, err := p.AwaitOutput(t.Context(), regexp.MustCompile("listening")); err != nil {
		t.Fatal(err)
	}
}

func newClient(t *testing.T, url, key string) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{URL: url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
