package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stranger is a user of the server with nothing in the environment, and the key of the user.
func stranger(t *testing.T) (u *user, key string) {
	t.Helper()
	u = newUser(t)
	key = u.env["PRISM_API_KEY"]
	delete(u.env, "PRISM_API_KEY")
	delete(u.env, "PRISM_URL")
	return u, key
}

func TestContexts(t *testing.T) {
	t.Parallel()
	u, key := stranger(t)
	u.in = key + "\n"
	u.run("context", "add", "one", "--host", server.URL).want(exitOK, "Logged in to "+server.URL+" as the context one")
	u.run("context", "add", "two", "--host", server.URL+"/").want(exitOK, "Use it with: prismctl context use two")
	u.run("context", "add", "one", "--host", server.URL).want(exitConflict, "prismctl login --context one replaces it")
	u.run("context", "add", "a/b", "--host", server.URL).want(exitUsage, "the name of a context")
	u.run("context", "add", "bad", "--host", "http://127.0.0.1:1").want(exitUnavailable, "no response")
	current := func() string {
		t.Helper()
		return u.ok("context", "list", "-o", "json", "--jq", ".[] | select(.current).name")
	}
	if got := current(); got != "one\n" {
		t.Errorf("got %q", got)
	}
	listed := u.ok("context", "list")
	if strings.Contains(listed, key) || !strings.Contains(listed, key[:12]+"…") || strings.Count(listed, "\n") != 3 {
		t.Errorf("got %s", listed)
	}
	u.run("context", "use", "two").want(exitOK, "Commands use two ("+server.URL+"/).")
	if got := current(); got != "two\n" {
		t.Errorf("got %q", got)
	}
	u.run("context", "use", "twoo").want(exitUsage, `there is no context "twoo": did you mean two?`)
	u.run("prisms", "list", "--context", "three").want(exitUsage, `there is no context "three"`)
	u.run("call", "x", "--context", "It snows.").want(exitUsage, `there is no context "It snows."`)
	if got := u.ok("__complete", "context", "use", ""); !strings.HasPrefix(got, "one\t"+server.URL+"\n") {
		t.Errorf("completes %s", got)
	}
	if got := u.ok("__complete", "prisms", "list", "--context", ""); !strings.Contains(got, "two\t") {
		t.Errorf("completes %s", got)
	}
	u.ok("context", "remove", "two")
	u.run("prisms", "list").want(exitUsage, "no context is in use: prismctl context use NAME; there is one")
	u.ok("prisms", "list", "--context", "one")
	u.run("context", "remove", "two").want(exitUsage, `there is no context "two"`)
	u.ok("context", "remove", "one")
	u.run("prisms", "list").want(exitUnauthorized, "prismctl login")
	u.run("context", "use", "one").want(exitUsage, "prismctl context add one")
}

