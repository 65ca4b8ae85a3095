//go:build cluster

package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/prism-results/prism/test/cluster/internal/kube"
	"github.com/prism-results/prism/test/internal/next"
)

const nextName = "next"

// nextRelease upgrades to a release with an added member and an added operation, and rolls back, while both are called beside the load.
func (c *cluster) nextRelease(t *testing.T) {
	c.at(t, c.previous)
	report := c.load(t, 0, func(ctx context.Context) {
		tool := kube.Tool{
			Name: nextName, Image: c.env.image("prism-cluster-load"), Secret: keySecret, Args: []string{"next", "-url", release + "-gateway"},
		}
		defer c.kubectl(ctx, t, "delete", "pod", nextName, "--ignore-not-found")
		lines := strings.Split(strings.TrimSpace(c.run(ctx, t, tool, func(ctx context.Context) {
			const enough = 50
			c.awaitCalls(ctx, t, func(seen *next.Calls) bool { return seen.Operation[http.StatusNotFound] >= enough })
			c.upgrade(ctx, t, c.next)
			var before int
			c.awaitCalls(ctx, t, func(seen *next.Calls) bool {
				before = seen.Operation[http.StatusNotFound]
				return seen.Noted >= enough && seen.Operation[http.StatusOK] >= enough
			})
			c.rollback(ctx, t)
			c.awaitCalls(ctx, t, func(seen *next.Calls) bool { return seen.Operation[http.StatusNotFound] >= before+enough })
			c.kubectl(ctx, t, "exec", nextName, "--", "prism-cluster-load", "stop")
		})), "\n")
		var last next.Line
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Report == nil {
			t.Fatalf("the calls ended with %q: %v", lines[len(lines)-1], err)
		}
		t.Logf("%s", lines[len(lines)-1])
		if err := last.Report.Right(); err != nil {
			t.Error(err)
		}
	})
	if err := report.Unbroken(); err != nil {
		t.Error(err)
	}
}

func (c *cluster) awaitCalls(ctx context.Context, t *testing.T, done func(*next.Calls) bool) {
	t.Helper()
	c.await(ctx, t, "there were enough calls", func(ctx context.Context) (bool, string, error) {
		out, err := c.ns.Kubectl(ctx, "logs", nextName, "--tail", "1")
		var line next.Line
		if err != nil || json.Unmarshal([]byte(out), &line) != nil || line.Progress == nil {
			return false, out, err
		}
		return done(line.Progress), out, nil
	})
}
