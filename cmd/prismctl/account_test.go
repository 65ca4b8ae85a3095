package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/prism-results/prism/client"
)

func TestLogin(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	key := u.env["PRISM_API_KEY"]
	delete(u.env, "PRISM_API_KEY")
	delete(u.env, "PRISM_URL")
	u.run("prisms", "list").want(exitUnauthorized, "prismctl login")
	u.in = "prism_wrong\n"
	u.run("login", "--host", server.URL).want(exitUnauthorized, "Invalid API key")
	u.in = ""
	u.run("login", "--host", server.URL).want(exitUsage, "no API key on standard input")
	u.in = key + "\n"
	u.run("login", "--host", "nowhere").want(exitUsage, "URL is not an address")
	u.run("login", "--host", "http://127.0.0.1:1").want(exitUnavailable, "no response from Prism")
	config := filepath.Join(u.env["HOME"], ".config", "prismctl", "config.json")
	if _, err := os.Stat(config); err == nil {
		t.Fatal("a login that failed was stored")
	}
	u.run("login", "--host", server.URL).want(exitOK, "Logged in to "+server.URL)
	for name, want := range map[string]os.FileMode{config: 0o600, filepath.Dir(config): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	u.ok("prisms", "list")

	// The stored key goes to the stored host and to no other.
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	u.run("--host", other.URL, "prisms", "list").want(exitUnauthorized, "no API key")
	u.env["PRISM_URL"] = other.URL
	u.run("prisms", "list").want(exitUnauthorized, "no API key")
	if asked {
		t.Error("another host was called")
	}
	u.env["PRISM_URL"] = ""
	u.run("--host", server.URL, "prisms", "list").want(exitOK, "")

	if err := os.Chmod(config, 0o640); err != nil {
		t.Fatal(err)
	}
	u.run("prisms", "list").want(exitError, "chmod 600")
	u.ok("logout")
	u.ok("logout")
	u.run("prisms", "list").want(exitUnauthorized, "prismctl login")
}

func TestAddressesThatNeedCare(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"http://prism.example.com": true, "http://10.0.0.1:8080": true, "https://prism.example.com": false,
		"http://localhost:8080": false, "http://127.0.0.1": false, "http://[::1]:80": false,
	} {
		if got := unencrypted(host); got != want {
			t.Errorf("%s: %t", host, got)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	s := u.run("keys", "create", "ci").want(exitOK, "Its text is shown only now")
	text := strings.TrimSpace(s.out)
	keys := decode[[]client.APIKey](t, u.ok("keys", "list", "-o", "json"))
	if len(keys) != 2 || keys[0].Name != "ci" || !strings.HasPrefix(text, keys[0].Prefix) {
		t.Fatalf("got %+v", keys)
	}
	mine := u.env["PRISM_API_KEY"]
	u.env["PRISM_API_KEY"] = text
	u.ok("keys", "list")
	u.env["PRISM_API_KEY"] = mine
	u.run("keys", "revoke", keys[0].ID).want(exitOK, "is revoked")
	u.env["PRISM_API_KEY"] = text
	u.run("keys", "list").want(exitUnauthorized, "Invalid API key")
	u.env["PRISM_API_KEY"] = mine
	var shown strings.Builder
	for _, output := range []string{"table", "wide", "csv"} {
		shown.WriteString("### " + output + "\n" + u.ok("keys", "list", "-o", output))
	}
	wantGolden(t, "keys-list", shown.String())

	s = u.run("keys", "create", "reads", "--role", "reader", "--expires", "2999-01-31T00:00:00Z").want(exitOK, "Its text is shown only now")
	keys = decode[[]client.APIKey](t, u.ok("keys", "list", "-o", "json"))
	if k := keys[0]; k.Role != client.Reader || k.ExpiresAt == nil || k.ExpiresAt.String() != "2999-01-31T00:00:00.000Z" {
		t.Errorf("got %+v", k)
	}
	u.env["PRISM_API_KEY"] = strings.TrimSpace(s.out)
	u.ok("prisms", "list")
	u.run("keys", "list").want(exitUnauthorized, "Your role does not allow this.")
	u.env["PRISM_API_KEY"] = mine
	u.run("keys", "create", "x", "--role", "root").want(exitInvalid, "role: ")
	u.run("keys", "create", "x", "--expires", "tomorrow").want(exitUsage, "--expires takes a time")
	u.run("keys", "create").want(exitUsage, "missing argument <name>\nUsage: prismctl keys create NAME [flags]\n")
	u.run("keys", "create", "").want(exitInvalid, "name: ")
	u.run("keys", "revoke", "00000000-0000-7000-8000-000000000000").want(exitNotFound, "Key not found")
}

// spec: audit-list, audit-actor
func TestAudit(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.ok("keys", "create", "reads", "--role", "reader")
	entries := decode[[]client.AuditEntry](t, u.ok("audit", "list", "-o", "json"))
	if len(entries) != 3 || entries[2].Action != client.AccountCreate || entries[2].Actor.Kind != "operator" {
		t.Fatalf("got %+v", entries)
	}
	newest := entries[0]
	if newest.Action != client.KeyCreate || newest.Object.Name != "reads" || newest.Detail["role"] != "reader" ||
		newest.Actor.ID == nil {
		t.Fatalf("got %+v", newest)
	}
	mine, at := *newest.Actor.ID, newest.At.String()
	var shown strings.Builder
	for _, output := range []string{"table", "wide", "csv", "jsonl"} {
		shown.WriteString("### " + output + "\n" + u.ok("audit", "list", "--actor", mine, "-o", output))
	}
	wantGolden(t, "audit-list", shown.String())
	u.ok("prisms", "apply", "-f", example(t, ""), "--yes")
	for want, args := range map[int][]string{
		5: {"--all"}, 4: {"--limit", "4"}, 2: {"--actor", "operator"}, 3: {"--from", at, "--actor", mine}, 0: {"--to", "2001-01-01"},
	} {
		args = append([]string{"audit", "list", "-o", "jsonl"}, args...)
		if got := strings.Count(u.ok(args...), "\n"); got != want {
			t.Errorf("%v lists %d entries, want %d", args, got, want)
		}
	}
	u.run("audit", "list", "--actor", "me").want(exitInvalid, "actor: Expected 'operator', 'retention', 'webhooks' or the id of a key")
	u.run("audit", "list", "--from", "monday").want(exitUsage, "--from takes a day or a time")
	u.run("audit", "list", "--to", "monday").want(exitUsage, "--to takes a day or a time")
	u.run("audit", "list", "--limit", "0").want(exitUsage, "--limit is at least 1")
}

func TestPrisms(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	u.ok("prisms", "archive", "language")
	var shown strings.Builder
	for _, args := range []string{"", "--archived", "--archived -o csv"} {
		shown.WriteString("### " + args + "\n" + u.ok(append([]string{"prisms", "list"}, strings.Fields(args)...)...))
	}
	shown.WriteString("### get\n" + u.ok("prisms", "get", "language"))
	shown.WriteString("### get -o jsonl\n" + u.ok("prisms", "get", "language", "-o", "jsonl"))
	wantGolden(t, "prisms", shown.String())
	u.ok("prisms", "unarchive", "language")
	if got := decode[[]client.Prism](t, u.ok("prisms", "list", "-o", "json")); len(got) != 2 {
		t.Errorf("got %+v", got)
	}
	u.run("prisms", "get", "language", "--version", "2").want(exitNotFound, "Prism version not found")
	u.run("prisms", "archive", "language", "none").want(exitNotFound, "none: Prism not found")
	u.run("prisms", "get", "language", "-o", "xml").want(exitUsage, "unknown output")
}

func TestExitCodesOfCalls(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for name, test := range map[string]struct {
		status int
		body   string
		code   int
		text   string
	}{
		"a bug":          {500, `{"error":{"code":"internal_error","message":"Internal server error"}}`, exitServer, "(request r-7 in the server's log)"},
		"a proxy's page": {403, "<h1>no</h1>", exitServer, "is this the address of a Prism?"},
		"not a Prism":    {200, "<h1>welcome</h1>", exitServer, "is this the address of a Prism?"},
		"any server":     {201, "{}", exitServer, "sent a response without "},
		"a redirect":     {302, "", exitServer, "(status 302)"},
		"unavailable":    {503, `{"error":"Service Unavailable","message":"Service Unavailable","statusCode":503}`, exitUnavailable, "Service Unavailable"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Request-Id", "r-7")
			w.WriteHeader(test.status)
			_, _ = w.Write([]byte(test.body))
		}))
		u.env["PRISM_URL"] = s.URL
		t.Log(name)
		u.run("keys", "create", "x").want(test.code, test.text)
		s.Close()
	}
	u.run("keys", "create", "x").want(exitUnavailable, "no response from Prism")
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.run("nonsense").want(exitUsage, `unknown command "nonsense"`)
	u.run("prisms", "nonsense").want(exitUsage, `unknown command "nonsense" for "prismctl prisms"`)
	u.run("prisms", "list", "--nonsense").want(exitUsage, "unknown flag")
	u.run("prisms", "list", "extra").want(exitUsage, `unexpected argument "extra"`)
	u.run("prisms", "apply").want(exitUsage, "name files or folders")
	u.run("prisms", "apply", "-f", "x", "--exit-code").want(exitUsage, "--exit-code goes with --dry-run")
	if got := u.ok(); !strings.Contains(got, "Available Commands") {
		t.Errorf("got %s", got)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := u.ok("completion", shell); !strings.Contains(got, "prismctl") {
			t.Errorf("%s: got %s", shell, got)
		}
	}
	u.ok("prisms", "apply", "-f", example(t, ""), "--yes")
	if got := u.ok("__complete", "call", ""); !strings.Contains(got, "support-triage\tSupport triage\n") {
		t.Errorf("got %s", got)
	}
	if got := u.ok("__complete", "results", "list", "--status", ""); !strings.Contains(got, "failed") {
		t.Errorf("got %s", got)
	}
}

