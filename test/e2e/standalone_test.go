package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/program"
)

// curlLine is the line that the first start has made (spec: first-start).
func (s *stack) curlLine(t *testing.T) string {
	t.Helper()
	text, err := s.front.FirstStart(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return curlLine(t, text)
}

func curlLine(t *testing.T, text string) string {
	t.Helper()
	for line := range strings.Lines(text) {
		if at := strings.Index(line, "curl "); at >= 0 && apiKeyPattern.MatchString(line) {
			return strings.TrimSpace(line[at:])
		}
	}
	t.Fatalf("no curl line in %q", text)
	return ""
}

// paste runs a line as a shell does when it is pasted.
func paste(t *testing.T, line string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "sh", "-c", line).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return out
}

// TestStandalone holds the promises about `prism serve`.
func TestStandalone(t *testing.T) {
	only(t, standalone, func(t *testing.T, s *stack) {
		// spec: first-start
		t.Run("the first start makes one curl line that works when pasted", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			own := s.private(t, map[string]string{"PRISM_MODEL_PROVIDER": "offline", "PRISM_DATA_DIR": dir})
			line := own.curlLine(t)
			var created result
			if out := paste(t, line); json.Unmarshal(out, &created) != nil || created.Status != "ok" || created.Version != 1 {
				t.Errorf("the pasted line printed %s", out)
			}
			// spec: sign-in-link-at-the-start, private-output
			printed := own.front.Process().Output()
			if strings.Contains(printed, "/console/sign-in#") || apiKeyPattern.MatchString(printed) {
				t.Errorf("a start without a terminal printed what lets somebody in: %s", printed)
			}
			for _, name := range []string{"prism-sign-in.txt", "prism-first-start.txt"} {
				file := filepath.Join(dir, name)
				if is, err := os.Stat(file); err != nil || is.Mode() != 0o600 || !strings.Contains(printed, " "+file+",") {
					t.Errorf("%s: %v, %v; it printed %s", name, is, err, printed)
				}
			}
			kept, err := os.ReadFile(filepath.Join(dir, "prism-sign-in.txt"))
			if token, ok := strings.CutPrefix(strings.TrimSpace(string(kept)), own.front.URL()+"/console/sign-in#"); err != nil || !ok || len(token) != 32 {
				t.Errorf("the link is %q, %v", kept, err)
			}
			// spec: operator-link
			link, err := own.store.Operate(t.Context(), "console", "link", "--print", "--account", "demo")
			if err != nil || !strings.HasPrefix(link, own.front.URL()+"/console/sign-in#") {
				t.Errorf("the link of a command leads to %q, not to the process that runs: %v", link, err)
			}
			demo := &client{stack: own, key: apiKeyPattern.FindString(line)}
			demo.read(t, created.ID, "raw").wantStatus(t, 200)
			var list struct{ Data []prismRecord }
			demo.get(t, "/v1/prisms").decode(t, &list)
			wantEqual(t, "the number of demo prisms", len(list.Data), 1)
			wantEqual(t, "the number of demo keys", len(demo.keys(t)), 1)
		})
		// spec: private-output
		t.Run("a first start on a terminal prints the link and the curl line", func(t *testing.T) {
			t.Parallel()
			env := map[string]string{
				"PRISM_MODEL_PROVIDER": "offline", "PRISM_DATA_DIR": t.TempDir(), "PRISM_LISTEN": "127.0.0.1:0", "PRISM_ADMIN_LISTEN": "127.0.0.1:0",
			}
			p, err := program.Launch(program.Command{Name: "script", Path: "script", Args: []string{"-qefc", s.front.Bin + " serve", os.DevNull}, Env: env})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Kill() // closes the terminal, which ends Prism
			if _, err := p.AwaitOutput(t.Context(), regexp.MustCompile(`(?s)  http://\S+/console/sign-in#\w{32}\r?\n.*  prism_\w{38}\r?\n.*  curl `)); err != nil {
				t.Fatal(err)
			}
		})
		t.Run("a first start whose address is taken makes no key that nobody would see", func(t *testing.T) {
			t.Parallel()
			taken, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer taken.Close()
			env := map[string]string{
				"PRISM_DATA_DIR": t.TempDir(), "PRISM_LISTEN": taken.Addr().String(), "PRISM_ADMIN_LISTEN": "127.0.0.1:0",
			}
			if code, out := command(t, s.front, env, "serve"); code != 1 || !strings.Contains(out, "PRISM_LISTEN") || apiKeyPattern.MatchString(out) {
				t.Errorf("exit code %d: %s", code, out)
			}
			if code, out := command(t, s.front, env, "key", "list", "--account", "demo"); code != 1 {
				t.Errorf("exit code %d: %s", code, out)
			}
		})
		// spec: one-server-of-a-folder
		t.Run("a second Prism over one folder is refused until the first one ends, even if that is killed", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			own := s.private(t, map[string]string{"PRISM_DATA_DIR": dir})
			env := map[string]string{"PRISM_DATA_DIR": dir, "PRISM_LISTEN": "127.0.0.1:0", "PRISM_ADMIN_LISTEN": "127.0.0.1:0"}
			want := fmt.Sprintf("another Prism serves this folder: process %d", own.front.Process().PID())
			if code, out := command(t, s.front, env, "serve"); code != 1 || !strings.Contains(out, want) {
				t.Errorf("exit code %d: %s, want %s", code, out, want)
			}
			own.main.get(t, "/v1/prisms").wantStatus(t, 200)
			own.restart(t, syscall.SIGKILL)
			own.main.get(t, "/v1/prisms").wantStatus(t, 200)
		})
		t.Run("a second start keeps the demo, its key and its results, and makes no new ones", func(t *testing.T) {
			t.Parallel()
			own := s.private(t, map[string]string{"PRISM_MODEL_PROVIDER": "offline"})
			line := own.curlLine(t)
			demo := &client{stack: own, key: apiKeyPattern.FindString(line)}
			var created result
			if err := json.Unmarshal(paste(t, line), &created); err != nil {
				t.Fatal(err)
			}
			before := demo.read(t, created.ID, "")
			own.restart(t, syscall.SIGINT)
			demo.read(t, created.ID, "").wantBody(t, string(before.body))
			wantEqual(t, "the number of demo keys", len(demo.keys(t)), 1)
			var list struct{ Data []prismRecord }
			demo.get(t, "/v1/prisms").decode(t, &list)
			wantEqual(t, "the number of demo prisms", len(list.Data), 1)
			if strings.Contains(own.front.Process().Output(), "prism-first-start.txt") {
				t.Error("the second start makes another key")
			}
			paste(t, line)
		})
		// spec: standalone-stores
		t.Run("with Postgres and Redis set it keeps nothing of its own", func(t *testing.T) {
			t.Parallel()
			database, err := world.database(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			own := s.private(t, map[string]string{"PRISM_DATABASE_URL": database, "PRISM_REDIS_URL": world.redis.URL()})
			prism := own.main.triage(t)
			created := own.main.create(t, prism, text("x", "idempotency_key", newKey())).ok(t)
			own.front.Env["PRISM_DATA_DIR"] = t.TempDir()
			own.restart(t, syscall.SIGTERM)
			own.main.read(t, created.ID, "").ok(t)
		})
	})
}
