//go:build cluster

package cluster

import (
	"context"
	"regexp"
	"sync"
	"testing"

	"github.com/prism-results/prism/test/cluster/internal/kube"
)

// secondDatabase is beside the database prism in the Postgres of PRISM_CLUSTER_STORES, and the name of both in Prism's file of databases.
const secondDatabase = "second"

// TestDatabases is of a release with two databases.
func TestDatabases(t *testing.T) {
	database := func(name string) map[string]any {
		return map[string]any{"host": "postgres", "database": name, "username": "prism", "existingSecret": "prism-postgres", "sslMode": "disable"}
	}
	c := prepare(t, map[string]any{"databases": map[string]any{"home": database("prism"), secondDatabase: database(secondDatabase)}})
	c.upgrade(t.Context(), t, c.current)
	t.Run("accounts move there and back under load while Pods are replaced, without a failed request", c.moves)
}

func (c *cluster) moves(t *testing.T) {
	report := c.load(t, 0, func(ctx context.Context) {
		for _, to := range []string{secondDatabase, "home"} {
			var moving sync.WaitGroup
			for _, account := range c.accounts {
				moving.Go(func() { c.move(ctx, t, account, to) })
			}
			for _, service := range []string{"results", "gateway"} {
				c.kubectl(ctx, t, "rollout", "restart", "deployment/"+release+"-"+service)
				c.kubectl(ctx, t, "rollout", "status", "deployment/"+release+"-"+service, "--timeout", "10m")
			}
			moving.Wait()
			list := c.operate(ctx, t, "account", "list")
			for _, account := range c.accounts {
				if !regexp.MustCompile(`(?m) ` + account + ` .* ` + to + ` `).MatchString(list) {
					t.Errorf("%s is not in %s:\n%s", account, to, list)
				}
			}
		}
	})
	if err := report.Unbroken(); err != nil {
		t.Error(err)
	}
}

// move moves an account. The Pod in which it does so may end meanwhile: another goes on.
func (c *cluster) move(ctx context.Context, t *testing.T, account, to string) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := kube.Await(ctx, account+" is in "+to, func(ctx context.Context) (bool, string, error) {
		out, err := c.ns.Kubectl(ctx, "exec", "deploy/"+release+"-results", "--container", "results", "--",
			"prism-results", "account", "move", account, "--to", to)
		if err != nil {
			t.Logf("the move of %s ended early: %v\n%s", account, err, out)
		}
		return err == nil, out, nil
	})
	if err != nil {
		t.Error(err)
	}
}
