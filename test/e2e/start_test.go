package e2e

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// TestStartErrors holds that no binary starts with an invalid setting. The message has the setting's name, the problem and an
// example, and not the value, which may be a secret.
// spec: required-settings, settings
func TestStartErrors(t *testing.T) {
	const secret = "hunter2"
	wrong := []struct{ name, value, what string }{
		{"PRISM_LISTEN", secret, "must be host:port"},
		{"PRISM_ADMIN_LISTEN", "127.0.0.1:" + secret, "must have a port"},
		{"PRISM_DATABASE_URL", "mysql://u:" + secret + "@h/db", "must be a URL that begins with postgres://"},
		{"PRISM_DATABASE_URL", "postgres://u:" + secret + "@h/db?sslmode=perhaps", "sslmode is invalid"},
		{"PRISM_DATABASE_MAX_CONNS", "0", "must be 1 or more"},
		{"PRISM_MIGRATIONS", secret, "must be one of run, wait"},
		{"PRISM_REDIS_URL", "http://:" + secret + "@h", "must be a URL that begins with redis://"},
		{"PRISM_REDIS_URL", "redis://:" + secret + "@h/notanumber", "redis://host:6379"},
		{"PRISM_REDIS_PASSWORD", secret, "needs PRISM_REDIS_URL"},
		{"PRISM_RESULTS_URL", "ftp://" + secret, "must be a URL that begins with http://"},
		{"PRISM_RESULTS_URL", "https://" + secret, "needs PRISM_INTERNAL_TLS_DIR"},
		{"PRISM_INTERNAL_TLS_DIR", "/nowhere", "/nowhere/tls.crt: no such file or directory"},
		{"PRISM_INTERNAL_TLS_MODE", secret, "must be one of strict, permissive"},
		{"PRISM_MODEL_PROXY_URL", secret, "must be a URL that begins with http://"},
		{"PRISM_RESULTS_TOKEN", "", "is required"},
		{"PRISM_MODEL_PROXY_TOKEN", "", "is required"},
		{"PRISM_RESULTS_TOKEN", secret, "must be tokens of 32 or more ASCII characters"},
		{"PRISM_MODEL_PROXY_TOKEN", "a-token-of-32-characters-or-more," + secret, "must be tokens of 32 or more ASCII characters"},
		{"PRISM_RESULTS_URL", "", "is required"},
		{"PRISM_MODEL_PROXY_URL", "", "is required"},
		{"PRISM_DATABASE_URL", "", "is required"},
		{"PRISM_MODEL_PROVIDER", "", "is required"},
		{"PRISM_MODEL_PROVIDER", secret, "must be one of systemone"},
		{"PRISM_MODEL_BASE_URL", secret, "must be a URL that begins with http://"},
		{"PRISM_MAX_IN_FLIGHT", "-1", "must not be negative"},
		{"PRISM_MAX_CONNECTIONS", "many", "must be a whole number"},
		{"PRISM_MAX_BODY_BYTES", "1MB", "must be a size such as"},
		{"PRISM_DRAIN_DELAY", "5", "must be a duration such as"},
		{"PRISM_LOG_LEVEL", secret, "must be one of debug, info"},
	}
	onEach(t, func(t *testing.T, s *stack) {
		for _, p := range s.parts {
			_, help := command(t, p, nil, "--help")
			for _, c := range wrong {
				if !strings.Contains(help, " "+c.name+" ") || c.what == "is required" && s.topology == standalone {
					continue // not one of its settings, or not required
				}
				if c.name == "PRISM_DATABASE_URL" && p.Env["PRISM_DATABASES_FILE"] != "" {
					continue // the file is in its place
				}
				t.Run(p.Name+", "+c.name+" "+c.what, func(t *testing.T) {
					t.Parallel()
					env := maps.Clone(p.Env)
					if c.what == "needs PRISM_REDIS_URL" {
						delete(env, "PRISM_REDIS_URL")
					}
					if _, own := env["PRISM_DATA_DIR"]; own { // that of the running Prism is taken
						env["PRISM_DATA_DIR"] = t.TempDir()
					}
					env[c.name] = c.value
					code, out := command(t, p, env, "serve")
					if code != 1 || !strings.Contains(out, c.name+": ") || !strings.Contains(out, c.what) {
						t.Errorf("exit code %d: %s", code, out)
					}
					if !strings.HasPrefix(c.name, "PRISM_REDIS_") && !strings.Contains(out, "for example "+c.name+"=") {
						t.Errorf("no example: %s", out)
					}
					if strings.Contains(out, secret) {
						t.Errorf("the value is repeated: %s", out)
					}
				})
			}
		}
	})
}

// TestStartWithoutPostgres holds that a starting process waits for its database. The log has the address and the error, the
// process is alive, and /readyz is false and names the check.
func TestStartWithoutPostgres(t *testing.T) {
	t.Parallel()
	nobody, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	s, err := launch.Options{Database: "postgres://prism:hunter2@" + nobody + "/orders?sslmode=disable", Flags: program.TestFlags(), Started: world.started}.Standalone(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Launch(s.Env)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	soon(t, p, "the log says where it looked", func() bool {
		for line := range strings.Lines(p.Stderr()) {
			if strings.Contains(line, "waiting for the database") && containsAll(line, "user=prism database=orders", nobody, "connection refused") {
				return true
			}
		}
		return false
	})
	soon(t, p, "it is alive and not ready", func() bool {
		alive, _, err := s.Get(t.Context(), "/healthz")
		if err != nil || alive != http.StatusOK {
			return false
		}
		ready, body, err := s.Get(t.Context(), "/readyz")
		return err == nil && ready == http.StatusServiceUnavailable && strings.Contains(body, `{"name":"database","ok":false}`)
	})
	if strings.Contains(strings.Join(launch.Lines(p), "\n"), "hunter2") {
		t.Error("the password was printed")
	}
}

func containsAll(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// soon waits until seen returns true.
func soon(t *testing.T, p *program.Process, what string, seen func() bool) {
	t.Helper()
	deadline := time.NewTimer(startBudget)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !seen() {
		select {
		case <-tick.C:
		case <-p.Done():
			t.Fatalf("not seen: %s; it ended:\n%s", what, strings.Join(launch.Lines(p), "\n"))
		case <-deadline.C:
			t.Fatalf("not seen: %s:\n%s", what, strings.Join(launch.Lines(p), "\n"))
		}
	}
}
