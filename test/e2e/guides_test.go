package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// guideBudget is for a page of commands, on a machine that does much else.
const guideBudget = 4 * time.Minute

// Other pages begin with so many steps of the quickstart: get it, start it, log in.
const (
	started  = 2
	loggedIn = 3
)

// TestGuides runs every command of the pages that teach, in the order of the page, in one shell, as who pastes them does,
// and looks for what the page says they print.
func TestGuides(t *testing.T) {
	t.Parallel()
	quickstart := newGuide(t, "docs/quickstart.md")
	if len(quickstart) <= loggedIn {
		t.Fatalf("the quickstart has %d blocks of commands", len(quickstart))
	}
	for name, steps := range map[string]guide{
		"README.md":      append(quickstart[:started:started], newGuide(t, "README.md")...),
		"quickstart.md":  quickstart,
		"api.md":         append(quickstart[:loggedIn:loggedIn], newGuide(t, "docs/api.md")...),
		"prisms.md":      append(quickstart[:loggedIn:loggedIn], newGuide(t, "docs/prisms.md")...),
		"idempotency.md": append(quickstart[:loggedIn:loggedIn], newGuide(t, "docs/idempotency.md")...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			printed := steps.try(t)
			for i, step := range steps {
				step.check(t, printed[i])
			}
		})
	}
}

// TestTheAPIPageNamesEveryOperation holds docs/api.md against the OpenAPI document.
func TestTheAPIPageNamesEveryOperation(t *testing.T) {
	t.Parallel()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "api.md"))
	if err != nil {
		t.Fatal(err)
	}
	document, err := openAPISource()
	if err != nil {
		t.Fatal(err)
	}
	var described struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(document, &described); err != nil {
		t.Fatal(err)
	}
	if len(described.Paths) == 0 {
		t.Fatal("no paths")
	}
	for path, operations := range described.Paths {
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			operation := strings.ToUpper(method) + " " + path
			if _, ok := operations[method]; ok && !strings.Contains(string(page), "`"+operation+"`") {
				t.Errorf("docs/api.md does not name %s", operation)
			}
		}
	}
}

// check looks for each line that the page says is printed.
func (s guideStep) check(t *testing.T, printed string) {
	t.Helper()
	lines := make(map[string]bool)
	for line := range strings.Lines(printed) {
		lines[plain(line)] = true
	}
	for line := range strings.Lines(s.prints) {
		if !lines[plain(line)] {
			t.Errorf("%s: these commands do not print %q:\n%s\nbut\n%s", s.at, line, s.commands, printed)
		}
	}
}

// try runs the page and returns what each step printed. An address that somebody else took meanwhile is no reason to fail.
func (g guide) try(t *testing.T) (printed []string) {
	t.Helper()
	bins := t.TempDir()
	for _, pkg := range []string{"cmd/prism", "cmd/prismctl"} {
		bin, err := program.Binary(t.Context(), pkg, program.AsTests()...)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(bin, filepath.Join(bins, filepath.Base(pkg))); err != nil {
			t.Fatal(err)
		}
	}
	for try := 1; ; try++ {
		listen, err := freeport.Addr()
		if err != nil {
			t.Fatal(err)
		}
		admin, err := freeport.Addr()
		if err != nil {
			t.Fatal(err)
		}
		out, err := g.run(t, bins, listen, admin)
		if err == nil {
			return strings.Split(out, stepMark)[1:]
		}
		if try == 3 || !strings.Contains(out, "address already in use") {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// guide is the commands of a page.
type guide []guideStep

// guideStep is a fenced block of commands, and what the block behind it says that they print.
type guideStep struct {
	at, commands, prints string
}

// newGuide reads a page. Commands are in blocks called sh and output in blocks called text, so that none is
// passed over.
func newGuide(t *testing.T, name string) guide {
	t.Helper()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	var g guide
	var into *string
	n := 0
	for line := range strings.Lines(string(page)) {
		n++
		fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && into != nil:
			into = nil
		case isFence && fence == "sh":
			g = append(g, guideStep{at: name + ":" + strconv.Itoa(n)})
			into = &g[len(g)-1].commands
		case isFence && fence == "text" && len(g) > 0:
			into = &g[len(g)-1].prints
		case isFence:
			t.Fatalf("%s:%d: a block of %q: this test knows sh, and text for what it prints", name, n, fence)
		case into != nil:
			*into += line
		}
	}
	return g
}

const stepMark = "\x00"

// inPlace stands for the commands that go to the network, compile for minutes, or do not end. The binaries are the ones that
// all tests here run, and a package that is not among them fails. What the README begins with, make run and make test, is
// running already: Prism since the step before, the tests here.
const inPlace = `set -euo pipefail
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
git() { [ "$1" = clone ] && [ $# = 2 ] && mkdir "${2##*/}" && cp -R "$CHECKOUT/examples" "${2##*/}"; }
go() {
	[ "$1 $2 $3" = "build -o bin/" ] && mkdir bin || return
	shift 3
	local pkg
	for pkg; do cp -L "$BINARIES/${pkg#./cmd/}" bin/ || return; done
}
make() { [ "$*" = run ] || [ "$*" = test ]; }
`

// printedKey is the key that the first start printed, which a page leaves to its reader as prism_….
const printedKey = `$(grep -om1 'prism_[0-9A-Za-z]\{38\}' prism.log)`

// run runs the page in a new folder with a home of its own. The addresses and the key take the place of the ones in the text,
// since the machine's ports are not the test's.
func (g guide) run(t *testing.T, bins, api, admin string) (out string, err error) {
	t.Helper()
	script := bytes.NewBufferString(inPlace)
	own := strings.NewReplacer("127.0.0.1:8080", api, "127.0.0.1:9090", admin, "prism_…", printedKey)
	for _, step := range g {
		fmt.Fprintf(script, "printf '\\0'\n%s", own.Replace(step.commands))
	}
	ctx, cancel := context.WithTimeout(t.Context(), guideBudget)
	defer cancel()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	file := filepath.Join(home, "page.sh") // not standard input, which a command of the page would read from
	if err := os.WriteFile(file, script.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, "bash", file)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + home, "BINARIES=" + bins, "CHECKOUT=" + root,
		"PRISM_LISTEN=" + api, "PRISM_ADMIN_LISTEN=" + admin,
	}
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	// What the page starts in the background ends with the test, whatever becomes of the page.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	if err = cmd.Run(); err != nil {
		if log, logErr := os.ReadFile(filepath.Join(cmd.Dir, "prism", "prism.log")); logErr == nil {
			printed.Write(log)
		}
	}
	return printed.String(), err
}

var longNumbers = regexp.MustCompile(`\d+\.\d{5,}`)

// plain is a printed line without what may differ: how wide columns are, and the last digits of numbers, which processors
// round differently.
func plain(line string) string {
	line = longNumbers.ReplaceAllStringFunc(line, func(number string) string {
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return number
		}
		return strconv.FormatFloat(v, 'f', 6, 64)
	})
	return strings.Join(strings.Fields(line), " ")
}
