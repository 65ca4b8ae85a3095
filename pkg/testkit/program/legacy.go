package program

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
)

// Build compiles the package at a path below the repository into dir, with further flags of go build, and returns the
// program.
//
// Deprecated: use Binary, which links a program once for all packages of a test run.
func Build(ctx context.Context, dir, pkg string, flags ...string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, filepath.Base(pkg))
	args := append([]string{"build", "-o", bin}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir = filepath.Join(root, filepath.FromSlash(pkg))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("program: build %s: %w\n%s", pkg, err, out)
	}
	return bin, nil
}

// Start starts a program that is killed when this process ends.
//
// Deprecated: use Launch.
func Start(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	dieWithParent(cmd.SysProcAttr)
	err := make(chan error, 1)
	starter() <- func() { err <- cmd.Start() }
	return <-err
}

// starter hands commands to one thread that never ends: to the kernel the parent is the thread that forked.
var starter = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for fn := range work {
			fn()
		}
	}()
	return work
})
