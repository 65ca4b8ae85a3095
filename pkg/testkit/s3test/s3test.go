// Package s3test runs a throwaway object store for tests: the Versity S3 gateway over a folder.
package s3test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
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

const startBudget, stopBudget = 2 * time.Minute, time.Minute

// Store is a running object store.
type Store struct {
	Endpoint string // its URL
	Folder   string // has a folder for each bucket, in which each object is a file
}

// URL is the value of PRISM_FILES_URL for a bucket of a store at an endpoint, maybe with a prefix.
func URL(bucket, endpoint string) string {
	return "s3://" + bucket + "?region=us-east-1&path_style=true&endpoint=" + url.QueryEscape(endpoint)
}

// New starts a store with an empty bucket, which ends with the test.
func New(t testing.TB) Store {
	t.Helper()
	gateway, err := build()
	if err != nil {
		t.Fatalf("s3test: %v", err)
	}
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
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
	return Store{Endpoint: "http://" + address, Folder: data}
}

// build builds the gateway from source, once, at the version that the module in the folder gateway pins: it is a module of its own, so
// that the gateway's dependencies are none of Prism's.
var build = sync.OnceValues(func() (gateway string, err error) {
	root, err := program.Root()
	if err != nil {
		return "", err
	}
	gateway = filepath.Join(root, ".tools", "programs", "versitygw")
	if err := os.MkdirAll(filepath.Dir(gateway), 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(gateway+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close() // which unlocks
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	command := exec.Command("go", "build", "-o", gateway, "github.com/versity/versitygw/cmd/versitygw") // which links only what has changed
	command.Dir = filepath.Join(root, "pkg/testkit/s3test/gateway")
	command.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return gateway, nil
})
