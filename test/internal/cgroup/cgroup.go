// Package cgroup limits the memory of processes of tests as a container does, with control groups of Linux, version 1 or 2.
package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// mount is where Linux shows its control groups.
const mount = "/sys/fs/cgroup"

// Group is a control group with a memory limit. The kernel kills a process that needs more.
type Group struct {
	dir   string
	files files
}

// files are the names of the files of a version.
type files struct{ limit, swap, peak string }

var (
	version1 = files{"memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max_usage_in_bytes"}
	version2 = files{"memory.max", "memory.swap.max", "memory.peak"}
)

// New makes a group with a limit in bytes, without swap. It needs the right to make control groups, as root has it.
func New(name string, limit int64) (*Group, error) {
	g, err := newGroup(name, limit)
	if err != nil {
		return nil, fmt.Errorf("cgroup: this test holds processes to a memory limit and must be able to make control groups, "+
			"as root on the machine or in a container that may write to %s: %w", mount, err)
	}
	return g, nil
}

func newGroup(name string, limit int64) (*Group, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	parent, names, err := place(string(own))
	if err != nil {
		return nil, err
	}
	if names == version2 {
		// Fails when the controller is there already, or cannot be had: then the limit has no file.
		_ = os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+memory"), 0)
	}
	dir, err := os.MkdirTemp(parent, "prism-test-"+name+"-")
	if err != nil {
		return nil, err
	}
	g := &Group{dir, names}
	if err := g.write(names.limit, limit); err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	swap := limit // with version 1 memory and swap together
	if names == version2 {
		swap = 0
	}
	if err := g.write(names.swap, swap); err != nil && !errors.Is(err, fs.ErrNotExist) { // a kernel without swap has no such file
		return nil, errors.Join(err, os.Remove(dir))
	}
	return g, nil
}

// place is the folder in which a group can be made. With version 1 that is the group of this process. With version 2 a group
// with processes cannot limit groups below, so that is the group above.
func place(own string) (parent string, names files, err error) {
	for line := range strings.Lines(own) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		if len(parts) < 3 {
			continue
		}
		switch parts[1] {
		case "memory":
			return filepath.Join(mount, "memory", parts[2]), version1, nil
		case "":
			parent = filepath.Join(mount, filepath.Dir(parts[2]))
		}
	}
	if parent == "" {
		return "", files{}, errors.New("this process is in no control group")
	}
	return parent, version2, nil
}

func (g *Group) write(file string, n int64) error {
	return os.WriteFile(filepath.Join(g.dir, file), []byte(strconv.FormatInt(n, 10)), 0)
}

// Wrap writes a script into a folder that runs the program in the group, and returns its path. The program is in the group from
// its first instruction on.
func (g *Group) Wrap(folder, program string) (string, error) {
	script := fmt.Sprintf("#!/bin/sh\necho $$ > %s/cgroup.procs || exit 1\nexec %s \"$@\"\n", g.dir, program)
	path := filepath.Join(folder, filepath.Base(g.dir))
	return path, os.WriteFile(path, []byte(script), 0o755)
}

// Peak is the most memory that the group had, in bytes. Kernels before 5.19 do not tell with version 2.
func (g *Group) Peak() (int64, error) {
	text, err := os.ReadFile(filepath.Join(g.dir, g.files.peak))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// Remove removes the group when its processes have ended.
func (g *Group) Remove(ctx context.Context) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := os.Remove(g.dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("cgroup: %w", err)
		}
	}
}
