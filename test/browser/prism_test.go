package browser

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/program"
)

// Bounds of what is waited for. None of them is a pause.
const (
	buildBudget = 10 * time.Minute
	startBudget = 5 * time.Minute
	callBudget  = 2 * time.Minute
	stopBudget  = time.Minute
)

// prism is a standalone Prism after its first start, with the offline model.
type prism struct {
	url string
	key string // of the demo account

	cmd    *exec.Cmd
	stderr bytes.Buffer // to be read when the process has exited
	exited chan struct{}
}

var (
	urlPattern = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	keyPattern = regexp.MustCompile(`prism_[0-9A-Za-z]{38}`)
)

// buildPrism compiles the standalone binary as the end-to-end tests do, so that all share the compiler's cache.
func buildPrism(t *testing.T) string {
	t.Helper()
	// Go remembers a test that has passed until what it read in its module has changed. So it reads, through a link, the
	// folders with what the binary is made of.
	for _, sources := range []string{"cmd", "pkg", "services"} {
		pass := func(_ string, _ fs.DirEntry, err error) error { return err }
		if err := filepath.WalkDir(filepath.Join("testdata", "root", sources), pass); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), buildBudget)
	defer cancel()
	bin, err := program.Build(ctx, t.TempDir(), "cmd/prism", program.AsTests()...)
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// startPrism starts the binary with an empty store, and waits until it has said where it answers and with which key.
func startPrism(t *testing.T, bin string) *prism {
	t.Helper()
	p := &prism{cmd: exec.Command(bin, "serve"), exited: make(chan struct{})}
	p.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0",
		"PRISM_LISTEN=127.0.0.1:0", "PRISM_ADMIN_LISTEN=127.0.0.1:0", "PRISM_DATA_DIR=" + t.TempDir(),
	}
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(p.cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(t) })
	told := make(chan struct{})
	go func() {
		defer close(p.exited)
		lines := bufio.NewScanner(stdout)
		for p.key == "" && lines.Scan() {
			if p.url == "" {
				p.url = urlPattern.FindString(lines.Text())
			}
			p.key = keyPattern.FindString(lines.Text())
		}
		if p.key != "" {
			close(told)
		}
		_, _ = io.Copy(io.Discard, stdout)
		_ = p.cmd.Wait()
	}()
	select {
	case <-told:
	case <-p.exited:
		t.Fatal("prism ended while it started")
	case <-time.After(startBudget):
		t.Fatal("prism does not say where it answers")
	}
	return p
}

// stop ends Prism; its log is shown when a test has failed.
func (p *prism) stop(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	select {
	case <-p.exited:
	case <-time.After(stopBudget):
		_ = p.cmd.Process.Kill()
		<-p.exited
		t.Error("prism did not stop")
	}
	if log := p.stderr.String(); t.Failed() || strings.Contains(log, "DATA RACE") {
		t.Errorf("prism printed:\n%s", log)
	}
}

// call sends a request with the demo key and wants a status.
func (p *prism) call(t *testing.T, method, path, body string, want int) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), callBudget)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		t.Fatalf("%s %s: got %d %s (%v), want %d", method, path, resp.StatusCode, answer, err, want)
	}
	return answer
}
