package proc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestTheNewestVersionIsFoundOutsideOfPath(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, version := range []string{"9", "15", "10"} {
		dir := filepath.Join(root, version, "bin")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "prism-no-such-program"), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Find("prism-no-such-program", filepath.Join(root, "*", "bin"))
	if want := filepath.Join(root, "15", "bin", "prism-no-such-program"); err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestAMissingProgramSaysWhatToRun(t *testing.T) {
	t.Parallel()
	if _, err := Find("prism-no-such-program", t.TempDir()); err == nil || !strings.Contains(err.Error(), "make deps") {
		t.Errorf("got %v", err)
	}
}

func TestASweepRemovesWhatADeadProcessLeftAndNothingElse(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	old := time.Now().Add(-2 * sweepAge)
	folder := func(name string, at time.Time) *os.File {
		path := filepath.Join(parent, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		lock, err := os.Create(filepath.Join(path, lockName))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return lock
	}
	_ = folder(folderPrefix+"dead", old).Close()
	_ = folder(folderPrefix+"young", time.Now()).Close()
	_ = folder("other", old).Close()
	live := folder(folderPrefix+"live", old)
	defer live.Close()
	if err := tryLock(live); err != nil {
		t.Fatal(err)
	}
	sweep(parent)
	for name, want := range map[string]bool{"prism-test-dead": false, "prism-test-young": true, "prism-test-live": true, "other": true} {
		if _, err := os.Stat(filepath.Join(parent, name)); (err == nil) != want {
			t.Errorf("%s: %v, want it kept: %t", name, err, want)
		}
	}
}

func TestAProgramThatIgnoresTheSignalIsKilled(t *testing.T) {
	t.Parallel()
	ready := filepath.Join(t.TempDir(), "ready")
	p, err := StartLogged(exec.Command("sh", "-c", `trap "" TERM; : > "$0"; while :; do sleep 1; done`, ready), ready+".log", syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Await(t.Context(), func(context.Context) error { _, err := os.Stat(ready); return err }); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := p.End(ctx, syscall.SIGTERM); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	<-p.Done()
}
