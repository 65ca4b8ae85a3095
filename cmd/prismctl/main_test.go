package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/client/prismtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// server is the real Prism that the commands call.
var server *prismtest.Server

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var err error
	if server, err = prismtest.Start(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// user runs commands with an account and a home of its own.
type user struct {
	t   *testing.T
	env map[string]string
	dir string
	// in is standard input; with person all streams are terminals.
	in     string
	person bool
}

func newUser(t *testing.T) *user {
	t.Helper()
	key, err := server.Account(t.Context(), strings.ReplaceAll(t.Name(), "/", "-"))
	if err != nil {
		t.Fatal(err)
	}
	return &user{t: t, dir: t.TempDir(), env: map[string]string{
		"PRISM_URL": server.URL, "PRISM_API_KEY": key, "HOME": t.TempDir(),
	}}
}

// makePrism makes the prism tickets, which asks whether a text is urgent.
func (u *user) makePrism() {
	u.t.Helper()
	_, err := u.client().CreatePrism(u.t.Context(), client.NewPrism{Slug: "tickets", NewVersion: client.NewVersion{Definition: client.Definition{
		Fields: []client.Field{{Key: "text"}}, Questions: []client.Question{{Key: "urgent", Type: client.YesNo, Text: "Is it urgent?"}},
	}}})
	if err != nil {
		u.t.Fatal(err)
	}
}

// on is a copy of the user for a subtest.
func (u *user) on(t *testing.T) *user {
	t.Helper()
	c := *u
	c.t, c.env = t, maps.Clone(u.env)
	return &c
}

// tty is a stream that says it is a terminal.
type tty struct{ *bytes.Buffer }

func (tty) IsTerminal() bool { return true }

// said is the output of a command.
type said struct {
	t           *testing.T
	args        []string
	code        int
	out, stderr string
}

func (u *user) run(args ...string) said {
	u.t.Helper()
	var out, stderr bytes.Buffer
	env := func(name string) string { return u.env[name] }
	var in io.Reader = strings.NewReader(u.in)
	var stdout, errout io.Writer = &out, &stderr
	if u.person {
		in, stdout, errout = tty{bytes.NewBufferString(u.in)}, tty{&out}, tty{&stderr}
	}
	ctx, cancel := context.WithTimeout(u.t.Context(), 2*time.Minute)
	defer cancel()
	code := run(ctx, args, env, in, stdout, errout)
	if key := u.env["PRISM_API_KEY"]; key != "" && strings.Contains(out.String()+stderr.String(), key) {
		u.t.Errorf("%v shows the key", args)
	}
	if twoStops.MatchString(stderr.String()) {
		u.t.Errorf("%v ends a sentence twice: %s", args, stderr.String())
	}
	return said{u.t, args, code, out.String(), stderr.String()}
}

// whole is JSON of a type with every member that Prism sends: those of text, and zero values.
func whole[T any](text string) string {
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// twoStops finds two full stops, but not the three of an ellipsis or the dots of a path.
var twoStops = regexp.MustCompile(`[^.]\.\.(\s|$)`)

// ok runs a command that must succeed, and returns its output.
func (u *user) ok(args ...string) string {
	u.t.Helper()
	return u.run(args...).want(exitOK, "").out
}

// want checks the exit code, and what standard error holds.
func (s said) want(code int, text string) said {
	s.t.Helper()
	if s.code != code || !strings.Contains(s.stderr, text) {
		s.t.Fatalf("%v: exit code %d, want %d with %q; it said\n%s%s", s.args, s.code, code, text, s.out, s.stderr)
	}
	return s
}

// file writes a file into the user's folder.
func (u *user) file(name, text string) string {
	u.t.Helper()
	name = filepath.Join(u.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		u.t.Fatal(err)
	}
	return name
}

func (u *user) client() *client.Client {
	u.t.Helper()
	c, err := client.New(client.Config{URL: server.URL, Key: u.env["PRISM_API_KEY"]})
	if err != nil {
		u.t.Fatal(err)
	}
	return c
}

// What differs from run to run.
var scrubs = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "00000000-0000-0000-0000-000000000000"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`), "2026-01-01T00:00:00.000Z"},
	{regexp.MustCompile(`\b\d+s ago +`), "5s ago   "},
	{regexp.MustCompile(`\b\d+s ago\b`), "5s ago"},
	{regexp.MustCompile(`took \d+ ms`), "took 5 ms"},
	{regexp.MustCompile(`\b(ok|failed)( +)\d+( +)2026`), "${1}${2}5        2026"},
	{regexp.MustCompile(`"took_ms": ?\d+`), `"took_ms": 5`},
	{regexp.MustCompile(`\btook_ms: \d+`), `took_ms: 5`},
	{regexp.MustCompile(`,(ok|failed),\d+,`), `,$1,5,`},
	{regexp.MustCompile(`prism_[0-9A-Za-z]{6}\b`), "prism_000000"},
}

// wantGolden compares with a file of testdata.
func wantGolden(t *testing.T, name, got string) {
	t.Helper()
	for _, s := range scrubs {
		got = s.pattern.ReplaceAllString(got, s.with)
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}
