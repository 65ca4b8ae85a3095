//go:build cluster

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/test/cluster/internal/kube"
	"github.com/prism-results/prism/test/internal/load"
)

// services in the order in which their Pods are deleted.
var services = []string{"gateway", "results", "model-proxy", "runs", "console", "webhooks"}

// TestCluster's cases follow each other on one release.
func TestCluster(t *testing.T) {
	c := install(t)
	t.Run("a helm upgrade from the previous chart and a rollback under load fail no request", c.upgradeAndRollback)
	t.Run("a rolling upgrade of all services under load fails no request", c.rollingUpgrade)
	t.Run("an upgrade to a release with an added member and operation and a rollback under load fail no request", c.nextRelease)
	t.Run("deleting any one Pod under load fails no request", c.deletion)
	t.Run("a Pod that ends suddenly under load leads to no wrong answer and loses nothing", c.suddenEnd)
	t.Run("scaling the gateway from 1 to 4 to 1 under load fails no request", c.scaling)
	t.Run("a revoked key is refused by every gateway at once", c.revocation)
	t.Run("tokens are replaced under load without a failed request", c.tokenRotation)
	t.Run("a file run has one result for each row while the release is upgraded and workers are deleted", c.fileRun)
	t.Run("a session of the console by the Ingress outlives an upgrade and the Pods of the console", c.session)
	t.Run("mutual TLS is switched on under load, and certificates and their authority replaced, without a failed request", c.internalTLS)
}

func (c *cluster) upgradeAndRollback(t *testing.T) {
	c.at(t, c.previous)
	before := c.tokens(t)
	report := c.load(t, 0, func(ctx context.Context) {
		c.upgrade(ctx, t, c.current)
		c.rollback(ctx, t)
	})
	if err := report.Unbroken(); err != nil {
		t.Error(err)
	}
	for _, token := range before {
		if !slices.Contains(c.tokens(t), token) {
			t.Error("a token is another one")
		}
	}
	if len(before) == 0 {
		t.Error("the chart made no token")
	}
}

func (c *cluster) rollingUpgrade(t *testing.T) {
	c.at(t, c.previous)
	report := c.load(t, c.env.requests, func(ctx context.Context) { c.upgrade(ctx, t, c.current) })
	if err := report.Unbroken(); err != nil {
		t.Error(err)
	}
	if report.Seen.Calls < c.env.requests {
		t.Errorf("it outlasted %d calls, want %d", report.Seen.Calls, c.env.requests)
	}
}

// deletion also shows that no Pod has to be killed: each is gone before its grace period ends.
func (c *cluster) deletion(t *testing.T) {
	c.at(t, c.current)
	report := c.load(t, 0, func(ctx context.Context) {
		for _, service := range services {
			pod := c.pods(ctx, t, service)[0]
			began := time.Now()
			c.kubectl(ctx, t, "delete", "pod", pod.Metadata.Name, "--wait", "--timeout", "5m")
			took, grace := time.Since(began), time.Duration(pod.Spec.TerminationGracePeriodSeconds)*time.Second
			t.Logf("%s was gone after %s of its %s", pod.Metadata.Name, took.Round(time.Second), grace)
			if took >= grace {
				t.Errorf("%s was killed", pod.Metadata.Name)
			}
			c.settled(ctx, t, c.current)
		}
	})
	if err := report.Unbroken(); err != nil {
		t.Error(err)
	}
}

// suddenEnd kills Pods with the calls that they have, as a node's end does. Those may fail; the others go on.
func (c *cluster) suddenEnd(t *testing.T) {
	c.at(t, c.current)
	report := c.load(t, 0, func(ctx context.Context) {
		for _, service := range services {
			pod := c.pods(ctx, t, service)[0]
			c.kubectl(ctx, t, "delete", "pod", pod.Metadata.Name, "--grace-period", "1", "--wait", "--timeout", "5m")
			c.settled(ctx, t, c.current)
		}
	})
	if err := report.Right(); err != nil {
		t.Error(err)
	}
	t.Logf("%d of %d calls failed: %v", report.Failed(), report.Seen.Calls, report.Seen.Causes)
	if report.Failed() > report.Seen.Calls/10 {
		t.Error("more failed than the calls of one Pod")
	}
}

func (c *cluster) scaling(t *testing.T) {
	c.at(t, c.current)
	name := release + "-gateway"
	scale := func(ctx context.Context, n int) {
		c.kubectl(ctx, t, "scale", "deployment", name, fmt.Sprintf("--replicas=%d", n))
		c.await(ctx, t, fmt.Sprintf("there are %d gateways", n), func(ctx context.Context) (bool, string, error) {
			pods, err := c.ns.Pods(ctx, selector("gateway"))
			return err == nil && len(pods) == n && allReady(pods), summary(pods), err
		})
	}
	scale(t.Context(), 1)
	report := c.load(t, 0, func(ctx context.Context) {
		scale(ctx, 4)
		c.await(ctx, t, "each of 4 gateways has answered reads", func(ctx context.Context) (bool, string, error) {
			pods, err := c.ns.Pods(ctx, selector("gateway"))
			for _, pod := range pods {
				if n, lookErr := c.reads(ctx, pod); lookErr != nil || n < 100 {
					return false, fmt.Sprintf("%s has answered %d", pod.Metadata.Name, n), lookErr
				}
			}
			return err == nil && len(pods) == 4, summary(pods), err
		})
		scale(ctx, 1)
	})
	if err := report.Unbroken(); err != nil {
		t.Error(err)
	}
	scale(t.Context(), 3)
}

func (c *cluster) revocation(t *testing.T) {
	c.at(t, c.current)
	var replicas []string
	for _, pod := range c.pods(t.Context(), t, "gateway") {
		replicas = append(replicas, pod.Status.PodIP+":8080")
	}
	if len(replicas) < 2 {
		t.Fatalf("there are only %d gateways", len(replicas))
	}
	c.keys(t)
	tool := kube.Tool{
		Name: "revoke", Image: c.env.image("prism-cluster-load"), Secret: keySecret,
		Args: []string{"revoke", "-replicas", strings.Join(replicas, ","), "-keys", "100"},
	}
	var seen load.Revocations
	out := c.run(t.Context(), t, tool, nil)
	if err := json.Unmarshal([]byte(out), &seen); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	t.Logf("%d keys, %d replicas: %d calls before; of %d calls after, %d refused",
		seen.Keys, seen.Replicas, seen.Before, seen.After, seen.Refused)
	if err := seen.Right(); err != nil {
		t.Error(err)
	}
}
