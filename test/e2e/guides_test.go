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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// guideBudget bounds the commands of all pages, on a machine that does much else.
const guideBudget = 15 * time.Minute

// guides are the pages whose commands are run, after the README itself.
var guides = []string{
	"docs/quickstart.md", "docs/prisms.md", "docs/runs.md", "docs/finding.md", "docs/quality.md", "docs/idempotency.md", "docs/providers.md", "docs/api.md",
	"docs/prismctl.md",
}

// TestGuides runs every command of the README and of the pages that teach, in the README's order, in one shell and
// against one Prism, as one reader does. It looks for what the pages say the commands print. A reader who has done
// a block of commands already skips the same block on a later page.
func TestGuides(t *testing.T) {
	t.Parallel()
	steps := newGuide(t, "README.md")
	for _, page := range inReadmeOrder(t) {
		for _, step := range newGuide(t, page) {
			if !slices.ContainsFunc(steps, func(done guideStep) bool { return done.commands == step.commands }) {
				steps = append(steps, step)
			}
		}
	}
	printed := steps.try(t)
	for i, step := range steps {
		step.check(t, printed[i])
	}
}

var pageLink = regexp.MustCompile(`\]\((docs/\w+\.md)\) \|`)

// inReadmeOrder returns the guides in the order of the README's table.
func inReadmeOrder(t *testing.T) (pages []string) {
	t.Helper()
	for _, link := range pageLink.FindAllStringSubmatch(readPage(t, "README.md"), -1) {
		if slices.Contains(guides, link[1]) {
			pages = append(pages, link[1])
		}
	}
	if len(pages) != len(guides) {
		t.Fatalf("the README lists %v, want all of %v once", pages, guides)
	}
	return pages
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// TestTheAPIPageNamesEveryOperation holds docs/api.md against the OpenAPI document.
func TestTheAPIPageNamesEveryOperation(t *testing.T) {
	t.Parallel()
	page := readPage(t, "docs/api.md")
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
			if _, ok := operations[method]; ok && !strings.Contains(page, "`"+operation+"`") {
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

// plain is a printed line whatever the widths of its columns are.
func plain(line string) string { return strings.Join(strings.Fields(line), " ") }

// try runs the commands and returns what each step printed. It tries again if another test took one of the addresses.
func (g guide) try(t *testing.T) (printed []string) {
	t.Helper()
	bins := t.TempDir()
	for _, pkg := range []string{"cmd/prism", "cmd/prismctl"} {
		// As shipped: with the race detector, and other tests beside it, a comparison takes longer than its call may.
		bin, err := program.Binary(t.Context(), pkg)
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

// guide is the commands of one or several pages.
type guide []guideStep

// guideStep is a fenced block of commands below a heading, and what the block behind it says that they print.
type guideStep struct {
	at, under, commands, prints string
}

// newGuide reads a page. Commands are in blocks called sh and output in blocks called text. Blocks called console hold
// commands that need something else, such as a model's server, and are not run; yaml is shown only.
func newGuide(t *testing.T, name string) guide {
	t.Helper()
	var g guide
	var under, ignored string
	var into *string
	n := 0
	for line := range strings.Lines(readPage(t, name)) {
		n++
		fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && into != nil:
			into = nil
		case isFence && fence == "sh":
			g = append(g, guideStep{at: name + ":" + strconv.Itoa(n), under: under})
			into = &g[len(g)-1].commands
		case isFence && fence == "text" && len(g) > 0:
			into = &g[len(g)-1].prints
		case isFence && (fence == "console" || fence == "yaml"):
			into = &ignored
		case isFence:
			t.Fatalf("%s:%d: a block of %q: this test knows sh, text, console and yaml", name, n, fence)
		case into != nil:
			*into += line
		case strings.HasPrefix(line, "#"):
			under = strings.TrimSpace(strings.TrimLeft(line, "#"))
		}
	}
	for _, step := range g {
		for line := range strings.Lines(step.commands) {
			if strings.Contains(line, "curl ") && !strings.Contains(line, "curl --fail-with-body ") {
				t.Errorf("%s: curl without --fail-with-body fails without saying why, or says why without failing:\n%s", step.at, line)
			}
		}
	}
	return g
}

const stepMark = "\x00"

// inPlace replaces the commands that go to the network, compile for minutes, or do not end. The binaries are those that all
// tests here run. make run starts Prism as a reader does in another terminal, of which script keeps what it shows.
const inPlace = `set -euo pipefail
umask 077
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
git() { [ "$1" = clone ] && [ $# = 2 ] && mkdir -p "${2##*/}/cmd/prismctl" && cp -R "$CHECKOUT/examples" "${2##*/}" &&
	cp -R "$CHECKOUT/cmd/prismctl/examples" "${2##*/}/cmd/prismctl"; }
make() {
	mkdir -p bin
	case "$*" in
	build) cp -L "$BINARIES/prismctl" bin/ ;;
	run)
		cp -L "$BINARIES/prism" bin/
		script -qefc 'bin/prism serve' "$TERMINAL" < /dev/null > /dev/null 2>&1 &
		curl -fsS -o "$TERMINAL.ready" --retry 60 --retry-delay 1 --retry-connrefused "http://$PRISM_ADMIN_LISTEN/readyz" ;;
	*) return 1 ;;
	esac
}
`

// printedKey is the key that the first start printed, for which a page writes prism_….
const printedKey = `$(grep -om1 'prism_[0-9A-Za-z]\{38\}' "$TERMINAL")`

// run runs the commands in a new folder with a home of its own. Its addresses and key replace those of the text, because
// other tests use the machine's ports.
func (g guide) run(t *testing.T, bins, api, admin string) (out string, err error) {
	t.Helper()
	script := bytes.NewBufferString(inPlace)
	own := strings.NewReplacer("127.0.0.1:8080", api, "127.0.0.1:9090", admin, "prism_…", printedKey)
	for _, step := range g {
		fmt.Fprintf(script, "printf '\\0'\n%s", own.Replace(step.commands))
	}
	fmt.Fprint(script, leaksNothing)
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
	terminal := filepath.Join(home, "terminal")
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + home, "BINARIES=" + bins, "CHECKOUT=" + root,
		"TERMINAL=" + terminal, "PRISM_LISTEN=" + api, "PRISM_ADMIN_LISTEN=" + admin,
	}
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	// What the pages start in the background ends with the test, whatever happens to the script.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	if err = cmd.Run(); err != nil {
		if log, logErr := os.ReadFile(terminal); logErr == nil {
			printed.Write(log)
		}
	}
	return printed.String(), err
}

// leaksNothing fails if the pages left a key in the checkout.
const leaksNothing = `
if grep -rlE 'prism_[0-9A-Za-z]{38}' --exclude-dir=bin --exclude-dir=.prism .; then
	echo 'these files of the checkout hold a key'
	exit 1
fi
`
