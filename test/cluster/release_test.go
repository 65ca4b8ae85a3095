//go:build cluster

package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/test/cluster/internal/kube"
	"github.com/prism-results/prism/test/internal/load"
)

const (
	release   = "prism" // then the Service of the gateway is prism-gateway
	root      = "../.." // of the repository
	chart     = root + "/charts/prism"
	keySecret = "load"
	loadName  = "load"
	modelName = "model"
	modelPort = 8080
	modelURL  = "http://model:8080"
	// patience is more than any step takes on a slow machine.
	patience = 20 * time.Minute
)

// environment are the settings of the tests.
type environment struct {
	registry, tag, nextTag, previousTag, previousChart string
	stores, postgres, redis                            string
	password                                           string // of Postgres
	values                                             string
	requests                                           int
	keep                                               bool
}

// developmentStores takes user and password from the Secret prism-postgres, which is there already.
const developmentStores = `kubectl --namespace "$NAMESPACE" apply --kustomize ` + root + `/k8s/stores &&
	kubectl --namespace "$NAMESPACE" rollout status statefulset/postgres --timeout 10m &&
	kubectl --namespace "$NAMESPACE" exec statefulset/postgres -- sh -c 'createdb --username "$POSTGRES_USER" ` + secondDatabase + `' &&
	kubectl --namespace "$NAMESPACE" rollout status deployment/redis --timeout 10m`

func readEnvironment(t *testing.T) environment {
	t.Helper()
	get := func(name, fallback string) string { return cmp.Or(os.Getenv("PRISM_CLUSTER_"+name), fallback) }
	e := environment{
		registry: get("REGISTRY", ""),
		tag:      get("TAG", "dev"),
		nextTag:  get("NEXT_TAG", ""),
		stores:   get("STORES", developmentStores),
		password: rand.Text(),
		redis:    get("REDIS_URL", "redis://redis:6379/0"),
		values:   get("VALUES", ""),
		keep:     get("KEEP", "") != "",
	}
	e.postgres = get("POSTGRES_URL", "postgres://prism:"+e.password+"@postgres:5432/prism?sslmode=disable")
	at, err := url.Parse(e.postgres)
	if err != nil || at.User == nil {
		t.Fatal("PRISM_CLUSTER_POSTGRES_URL: no URL with a user and a password")
	}
	e.password, _ = at.User.Password()
	e.previousTag, e.previousChart = get("PREVIOUS_TAG", e.tag), get("PREVIOUS_CHART", chart)
	if e.nextTag == "" {
		t.Fatal("PRISM_CLUSTER_NEXT_TAG is required: the tag of images of the next release (test/internal/next)")
	}
	if e.requests, err = strconv.Atoi(get("REQUESTS", "10000")); err != nil {
		t.Fatalf("PRISM_CLUSTER_REQUESTS: %v", err)
	}
	return e
}

func (e environment) image(name string) string {
	if e.registry != "" {
		name = strings.TrimSuffix(e.registry, "/") + "/" + name
	}
	return name + ":" + e.tag
}

// version is a chart, and what it is installed with.
type version struct {
	chart, tag, logLevel string
	set                  string // further values, as --set takes them
}

// cluster is a namespace with a release.
type cluster struct {
	env                     environment
	ns                      kube.Namespace
	values                  string // a file
	previous, current, next version
	installed               version
	helmArgs                []string  // further ones of an upgrade
	accounts                [2]string // of the keys of the load
}

// at has a version be what a case begins with.
func (c *cluster) at(t *testing.T, v version) {
	t.Helper()
	if c.installed != v {
		c.upgrade(t.Context(), t, v)
	}
	c.kubectl(t.Context(), t, "delete", "pod", loadName, "--ignore-not-found") // of a case that failed
}

// install makes the namespace, and puts the previous version into it.
func install(t *testing.T) *cluster {
	t.Helper()
	c := prepare(t, map[string]any{"existingSecret": "prism-postgres", "urlKey": "url"})
	c.upgrade(t.Context(), t, c.previous)
	return c
}

