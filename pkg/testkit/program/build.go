package program

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/prism-results/prism/pkg/testkit/internal/proc"
)

// Root is the repository: the nearest folder above the working one that has a go.work.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("program: no go.work above the working folder")
		}
		dir = up
	}
}

// Find returns the path of a program that the tests need: the one that scripts/deps.sh has put into .tools/bin, or else this
// machine's own.
func Find(name string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath(filepath.Join(root, ".tools/bin", name)); err == nil {
		return path, nil
	}
	return proc.Find(name, "/usr/sbin")
}

// RaceVariable is the environment variable that gives programs the race detector although the tests do not have it.
const RaceVariable = "PRISM_TEST_RACE"

// TestFlags are the flags of Binary for a program under test: with the race detector when the tests have the race detector, or
// when RaceVariable is set.
func TestFlags() []string {
	if race || os.Getenv(RaceVariable) != "" {
		return []string{raceFlag, plainSQLite}
	}
	return nil
}

const (
	raceFlag = "-race"
	// plainSQLite leaves the race detector out of SQLite itself, C that was translated to Go, as the Makefile does.
	plainSQLite = "-gcflags=modernc.org/sqlite/lib=-race=0"
)

// shippedFlags compile a program as `make build` does.
var shippedFlags = []string{"-trimpath", "-ldflags=-s -w"}

// Binary builds the command at a path below the repository, such as cmd/prism, and returns the program's file. Without
// flags the program is compiled as `make build` does; flags of go build are added, and a later -ldflags wins.
//
// Programs are kept in .tools/programs, a folder for each set of flags: each is linked once for all packages of a test
// run, and again only when its sources have changed.
func Binary(ctx context.Context, pkg string, flags ...string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	if err := readSources(root); err != nil {
		return "", err
	}
	build, _ := builds.LoadOrStore(pkg+"\n"+strings.Join(flags, "\n"), sync.OnceValues(func() (string, error) {
		return build(context.WithoutCancel(ctx), root, pkg, flags)
	}))
	return build.(func() (string, error))()
}

var builds sync.Map // of package and flags to func() (string, error)

func build(ctx context.Context, root, pkg string, flags []string) (string, error) {
	env := append(os.Environ(), "CGO_ENABLED=0")
	if slices.Contains(flags, raceFlag) {
		env = append(env, "CGO_ENABLED=1") // which the race detector needs
	}
	flags = slices.Concat(shippedFlags, flags)
	flavour := sha256.Sum256([]byte(strings.Join(flags, "\n")))
	dir := filepath.Join(root, ".tools", "programs", fmt.Sprintf("%x", flavour[:4]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	bin := filepath.Join(dir, filepath.Base(pkg))
	lock, err := os.OpenFile(bin+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close() // which unlocks
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("program: lock %s: %w", lock.Name(), err)
	}
	// The command is built in its own module, so that this works with the workspace and without. Revision and time of the
	// last commit stay out: with them each commit would link the program anew.
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-buildvcs=false", "-o", bin}, flags, []string{"."})...)
	cmd.Dir, cmd.Env = filepath.Join(root, filepath.FromSlash(pkg)), env
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("program: build %s: %w\n%s", pkg, err, out)
	}
	return bin, nil
}

// readSources reads the folders that programs are made of. go test caches the result of a package until a file changes
// that the tests have read within their own module, so those in the module test read the folders through a link of theirs.
// `make lab` does without cached results.
func readSources(root string) error {
	for _, view := range []string{root, filepath.Join(root, "test", "testdata", "root")} {
		for _, folder := range []string{"cmd", "pkg", "services"} {
			pass := func(_ string, _ fs.DirEntry, err error) error { return err }
			if err := filepath.WalkDir(filepath.Join(view, folder), pass); err != nil {
				return err
			}
		}
	}
	return nil
}