// A flag precedes the environment, which precedes the current context. Each key goes only to its own host.
func TestWhichContextIsUsed(t *testing.T) {
	t.Parallel()
	u, _ := stranger(t)
	asked := map[string]string{}
	host := func(name string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked[name] = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			reply(w, 200, json.RawMessage(`{"data":[],"next_cursor":null}`))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	a, b, c := host("a"), host("b"), host("c")
	for name, at := range map[string]string{"a": a, "b": b} {
		u.in = "prism_" + name + "\n"
		u.run("login", "--context", name, "--host", at).want(exitOK, "")
	}
	u.ok("context", "use", "a")
	for _, test := range []struct {
		env, args string
		want      string // the host and the key that it got, or the error
	}{
		{"", "", "a prism_a"},
		{"PRISM_CONTEXT=b", "", "b prism_b"},
		{"PRISM_CONTEXT=b", "--context a", "a prism_a"},
		{"PRISM_URL=" + c + " PRISM_API_KEY=prism_c", "", "c prism_c"},
		{"PRISM_URL=" + c + " PRISM_API_KEY=prism_c", "--context b", "b prism_b"},
		{"PRISM_URL=" + c + " PRISM_API_KEY=prism_c PRISM_CONTEXT=b", "", "c prism_c"},
		{"PRISM_API_KEY=prism_c", "", "a prism_c"},
		{"PRISM_URL=" + c, "", "no API key"},
		{"", "--host " + c, "no API key"},
		{"", "--context b --host " + c, "no API key"},
		{"PRISM_API_KEY=prism_c", "--context b --host " + c, "no API key"},
		{"", "--context b --host " + b, "b prism_b"},
		{"PRISM_CONTEXT=zzz", "", `there is no context "zzz": there is`},
	} {
		u := u.on(t)
		for _, pair := range strings.Fields(test.env) {
			name, value, _ := strings.Cut(pair, "=")
			u.env[name] = value
		}
		clear(asked)
		s := u.run(append([]string{"prisms", "list"}, strings.Fields(test.args)...)...)
		got := strings.TrimSpace(s.stderr)
		for name, with := range asked {
			got = name + " " + with
		}
		if !strings.Contains(got, test.want) || len(asked) > 1 || strings.HasPrefix(test.want, "no") && len(asked) > 0 {
			t.Errorf("%s %s: got %q, want %q", test.env, test.args, got, test.want)
		}
	}
}

// A file that was written before there were contexts is the context "default".
func TestAnOldFileIsTheDefaultContext(t *testing.T) {
	t.Parallel()
	u, key := stranger(t)
	file := filepath.Join(u.env["HOME"], ".config", "prismctl", "config.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	old, err := json.Marshal(map[string]string{"host": server.URL, "key": key})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, old, 0o600); err != nil {
		t.Fatal(err)
	}
	u.ok("prisms", "list")
	u.ok("prisms", "list", "--context", "default")
	u.in = key + "\n"
	u.ok("context", "add", "two", "--host", server.URL)
	if got := u.ok("context", "list", "-o", "csv"); !strings.Contains(got, "\ndefault,current,"+server.URL) || !strings.Contains(got, "\ntwo,,") {
		t.Errorf("got %s", got)
	}
	u.ok("prisms", "list")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*")); len(left) != 1 {
		t.Errorf("there is %v", left)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.run("prisms", "list").want(exitError, "is damaged")
}

func TestAuthStatus(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	owner := u.env["PRISM_API_KEY"]
	got := decode[status](t, u.ok("auth", "status", "-o", "json"))
	if got.Role != "owner" || got.KeyID == "" || got.Key != owner[:12]+"…" || got.Account != "TestAuthStatus" || got.KeyFrom != "PRISM_API_KEY" || got.Context != "" {
		t.Errorf("got %+v", got)
	}
	if shown := u.ok("auth", "status"); !strings.Contains(shown, "expires   never\n") || !strings.Contains(shown, "role      owner\n") {
		t.Errorf("got %s", shown)
	}
	prisms := u.ok("prisms", "list", "-o", "csv")
	for role, want := range map[string]string{"owner": "owner", "editor": "editor", "caller": "caller", "labeller": "labeller or reader", "reader": "labeller or reader"} {
		u := u.on(t)
		u.env["PRISM_API_KEY"] = strings.TrimSpace(u.ok("keys", "create", role, "--role", role, "--expires", "2999-01-31T00:00:00Z"))
		s := decode[status](t, u.ok("auth", "status", "-o", "json"))
		if s.Role != want || (s.ExpiresAt != nil) != (role == "owner") {
			t.Errorf("%s: got %+v", role, s)
		}
	}
	if now := u.ok("prisms", "list", "-o", "csv"); now != prisms {
		t.Errorf("a prism was made: %s", now)
	}
	u.env["PRISM_API_KEY"] = "prism_wrong"
	u.run("auth", "status").want(exitUnauthorized, "the key … from PRISM_API_KEY: Invalid API key")
	delete(u.env, "PRISM_API_KEY")
	u.run("auth", "status").want(exitUnauthorized, "prismctl login")
	u.in = owner + "\n"
	u.ok("auth", "login")
	if s := decode[status](t, u.ok("auth", "status", "-o", "json")); s.Context != "default" || s.KeyFrom != "the context default" {
		t.Errorf("got %+v", s)
	}
	u.ok("auth", "logout")
}
