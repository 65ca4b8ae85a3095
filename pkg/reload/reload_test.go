package reload

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func text(contents [][]byte) (string, error) {
	joined := string(bytes.Join(contents, []byte("+")))
	if strings.Contains(joined, "bad") {
		return "", errors.New("is bad")
	}
	return joined, nil
}

// spec: rotation-without-restart
func TestAValueFollowsItsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write := func(file, content string) {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(a, "1")
	write(b, "2")
	var logged bytes.Buffer
	v, err := New(slog.New(slog.NewTextHandler(&logged, nil)), text, a, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name     string
		change   func()
		want     string
		warnings int
	}{
		{"nothing", func() {}, "1+2", 0},
		{"a file changes", func() { write(a, "3") }, "3+2", 0},
		{"a file is not usable", func() { write(b, "bad") }, "3+2", 1},
		{"it still is not", func() {}, "3+2", 1},
		{"it is gone", func() { _ = os.Remove(b) }, "3+2", 2},
		{"it is back", func() { write(b, "4") }, "3+4", 2},
		{"it is too large", func() { write(b, strings.Repeat("x", sizeLimit+1)) }, "3+4", 3},
	} {
		step.change()
		v.next.Store(0) // a second later
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() { v.Get() })
		}
		readers.Wait()
		if got := v.Get(); got != step.want || strings.Count(logged.String(), "level=WARN") != step.warnings {
			t.Errorf("%s: got %.20q, logged %s", step.name, got, logged.String())
		}
		if failed := v.Failure() != ""; failed != slices.Contains([]string{"a file is not usable", "it still is not", "it is gone", "it is too large"}, step.name) {
			t.Errorf("%s: the failure is %q", step.name, v.Failure())
		}
	}
	write(a, "5")
	v.next.Store(int64(time.Hour))
	if got := v.Get(); got != "3+4" {
		t.Errorf("the files were read early: %q", got)
	}
}

func TestTheFirstReadMustSucceed(t *testing.T) {
	t.Parallel()
	if _, err := New(nil, text, "/nowhere/a"); err == nil || err.Error() != "/nowhere/a: no such file or directory" {
		t.Errorf("got %v", err)
	}
	if v, err := New(nil, text); err != nil || v.Get() != "" {
		t.Errorf("a value without files: %v", err)
	}
}
