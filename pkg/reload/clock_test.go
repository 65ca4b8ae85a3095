package reload

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/wallclock"
)

// watched makes this program print the value of a file for each line that it reads.
const watched = "RELOAD_TEST_FILE"

func TestMain(m *testing.M) {
	file := os.Getenv(watched)
	if file == "" {
		os.Exit(m.Run())
	}
	v, err := New(slog.New(slog.DiscardHandler), text, file)
	if err != nil {
		panic(err)
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(v.Get())
	}
}

// spec: clocks-that-jump, rotation-without-restart
func TestAValueFollowsItsFileAlthoughTheClockWentBack(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	write := func(content string) {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), watched+"="+file)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	values := bufio.NewScanner(out)
	clock, err := wallclock.TakeOver(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = clock.Close() }()
	get := func() string {
		if _, err := fmt.Fprintln(in); err != nil {
			t.Fatal(err)
		}
		if !values.Scan() {
			t.Fatal(values.Err())
		}
		return values.Text()
	}
	if got := get(); got != "old" {
		t.Fatalf("the value is %q", got)
	}
	if err := clock.Set(-time.Hour); err != nil {
		t.Fatal(err)
	}
	write("new")
	tick, late := time.NewTicker(10*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for get() != "new" {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("the file was not read again within a minute")
		}
	}
}