// prepare makes the namespace with what a release needs. postgres is that value of the chart.
func prepare(t *testing.T, postgres map[string]any) *cluster {
	c := &cluster{env: readEnvironment(t), ns: kube.Namespace{Name: "prism-test-" + strings.ToLower(rand.Text()[:6])}}
	ctx := t.Context()
	must := func(_ string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must("", c.ns.Apply(ctx, kube.Restricted(c.ns.Name)))
	t.Cleanup(func() {
		if t.Failed() {
			c.tell(t)
		}
		if !c.env.keep {
			//nolint:usetesting // the test's context has ended
			_, _ = kube.Namespace{Name: "default"}.Kubectl(context.Background(), "delete", "namespace", c.ns.Name, "--wait=false")
		}
	})
	must("", c.ns.Apply(ctx, c.modelTool().Service(),
		kube.Secret("prism-postgres", map[string]string{"username": "prism", "password": c.env.password, "url": c.env.postgres}),
		kube.Secret("prism-redis", map[string]string{"url": c.env.redis})))
	c.model(t)
	must(c.ns.Shell(ctx, c.env.stores))

	dir := t.TempDir()
	c.values = filepath.Join(dir, "values.json")
	if err := os.WriteFile(c.values, c.valuesFile(t, postgres), 0o600); err != nil {
		t.Fatal(err)
	}
	const previous = "0.0.1"
	must(c.ns.Helm(ctx, "package", c.env.previousChart, "--version", previous, "--app-version", c.env.previousTag, "--destination", dir))
	c.previous = version{chart: filepath.Join(dir, release+"-"+previous+".tgz"), tag: c.env.previousTag, logLevel: "info"}
	c.current = version{chart: chart, tag: c.env.tag, logLevel: "warn"}
	c.next = version{chart: chart, tag: c.env.nextTag, logLevel: "info"}
	return c
}

func (c *cluster) modelTool() kube.Tool {
	return kube.Tool{Name: modelName, Image: c.env.image("prism-cluster-load"), Args: []string{"model"}, Port: modelPort}
}

// model starts a new model: a load compares the count of model calls with its own results.
func (c *cluster) model(t *testing.T) {
	t.Helper()
	ctx, tool := t.Context(), c.modelTool()
	c.kubectl(ctx, t, "delete", "pod", modelName, "--ignore-not-found", "--wait", "--timeout", "2m")
	if err := c.ns.Apply(ctx, tool.Pod()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ns.Kubectl(ctx, "wait", "--for=condition=Ready", "pod/"+modelName, "--timeout", "5m"); err != nil {
		t.Fatalf("the image %s does not run: %v", tool.Image, err)
	}
}

// keys puts keys of two new accounts into the Secret of the load.
func (c *cluster) keys(t *testing.T) {
	t.Helper()
	keys := map[string]string{}
	for i, name := range []string{"PRISM_API_KEY", "PRISM_OTHER_API_KEY"} {
		account := "load-" + strings.ToLower(rand.Text()[:10]) // the Postgres may be shared with other namespaces
		c.operate(t.Context(), t, "account", "create", account)
		keys[name], c.accounts[i] = strings.TrimSpace(c.operate(t.Context(), t, "key", "create", "--account", account)), account
	}
	if err := c.ns.Apply(t.Context(), kube.Secret(keySecret, keys)); err != nil {
		t.Fatal(err)
	}
}

// valuesFile leaves everything that matters here at its default, which is meant for production.
func (c *cluster) valuesFile(t *testing.T, postgres map[string]any) []byte {
	t.Helper()
	small := map[string]any{"requests": map[string]any{"cpu": "10m", "memory": "32Mi"}} // a laptop's node is small
	b, err := json.Marshal(map[string]any{
		"image":    map[string]any{"registry": c.env.registry},
		"postgres": postgres,
		"redis":    map[string]any{"existingSecret": "prism-redis", "urlKey": "url"},
		"model":    map[string]any{"provider": "systemone", "baseURL": modelURL},
		"networkPolicy": map[string]any{
			"model": map[string]any{
				"to":    []any{map[string]any{"podSelector": map[string]any{"matchLabels": map[string]any{"app": modelName}}}},
				"ports": []any{modelPort},
			},
			"metrics": map[string]any{"namespace": c.ns.Name}, // the load looks at them
		},
		"defaults": map[string]any{"resources": small},
		"gateway":  map[string]any{"resources": small},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// upgrade installs a version, or upgrades to it, and waits until nothing of another one is left.
func (c *cluster) upgrade(ctx context.Context, t *testing.T, v version) {
	t.Helper()
	args := []string{
		"upgrade", "--install", release, v.chart, "--values", c.values,
		"--set", "image.tag=" + v.tag, "--set", "defaults.logLevel=" + v.logLevel, "--wait", "--timeout", "15m",
	}
	if c.env.values != "" {
		args = append(args, "--values", c.env.values)
	}
	if v.set != "" {
		args = append(args, "--set", v.set)
	}
	c.helm(ctx, t, append(args, c.helmArgs...)...)
	c.settled(ctx, t, v)
}

// rollback goes back to the first revision, which is the previous version.
func (c *cluster) rollback(ctx context.Context, t *testing.T) {
	t.Helper()
	c.helm(ctx, t, "rollback", release, "1", "--wait", "--timeout", "15m")
	c.settled(ctx, t, c.previous)
}

// settled waits until all Pods of the release are of the version and ready, and none goes away.
func (c *cluster) settled(ctx context.Context, t *testing.T, v version) {
	t.Helper()
	c.installed = v
	c.await(ctx, t, "the release has settled", func(ctx context.Context) (bool, string, error) {
		pods, err := c.ns.Pods(ctx, selector(""))
		ok := err == nil && len(pods) >= 2*len(services) && allReady(pods)
		for _, pod := range pods {
			ok = ok && strings.HasSuffix(pod.Spec.Containers[0].Image, ":"+v.tag)
			if pod.Restarts() > 0 {
				t.Errorf("%s was restarted %d times", pod.Metadata.Name, pod.Restarts())
			}
		}
		return ok, summary(pods), err
	})
}

// load calls while disturb does its work and until there are enough requests, and returns what was seen.
func (c *cluster) load(t *testing.T, enough int, disturb func(context.Context)) *load.Report {
	t.Helper()
	c.keys(t)
	return c.loadWith(t, kube.Tool{Secret: keySecret}, enough, disturb)
}

// loadWith is load by a Pod with further arguments and the keys that its tool has.
func (c *cluster) loadWith(t *testing.T, tool kube.Tool, enough int, disturb func(context.Context)) *load.Report {
	t.Helper()
	tool.Name, tool.Image = loadName, c.env.image("prism-cluster-load")
	tool.Args = append([]string{"load", "-url", release + "-gateway", "-model", modelURL}, tool.Args...)
	c.model(t)
	lines := strings.Split(strings.TrimSpace(c.run(t.Context(), t, tool, func(ctx context.Context) {
		// By then calls are at the model.
		c.awaitRequests(ctx, t, 1500)
		disturb(ctx)
		c.awaitRequests(ctx, t, enough)
		c.kubectl(ctx, t, "exec", tool.Name, "--", "prism-cluster-load", "stop")
	})), "\n")
	var last load.Line
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Report == nil {
		t.Fatalf("the load ended with %q: %v", lines[len(lines)-1], err)
	}
	t.Logf("%s", lines[len(lines)-1])
	return last.Report
}

func (c *cluster) awaitRequests(ctx context.Context, t *testing.T, n int) {
	t.Helper()
	c.await(ctx, t, fmt.Sprintf("there were %d requests", n), func(ctx context.Context) (bool, string, error) {
		out, err := c.ns.Kubectl(ctx, "logs", loadName, "--tail", "1")
		var line load.Line
		if err == nil && json.Unmarshal([]byte(out), &line) == nil && line.Progress != nil {
			return line.Progress.Calls >= n, out, nil
		}
		return false, out, err
	})
}
