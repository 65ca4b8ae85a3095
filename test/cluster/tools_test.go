//go:build cluster

package cluster

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/prism-results/prism/test/cluster/internal/kube"
)

// run runs a tool to its end, with during beside it, and returns what it printed.
func (c *cluster) run(ctx context.Context, t *testing.T, tool kube.Tool, during func(context.Context)) string {
	t.Helper()
	if err := c.ns.Apply(ctx, tool.Pod()); err != nil {
		t.Fatal(err)
	}
	defer c.kubectl(ctx, t, "delete", "pod", tool.Name, "--wait", "--timeout", "2m")
	if during != nil {
		during(ctx)
	}
	var phase string
	c.await(ctx, t, tool.Name+" has ended", func(ctx context.Context) (bool, string, error) {
		out, err := c.ns.Kubectl(ctx, "get", "pod", tool.Name, "--output", "jsonpath={.status.phase}")
		phase = out
		return phase == "Succeeded" || phase == "Failed", phase, err
	})
	out := c.kubectl(ctx, t, "logs", tool.Name)
	if phase != "Succeeded" {
		t.Fatalf("%s failed: %s", tool.Name, out)
	}
	return out
}

func (c *cluster) await(ctx context.Context, t *testing.T, what string, done func(context.Context) (bool, string, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := kube.Await(ctx, what, done); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) kubectl(ctx context.Context, t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.ns.Kubectl(ctx, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (c *cluster) helm(ctx context.Context, t *testing.T, args ...string) {
	t.Helper()
	if _, err := c.ns.Helm(ctx, args...); err != nil {
		t.Fatal(err)
	}
}

// operate runs an operator command, as the chart's notes say.
func (c *cluster) operate(ctx context.Context, t *testing.T, args ...string) string {
	t.Helper()
	return c.kubectl(ctx, t, append([]string{"exec", "deploy/" + release + "-results", "--container", "results", "--", "prism-results"}, args...)...)
}

func (c *cluster) pods(ctx context.Context, t *testing.T, service string) []kube.Pod {
	t.Helper()
	pods, err := c.ns.Pods(ctx, selector(service))
	if err != nil || len(pods) == 0 {
		t.Fatalf("the Pods of %s: %d, %v", service, len(pods), err)
	}
	return pods
}

var readsLine = regexp.MustCompile(`(?m)^prism_http_requests_total\{[^}]*route="/v1/results/[^}]*status="200"\} (\d+)`)

// reads is how many a gateway has answered, by its own count. The load's Pod asks for it.
func (c *cluster) reads(ctx context.Context, pod kube.Pod) (int, error) {
	out, err := c.ns.Kubectl(ctx, "exec", loadName, "--", "prism-cluster-load", "get", "http://"+pod.Status.PodIP+":9090/metrics")
	if err != nil {
		return 0, err
	}
	line := readsLine.FindStringSubmatch(out)
	if line == nil {
		return 0, nil
	}
	return strconv.Atoi(line[1])
}

// tell shows what is left when a case has failed.
func (c *cluster) tell(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{
		{"get", "pods", "--output", "wide"},
		{"get", "events", "--sort-by", ".lastTimestamp"},
		{"logs", "--selector", selector(""), "--all-containers", "--prefix", "--tail", "40"},
	} {
		out, err := c.ns.Kubectl(context.Background(), args...) //nolint:usetesting // the test's context has ended
		t.Logf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func selector(service string) string {
	s := "app.kubernetes.io/instance=" + release
	if service != "" {
		s += ",app.kubernetes.io/component=" + service
	}
	return s
}

func allReady(pods []kube.Pod) bool {
	for _, pod := range pods {
		if !pod.Ready() {
			return false
		}
	}
	return true
}

func summary(pods []kube.Pod) string {
	var names []string
	for _, pod := range pods {
		state := pod.Status.Phase
		switch {
		case pod.Metadata.DeletionTimestamp != nil:
			state = "going"
		case pod.Ready():
			state = "ready"
		}
		names = append(names, pod.Metadata.Name+" "+state)
	}
	return strings.Join(names, ", ")
}
