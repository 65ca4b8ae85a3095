//go:build cluster

package cluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/certs"
	"github.com/prism-results/prism/test/cluster/internal/kube"
)

// tokens are a line for each token that the chart made: the Secret's name, and the token.
func (c *cluster) tokens(t *testing.T) []string {
	t.Helper()
	return strings.Fields(c.kubectl(t.Context(), t, "get", "secrets", "--selector", "app.kubernetes.io/managed-by=Helm",
		"--output", `jsonpath={range .items[*]}{.metadata.name}={.data.token}{"\n"}{end}`))
}

// with is the version with further values.
func (v version) with(set string) version {
	v.set = strings.TrimPrefix(v.set+","+set, ",")
	return v
}

// tokenRotation replaces both tokens in the two steps of docs/operations.md.
func (c *cluster) tokenRotation(t *testing.T) {
	old, next := rand.Text()+rand.Text(), rand.Text()+rand.Text()
	secrets := func(name, tokens string) string {
		if err := c.ns.Apply(t.Context(), kube.Secret(name, map[string]string{"token": tokens})); err != nil {
			t.Fatal(err)
		}
		return "tokens.results.existingSecret=" + name + ",tokens.modelProxy.existingSecret=" + name
	}
	first := c.current.with(secrets("tokens-old", old))
	c.at(t, first)
	report := c.load(t, 0, func(ctx context.Context) {
		c.upgrade(ctx, t, c.current.with(secrets("tokens-both", next+","+old)))
		c.upgrade(ctx, t, c.current.with(secrets("tokens-new", next)))
	})
	if err := report.Unbroken(); err != nil {
		t.Error(err)
	}
}

// internalTLS goes through the three stages of the chart, and then replaces the authority in the three steps of
// docs/operations.md. The test signs the certificates.
func (c *cluster) internalTLS(t *testing.T) {
	const values = "internalTLS.enabled=true,internalTLS.gateway.existingSecret=tls-gateway,internalTLS.runs.existingSecret=tls-runs,internalTLS.console.existingSecret=tls-console,internalTLS.webhooks.existingSecret=tls-webhooks," +
		"internalTLS.results.existingSecret=tls-results,internalTLS.modelProxy.existingSecret=tls-model-proxy,internalTLS.stage="
	old, next := newAuthority(t), newAuthority(t)
	sign := func(from *certs.Authority, expires time.Duration, trusted ...*certs.Authority) {
		for _, service := range services {
			files, err := from.Issue(expires, release+"-"+service)
			if err != nil {
				t.Fatal(err)
			}
			files.CA = nil
			for _, a := range trusted {
				files.CA = append(files.CA, a.PEM...)
			}
			if err := c.ns.Apply(t.Context(), kube.Certificate("tls-"+service, files.Cert, files.Key, files.CA)); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.at(t, c.current)
	sign(old, time.Hour, old)
	report := c.load(t, 0, func(ctx context.Context) {
		for _, stage := range []string{"offer", "use", "require"} {
			c.upgrade(ctx, t, c.current.with(values+stage))
		}
		sign(old, time.Hour, old, next)
		c.reported(ctx, t, "authorities", func(n float64) bool { return n == 2 })
		sign(next, 4*time.Hour, old, next)
		c.reported(ctx, t, "expiry_seconds", func(left float64) bool { return left > 3*3600 })
		sign(next, 4*time.Hour, next)
		c.reported(ctx, t, "authorities", func(n float64) bool { return n == 1 })
		c.upgrade(ctx, t, c.current.with(values+"use"))
		c.upgrade(ctx, t, c.current.with(values+"offer"))
		c.upgrade(ctx, t, c.current)
	})
	if err := report.Unbroken(); err != nil {
		t.Error(err)
	}
}

func newAuthority(t *testing.T) *certs.Authority {
	t.Helper()
	a, err := certs.New()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// adminPorts are those of the chart.
var adminPorts = map[string]int{"gateway": 9090, "results": 9091, "model-proxy": 9092, "runs": 9093, "console": 9094, "webhooks": 9095}

// reported waits until every Pod exports a metric of its certificate with a wanted value. The load's Pod asks for it.
func (c *cluster) reported(ctx context.Context, t *testing.T, metric string, want func(float64) bool) {
	t.Helper()
	line := regexp.MustCompile(`(?m)^prism_internal_tls_` + metric + ` (\S+)$`)
	c.await(ctx, t, "every Pod reports "+metric, func(ctx context.Context) (bool, string, error) {
		for _, service := range services {
			for _, pod := range c.pods(ctx, t, service) {
				url := fmt.Sprintf("http://%s:%d/metrics", pod.Status.PodIP, adminPorts[service])
				out, err := c.ns.Kubectl(ctx, "exec", loadName, "--", "prism-cluster-load", "get", url)
				if err != nil {
					return false, pod.Metadata.Name, err
				}
				found := line.FindStringSubmatch(out)
				if found == nil {
					return false, pod.Metadata.Name + " exports no " + metric, nil
				}
				if value, err := strconv.ParseFloat(found[1], 64); err != nil || !want(value) {
					return false, pod.Metadata.Name + " reports " + found[1], err
				}
			}
		}
		return true, "", nil
	})
}
