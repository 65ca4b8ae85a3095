// Package s3test runs a throwaway object store for tests: the Versity S3 gateway over a folder.
package s3test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/internal/proc"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// The credentials of the store, and the bucket that is there.
const (
	Access = "access"
	Secret = "a secret of tests"
	Bucket = "files"
)

const startBudget, stopBudget = 30 * time.Second, 10 * time.Second

// New starts a store with an empty bucket, which ends with the test, and returns the URL of its endpoint. The gateway is built from
// source at the version that the module in the folder gateway pins: it is a module of its own, so that the gateway's dependencies
// are none of Prism's.
func New(t testing.TB) (endpoint string) {
	t.Helper()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	gateway, data := filepath.Join(dir, "versitygw"), filepath.Join(dir, "data")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", gateway, "github.com/versity/versitygw/cmd/versitygw")
	build.Dir = filepath.Join(root, "pkg/testkit/s3test/gateway")
	build.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("s3test: %v\n%s", err, out)
	}
	if err := os.MkdirAll(filepath.Join(data, Bucket), 0o700); err != nil {
		t.Fatal(err)
	}
	address, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), gateway,
		"--access", Access, "--secret", Secret, "--port", address, "--quiet", "posix", "--nometa", data)
	process, err := proc.StartLogged(command, filepath.Join(dir, "log"), syscall.SIGKILL)
	if err != nil {
		t.Fatalf("s3test: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), stopBudget)
		defer cancel()
		if err := process.End(ctx, syscall.SIGTERM); err != nil {
			t.Errorf("s3test: %v", err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), startBudget)
	defer cancel()
	err = process.Await(ctx, func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
	if err != nil {
		t.Fatalf("s3test: %v", err)
	}
	return fmt.Sprintf("http://%s", address)
}
