package program

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func shell(script string) Command { return Command{Path: "/bin/sh", Args: []string{"-c", script}} }

func TestBinaryLinksAProgramOnce(t *testing.T) {
	t.Parallel()
	const pkg = "pkg/testkit/program/testdata/hello"
	bin, err := Binary(t.Context(), pkg)
	if err != nil {
		t.Fatal(err)
	}
	first, err := os.Stat(bin)
	if err != nil {
		t.Fatal(err)
	}
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	again, err := build(t.Context(), root, pkg, nil) // what another process would do
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.Stat(again)
	if err != nil || !os.SameFile(first, second) {
		t.Errorf("%s is not the file %s: %v", again, bin, err)
	}
	tagged, err := Binary(t.Context(), pkg, "-tags", "loud")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{bin: "hello", tagged: "HELLO"} {
		if got, err := Run(t.Context(), Command{Path: path}); err != nil || got != want {
			t.Errorf("%s printed %q, %v, want %q", path, got, err, want)
		}
	}
}

func TestRunReportsTheExitCodeAndStandardError(t *testing.T) {
	t.Parallel()
	_, err := Run(t.Context(), shell("echo no room >&2; exit 3"))
	if err == nil || !strings.Contains(err.Error(), "exited with 3: no room") {
		t.Errorf("got %v", err)
	}
}

func TestAProgramGetsItsSettingsAndNoOthers(t *testing.T) {
	t.Setenv("PRISM_OF_THE_TESTS", "x")
	c := shell(`echo "$A$PRISM_OF_THE_TESTS"`)
	c.Env = map[string]string{"A": "1"}
	if got, err := Run(t.Context(), c); err != nil || got != "1" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestOutputIsAwaited(t *testing.T) {
	t.Parallel()
	p, err := Launch(shell(`echo "address 127.0.0.1:80"; read line; exit 0`))
	if err != nil {
		t.Fatal(err)
	}
	match, err := p.AwaitOutput(t.Context(), regexp.MustCompile(`address (\S+)`))
	if err != nil || match[1] != "127.0.0.1:80" {
		t.Errorf("got %q, %v", match, err)
	}
	p.Kill()
	if _, err := p.AwaitOutput(t.Context(), regexp.MustCompile(`never`)); err == nil || !strings.Contains(err.Error(), "address 127.0.0.1:80") {
		t.Errorf("got %v", err)
	}
}

func TestStopSendsSIGTERMAndReturnsTheExitCode(t *testing.T) {
	t.Parallel()
	ready := filepath.Join(t.TempDir(), "ready")
	c := shell(`trap "exit 5" TERM; : > "$0"; while :; do sleep 0.01; done`)
	c.Args = append(c.Args, ready)
	p, err := Launch(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Await(t.Context(), func(context.Context) error { _, err := os.Stat(ready); return err }); err != nil {
		t.Fatal(err)
	}
	if code, err := p.Stop(t.Context()); code != 5 || err != nil {
		t.Errorf("got %d, %v", code, err)
	}
}

func TestServeChoosesAddressesAndAwaitsReadiness(t *testing.T) {
	t.Parallel()
	bin, err := Binary(t.Context(), "pkg/testkit/program/testdata/hello")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Serve(t.Context(), Command{Path: bin, Args: []string{"serve"}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Listen == s.Admin || s.Listen == "" || !strings.Contains(s.Stdout(), "api "+s.Listen) {
		t.Errorf("API %q, admin %q, printed %q", s.Listen, s.Admin, s.Output())
	}
	s.StopAfter(t)
	_, err = Serve(t.Context(), Command{Path: bin, Args: []string{"fail"}})
	if err == nil || !strings.Contains(err.Error(), "wrong setting") {
		t.Errorf("a service that ends at once: %v", err)
	}
}