// eachCommand visits every command that users see.
func eachCommand(cmd *cobra.Command, visit func(*cobra.Command)) {
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() && c.Name() != "help" {
			continue
		}
		visit(c)
		eachCommand(c, visit)
	}
}

func newApp() *app {
	env := func(string) string { return "" }
	return &app{env: env, out: newPrinter(nil, env), err: newPrinter(nil, env)}
}

// TestNoFlagTakesAKey holds that a key can't be an argument, where every user of the machine sees it.
func TestNoFlagTakesAKey(t *testing.T) {
	t.Parallel()
	eachCommand(newApp().root(), func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if strings.Contains(f.Name, "key") && f.Name != "idempotency-key" && f.Name != "key-id" || strings.Contains(f.Name, "token") {
				t.Errorf("%s has --%s", c.CommandPath(), f.Name)
			}
		})
	})
}

// undocumented are the commands and flags that a text does not name.
func undocumented(text string) (missing []string) {
	root := newApp().root()
	root.InitDefaultCompletionCmd()
	eachCommand(root, func(c *cobra.Command) {
		path := strings.TrimPrefix(c.CommandPath(), "prismctl ")
		if !c.HasSubCommands() && !strings.Contains(text, "`"+path) && !strings.HasPrefix(path, "completion ") {
			missing = append(missing, c.CommandPath())
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "no-descriptions" && f.Name != "help" && !regexp.MustCompile("--"+f.Name+"[ `]").MatchString(text) {
				missing = append(missing, c.CommandPath()+" --"+f.Name)
			}
		})
	})
	return missing
}
