package cgroup

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestTheKernelKeepsAProcessWithinItsGroup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		bytes  string
		killed bool
	}{
		{"a process below the limit ends by itself", "1M", false},
		{"a process beyond the limit is killed", "200M", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g, err := New("self", 64<<20)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
				defer cancel()
				if err := g.Remove(ctx); err != nil {
					t.Error(err)
				}
			})
			program, err := g.Wrap(t.TempDir(), "/bin/dd")
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), program, "if=/dev/zero", "of=/dev/null", "count=1", "bs="+c.bytes)
			out, err := cmd.CombinedOutput()
			status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if killed := status.Signal() == syscall.SIGKILL; killed != c.killed || !killed && err != nil {
				t.Errorf("it ended with %v: %v\n%s", cmd.ProcessState, err, out)
			}
			if peak, err := g.Peak(); err == nil && (peak < 1<<20 || peak > 64<<20) {
				t.Errorf("its peak is %d bytes", peak)
			}
		})
	}
}

func TestAGroupIsMadeWhereItsLimitCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, own, parent string
		names             files
	}{
		{"version 1", "9:cpu:/\n4:memory:/a/b\n0::/\n", "/sys/fs/cgroup/memory/a/b", version1},
		{"version 2", "0::/user.slice/session-1.scope\n", "/sys/fs/cgroup/user.slice", version2},
		{"version 2 in a container", "0::/\n", "/sys/fs/cgroup", version2},
		{"both, with memory in version 1", "0::/x\n4:memory:/a\n", "/sys/fs/cgroup/memory/a", version1},
	} {
		parent, names, err := place(c.own)
		if err != nil || parent != c.parent || names != c.names {
			t.Errorf("%s: got %s, %v, %v", c.name, parent, names, err)
		}
	}
	if _, _, err := place("1:cpu:/\n"); err == nil {
		t.Error("a process without a group has a place")
	}
}
