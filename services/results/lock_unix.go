//go:build unix

package results

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lockFile has the lock of DataDir and, for whoever finds it locked, the process that holds it.
const lockFile = "prism.lock"

// lock takes the lock of a folder for this process, until release or the end of the process. Two processes that serve one folder would
// both work on its files and deletions, and share no limits (spec: one-server-of-a-folder).
func lock(dir string) (release func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator names the folder
	if err != nil {
		return nil, err
	}
	release = func() { _ = f.Close() }
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		// The number is written over the one that is there, which takes no space on a full disk. It is for people only.
		_, _ = fmt.Fprintf(f, "%-20d\n", os.Getpid())
		return release, nil
	}
	defer release()
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s: %w", lockFile, err)
	}
	number := make([]byte, 20)
	n, _ := f.Read(number)
	return nil, fmt.Errorf("another Prism serves this folder: process %s", strings.TrimSpace(string(number[:n])))
}
