//go:build cluster

package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/prism-results/prism/test/cluster/internal/kube"
	"github.com/prism-results/prism/test/internal/visit"
)

const publicHost = "prism.test"

// session upgrades the release, replaces the console's Pods once more and deletes one of them, while somebody who has signed in uses
// the console by the Ingress: the session and its keys outlive them all.
func (c *cluster) session(t *testing.T) {
	const values = "publicURL=https://" + publicHost + ",ingress.enabled=true,ingress.hosts[0].host=" + publicHost
	c.at(t, c.previous.with(values))
	account := "visit-" + strings.ToLower(rand.Text()[:10])
	c.operate(t.Context(), t, "account", "create", account)
	link := strings.TrimSpace(c.operate(t.Context(), t, "console", "link", "--print", "--account", account, "--url", "https://"+publicHost))
	if err := c.ns.Apply(t.Context(), kube.Secret(keySecret, map[string]string{"PRISM_SIGN_IN_LINK": link})); err != nil {
		t.Fatal(err)
	}
	tool := kube.Tool{
		Name: loadName, Image: c.env.image("prism-cluster-load"), Secret: keySecret,
		Args: []string{"visit", "-url", c.backend(t, publicHost, "/console/")},
	}
	lines := strings.Split(strings.TrimSpace(c.run(t.Context(), t, tool, func(ctx context.Context) {
		rounds := c.awaitRounds(ctx, t, 20)
		console := "deployment/" + release + "-console"
		c.upgrade(ctx, t, c.current.with(values))
		c.kubectl(ctx, t, "rollout", "restart", console)
		c.kubectl(ctx, t, "rollout", "status", console, "--timeout", "10m")
		c.kubectl(ctx, t, "delete", "pod", c.pods(ctx, t, "console")[0].Metadata.Name, "--wait", "--timeout", "5m")
		c.settled(ctx, t, c.installed)
		c.awaitRounds(ctx, t, rounds+100)
		c.kubectl(ctx, t, "exec", tool.Name, "--", "prism-cluster-load", "stop")
	})), "\n")
	var last visit.Line
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Report == nil {
		t.Fatalf("the visit ended with %q: %v", lines[len(lines)-1], err)
	}
	t.Logf("%s", lines[len(lines)-1])
	if err := last.Report.Right(); err != nil {
		t.Error(err)
	}
}

func (c *cluster) awaitRounds(ctx context.Context, t *testing.T, n int) (rounds int) {
	t.Helper()
	c.await(ctx, t, fmt.Sprintf("there were %d rounds", n), func(ctx context.Context) (bool, string, error) {
		out, err := c.ns.Kubectl(ctx, "logs", loadName, "--tail", "1")
		var line visit.Line
		if err != nil || json.Unmarshal([]byte(out), &line) != nil {
			return false, out, err
		}
		rounds = line.Rounds
		return rounds >= n, out, nil
	})
	return rounds
}

// backend is the host:port to which the release's Ingress sends a path of a host, as a controller reads it.
func (c *cluster) backend(t *testing.T, host, path string) string {
	t.Helper()
	var ingresses struct {
		Items []struct {
			Spec struct {
				Rules []struct {
					Host string
					HTTP struct {
						Paths []struct {
							Path, PathType string
							Backend        struct {
								Service struct {
									Name string
									Port struct {
										Name   string
										Number int
									}
								}
							}
						}
					}
				}
			}
		}
	}
	read := func(into any, args ...string) {
		t.Helper()
		out := c.kubectl(t.Context(), t, append(append([]string{"get"}, args...), "--output", "json")...)
		if err := json.Unmarshal([]byte(out), into); err != nil {
			t.Fatalf("%v in %q", err, out)
		}
	}
	read(&ingresses, "ingresses", "--selector", "app.kubernetes.io/instance="+release)
	for _, ingress := range ingresses.Items {
		for _, rule := range ingress.Spec.Rules {
			for _, p := range rule.HTTP.Paths {
				to := p.Backend.Service
				if rule.Host != host || p.PathType != "Prefix" || !strings.HasPrefix(path, strings.TrimSuffix(p.Path, "/")+"/") {
					continue
				}
				var service struct {
					Spec struct {
						Ports []struct {
							Name string
							Port int
						}
					}
				}
				read(&service, "service", to.Name)
				for _, port := range service.Spec.Ports {
					if port.Name == to.Port.Name || port.Port == to.Port.Number {
						return fmt.Sprintf("%s:%d", to.Name, port.Port)
					}
				}
			}
		}
	}
	t.Fatalf("no Ingress sends %s%s to a Service that is there", host, path)
	return ""
}
