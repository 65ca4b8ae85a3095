//go:build cluster

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/test/cluster/internal/kube"
	"github.com/prism-results/prism/test/internal/filerun"
)

// fileRows take two workers with 128 rows at once 8 minutes at a model that needs 5 s for each.
const fileRows, fileWorkers = 24_000, "runs.replicas=2,runs.concurrency=128"

// fileRun upgrades the release, which replaces all workers, results with the rows and the leases, and what the workers call, and then
// deletes each worker that is there, at once and with time to end: all while rows of one run are answered.
func (c *cluster) fileRun(t *testing.T) {
	c.at(t, c.previous.with(fileWorkers))
	c.model(t)
	c.keys(t)
	tool := kube.Tool{
		Name: loadName, Image: c.env.image("prism-cluster-load"), Secret: keySecret,
		Args: []string{"filerun", "-url", release + "-gateway", "-rows", fmt.Sprint(fileRows)},
	}
	lines := strings.Split(strings.TrimSpace(c.run(t.Context(), t, tool, func(ctx context.Context) {
		c.awaitRows(ctx, t, 100)
		c.upgrade(ctx, t, c.current.with(fileWorkers))
		for i, pod := range c.pods(ctx, t, "runs") {
			grace := []string{"--grace-period", "1"}
			if i > 0 {
				grace = nil
			}
			began := time.Now()
			c.kubectl(ctx, t, append([]string{"delete", "pod", pod.Metadata.Name, "--wait", "--timeout", "5m"}, grace...)...)
			if took, most := time.Since(began), time.Duration(pod.Spec.TerminationGracePeriodSeconds)*time.Second; took >= most {
				t.Errorf("%s took %s of its %s to end", pod.Metadata.Name, took, most)
			}
		}
		if done := c.rowsDone(ctx, t); done >= fileRows {
			t.Errorf("the run was over before the last replacement was: all %d rows were done", done)
		}
	})), "\n")
	var last filerun.Line
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Report == nil {
		t.Fatalf("the run ended with %q: %v", lines[len(lines)-1], err)
	}
	t.Logf("%s", lines[len(lines)-1])
	if err := last.Report.Right(fileRows); err != nil {
		t.Error(err)
	}
	c.settled(t.Context(), t, c.installed)
}

func (c *cluster) awaitRows(ctx context.Context, t *testing.T, n int64) {
	t.Helper()
	c.await(ctx, t, fmt.Sprintf("%d rows are done", n), func(ctx context.Context) (bool, string, error) {
		out, err := c.ns.Kubectl(ctx, "logs", loadName, "--tail", "1")
		var line filerun.Line
		if err != nil || json.Unmarshal([]byte(out), &line) != nil {
			return false, out, err
		}
		return line.Done >= n, out, nil
	})
}

// rowsDone is how many rows were done when the run said so the last time.
func (c *cluster) rowsDone(ctx context.Context, t *testing.T) int64 {
	t.Helper()
	var line filerun.Line
	if err := json.Unmarshal([]byte(c.kubectl(ctx, t, "logs", loadName, "--tail", "1")), &line); err != nil {
		t.Fatal(err)
	}
	if line.Report != nil {
		return line.Report.Rows
	}
	return line.Done
}
