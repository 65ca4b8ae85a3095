// Package orphan checks that a server ends when the process that started it is killed.
package orphan

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	childVariable = "PRISM_TESTKIT_CHILD"
	pollEvery     = 10 * time.Millisecond
	budget        = 2 * time.Minute
)

// Main is called first in TestMain. In the process that Check starts it starts a server, writes the path of its socket
// and waits to be killed; in every other process it does nothing.
func Main(start func() (socket string, err error)) {
	if os.Getenv(childVariable) == "" {
		return
	}
	socket, err := start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(socket)
	select {}
}

// Check starts this test's program once more, kills it when it has a server, and waits for the server to be gone.
func Check(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), budget)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^$")
	child.Env = append(os.Environ(), childVariable+"=1")
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, readErr := bufio.NewReader(out).ReadString('\n')
	socket := strings.TrimSpace(line)
	if readErr == nil && !answers(ctx, socket) {
		t.Errorf("the server at %q doesn't answer", socket)
	}
	if err := child.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = child.Wait() // it was killed, so it ends with an error
	if readErr != nil {
		t.Fatalf("the program started no server: %v", readErr)
	}
	// A process that is not a child cannot be waited for: poll.
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for answers(ctx, socket) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the server outlived the process that started it")
		}
	}
	// NewFolder would remove the folder too, but not within its first minute.
	if err := os.RemoveAll(filepath.Dir(socket)); err != nil {
		t.Error(err)
	}
}

func answers(ctx context.Context, socket string) bool {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
