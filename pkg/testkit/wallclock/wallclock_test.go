package wallclock_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/testkit/wallclock"
)

// child makes this program print its clocks for each line that it reads.
const child = "WALLCLOCK_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		began := time.Now()
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			fmt.Println(time.Now().UnixMilli(), time.Since(began).Milliseconds())
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func TestTheWallClockOfAGoProgramJumpsAndItsMonotonicClockDoesNot(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), child+"=1")
	in, lines := start(t, cmd)
	clock := of(t, cmd.Process.Pid)
	began := time.Now()
	for _, ahead := range []time.Duration{0, -time.Minute, time.Hour, 0} {
		if err := clock.Set(ahead); err != nil {
			t.Fatal(err)
		}
		before := time.Now().Truncate(time.Millisecond)
		if _, err := fmt.Fprintln(in); err != nil {
			t.Fatal(err)
		}
		var wall, ran int64
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
		if _, err := fmt.Sscan(lines.Text(), &wall, &ran); err != nil {
			t.Fatal(err)
		}
		after := time.Now()
		if at := time.UnixMilli(wall).Add(-ahead); at.Before(before) || at.After(after) {
			t.Errorf("set by %s, the clock shows %s more than ours", ahead, time.UnixMilli(wall).Sub(after))
		}
		if most := time.Since(began) + time.Minute; time.Duration(ran)*time.Millisecond > most {
			t.Errorf("set by %s, %d ms have passed", ahead, ran)
		}
	}
}

func TestAChildHasTheClockOfItsParent(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("there is no bash, whose printf shows the time without another program")
	}
	cmd := exec.Command(shell, "-c", `while read -r _; do (printf '%(%s)T\n' -1); done`)
	in, lines := start(t, cmd)
	clock := of(t, cmd.Process.Pid)
	if err := clock.Set(time.Hour); err != nil {
		t.Fatal(err)
	}
	before := time.Now().Truncate(time.Second)
	if _, err := fmt.Fprintln(in); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	var at int64
	if _, err := fmt.Sscan(strings.TrimSpace(lines.Text()), &at); err != nil {
		t.Fatal(err)
	}
	if got := time.Unix(at, 0).Add(-time.Hour); got.Before(before) || got.After(time.Now()) {
		t.Errorf("the child's clock shows %s, ours %s", time.Unix(at, 0), time.Now())
	}
}

// start starts a program that answers lines, and waits for its first answer: while a process begins to execute a program, it
// has no vDSO for a moment.
func start(t *testing.T, cmd *exec.Cmd) (io.Writer, *bufio.Scanner) {
	t.Helper()
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
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	if _, err := fmt.Fprintln(in); err != nil || !lines.Scan() {
		t.Fatal("the program has not answered", err)
	}
	return in, lines
}

func of(t *testing.T, pid int) *wallclock.Clock {
	t.Helper()
	clock, err := wallclock.TakeOver(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := clock.Close(); err != nil {
			t.Error(err)
		}
	})
	return clock
}
