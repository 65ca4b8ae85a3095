package e2e

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// command runs a binary of the stack with arguments and settings and returns its exit code and both streams.
func command(t *testing.T, p *launch.Service, env map[string]string, args ...string) (code int, out string) {
	t.Helper()
	proc, err := program.Launch(program.Command{Name: p.Name, Path: p.Bin, Env: env, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	world.started(proc)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	code, err = proc.Wait(ctx)
	if err != nil {
		proc.Kill()
		t.Fatalf("%v\n%s", err, strings.Join(launch.Lines(proc), "\n"))
	}
	return code, strings.Join(launch.Lines(proc), "\n")
}

// settings are the variables that a binary reads, with their defaults where the rule has one (spec: settings).
var settings = map[string]map[string]string{
	"prism": {
		"PRISM_LISTEN": "127.0.0.1:8080", "PRISM_ADMIN_LISTEN": "127.0.0.1:9090", "PRISM_DATA_DIR": ".prism",
		"PRISM_DATABASE_URL": "", "PRISM_REDIS_URL": "", "PRISM_MODEL_PROVIDER": "offline", "PRISM_MODEL_BASE_URL": "",
		"PRISM_MODEL_NAME": "", "PRISM_MODEL_API_KEY": "", "PRISM_MODELS_FILE": "", "PRISM_DRAIN_DELAY": "0s",
	},
	"prism-gateway": {
		"PRISM_LISTEN": "127.0.0.1:8080", "PRISM_ADMIN_LISTEN": "", "PRISM_REDIS_URL": "", "PRISM_RESULTS_URL": "",
		"PRISM_MODEL_PROXY_URL": "", "PRISM_RESULTS_TOKEN": "", "PRISM_MODEL_PROXY_TOKEN": "", "PRISM_DRAIN_DELAY": "0s",
	},
	"prism-results": {
		"PRISM_LISTEN": "", "PRISM_ADMIN_LISTEN": "", "PRISM_DATABASE_URL": "", "PRISM_RESULTS_TOKEN": "", "PRISM_DRAIN_DELAY": "0s",
	},
	"prism-model-proxy": {
		"PRISM_LISTEN": "", "PRISM_ADMIN_LISTEN": "", "PRISM_MODEL_PROXY_TOKEN": "", "PRISM_MODEL_PROVIDER": "",
		"PRISM_MODEL_BASE_URL": "", "PRISM_MODEL_NAME": "", "PRISM_MODEL_API_KEY": "", "PRISM_MODELS_FILE": "", "PRISM_DRAIN_DELAY": "0s",
	},
}

// TestOperator holds the settings and the operator's commands.
// spec: required-settings
var signInLink = regexp.MustCompile(`^https://prism\.example\.com/console/sign-in#[0-9A-Za-z]{32}\n?$`)

func TestOperator(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		for _, p := range s.parts {
			// spec: settings-are-listed, settings
			t.Run("--help of "+p.Name+" lists every variable with its default", func(t *testing.T) {
				t.Parallel()
				code, out := command(t, p, nil, "--help")
				wantEqual(t, "the exit code", code, 0)
				for name, value := range settings[p.Name] {
					line := regexp.MustCompile(`(?m)^.*\b` + name + `\b.*$`).FindString(out)
					if line == "" {
						t.Errorf("%s is not listed", name)
					} else if !strings.Contains(line, value) {
						t.Errorf("%q does not show the default %s", line, value)
					}
				}
			})
			t.Run("a command that "+p.Name+" does not have is an error", func(t *testing.T) {
				t.Parallel()
				if code, _ := command(t, p, p.Env, "brew"); code == 0 {
					t.Error("exit code 0")
				}
			})
		}
		// spec: operator-commands
		t.Run("migrate may be run again and beside a running service", func(t *testing.T) {
			t.Parallel()
			for range 2 {
				if _, err := s.store.Operate(t.Context(), "migrate"); err != nil {
					t.Error(err)
				}
			}
			s.main.create(t, s.fill(t, "{one}"), text("x")).ok(t)
		})
		// spec: operator-commands
		t.Run("key create prints the key alone, and the key works at once", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t) // looks at what was printed
			out, err := s.store.Operate(t.Context(), "key", "create", "--account", own.account)
			if err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile(`^prism_[0-9A-Za-z]{38}$`).MatchString(out) {
				t.Error("standard output is not the key alone")
			}
			(&client{stack: s, key: out}).get(t, "/v1/prisms").wantStatus(t, 200)
		})
		// spec: operator-commands
		t.Run("key list shows ids and no keys, and key revoke takes effect at once", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			second, id := own.newAPIKey(t)
			out, err := s.store.Operate(t.Context(), "key", "list", "--account", own.account)
			if err != nil || !strings.Contains(out, id) || apiKeyPattern.MatchString(out) {
				t.Errorf("%v: %s", err, out)
			}
			if _, err := s.store.Operate(t.Context(), "key", "revoke", id); err != nil {
				t.Fatal(err)
			}
			second.get(t, "/v1/prisms").wantFail(t, invalidKey)
			own.get(t, "/v1/prisms").wantStatus(t, 200)
		})
		// spec: operator-link, audit-actor-of-commands
		t.Run("console link prints a link and nothing else, and the audit has it", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			out, err := s.store.Operate(t.Context(), "console", "link", "--print", "--account", own.account, "--url", "https://prism.example.com/")
			if err != nil || !signInLink.MatchString(out) {
				t.Errorf("%v: %s", err, out)
			}
			audit := own.get(t, "/v1/audit?actor=operator&limit=1")
			audit.wantStatus(t, 200)
			if body := string(audit.body); !strings.Contains(body, `"action":"member.link","object":{"kind":"member"`) ||
				!strings.Contains(body, `"name":"Operator"`) {
				t.Errorf("the audit has %s", body)
			}
		})
		t.Run("commands about what does not exist fail", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			for _, args := range [][]string{
				{"key", "create", "--account", "nobody"},
				{"key", "list", "--account", "nobody"},
				{"key", "revoke", absentID},
				{"key", "revoke", "1"},
				{"account", "create", own.account},
				{"account", "create"},
				{"key", "create"},
				{"console", "link"},
				{"console", "link", "--print", "--account", "nobody"},
			} {
				if _, err := s.store.Operate(t.Context(), args...); err == nil {
					t.Errorf("%v succeeded", args)
				}
			}
		})
		// spec: bare-start
		t.Run("a bare start is serve", func(t *testing.T) {
			t.Parallel()
			s.main.get(t, "/v1/prisms").wantStatus(t, 200) // every part was started without arguments
		})
	})
}
