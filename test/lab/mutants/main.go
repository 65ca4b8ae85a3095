// Command mutants shows that the tests of a package hold its rules: it breaks the code in one place at a time, as the table
// says, and runs the tests of that package alone. The sources stay as they are: go test lays the changed file over the
// original. The command fails when tests pass over broken code, and when the text of a row is not found exactly once, so that
// no row ever tests nothing.
//
//	go run ./test/lab/mutants [-only checks] [-parallel 2]
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/testkit/program"
)

// Bounds of one run of a package's tests: without a mutant, and with one, which is killed if it makes the tests hang. A machine
// may be slow, so with a mutant the tests have three times what they took without it, and a minute to be built again.
const (
	soundLimit = 20 * time.Minute
	buildTime  = time.Minute
)

// mutant is a change that makes the code wrong.
type mutant struct {
	file     string // below the repository
	old, new string // old is found once in the file
	why      string // what is wrong with new
	tests    string // folder of the tests; the file's unless set
}

func (m mutant) pkg() string {
	if m.tests != "" {
		return m.tests
	}
	return path.Dir(m.file)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	only := flags.String("only", "", "run the mutants whose file contains this text")
	parallel := flags.Int("parallel", 1, "mutants to run at a time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := program.Root()
	if err != nil {
		return err
	}
	var chosen []mutant
	for _, m := range mutants {
		if strings.Contains(m.file, *only) {
			chosen = append(chosen, m)
		}
	}
	took, err := sound(ctx, root, chosen)
	if err != nil {
		return err
	}
	var (
		mu       sync.Mutex
		group    sync.WaitGroup
		problems []error
		slots    = make(chan struct{}, *parallel)
	)
	for _, m := range chosen {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			verdict, err := try(ctx, root, m, 3*took[m.pkg()]+buildTime)
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintf(out, "%-8s  %s: %s\n", verdict, m.file, m.why)
			problems = append(problems, err)
		})
	}
	group.Wait()
	if err := errors.Join(problems...); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d mutants killed\n", len(chosen))
	return nil
}

// sound checks that every row fits the sources and that the tests pass without a mutant: else each would count as killed. It
// returns how long the tests of each package took.
func sound(ctx context.Context, root string, chosen []mutant) (map[string]time.Duration, error) {
	var problems []error
	for _, m := range chosen {
		if _, err := m.apply(root); err != nil {
			problems = append(problems, err)
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	took := map[string]time.Duration{}
	for _, m := range chosen {
		if _, passed := took[m.pkg()]; passed {
			continue
		}
		began := time.Now()
		if out, err := test(ctx, root, m.pkg(), soundLimit); err != nil {
			problems = append(problems, fmt.Errorf("the tests of %s fail without a mutant: %w\n%s", m.pkg(), err, out))
		}
		took[m.pkg()] = time.Since(began)
	}
	return took, errors.Join(problems...)
}

// apply returns the file with the change.
func (m mutant) apply(root string) ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file)))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(source, []byte(m.old)); n != 1 {
		return nil, fmt.Errorf("%s: found %d times, want once: %q", m.file, n, m.old)
	}
	return bytes.Replace(source, []byte(m.old), []byte(m.new), 1), nil
}

// try runs the tests over the mutant for at most limit.
func try(ctx context.Context, root string, m mutant, limit time.Duration) (verdict string, err error) {
	source, err := m.apply(root)
	if err != nil {
		return "error", err
	}
	dir, err := os.MkdirTemp("", "prism-mutant-")
	if err != nil {
		return "error", err
	}
	defer os.RemoveAll(dir)
	changed := filepath.Join(dir, "mutant.go")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(root, filepath.FromSlash(m.file)): changed,
	}})
	if err != nil {
		return "error", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := errors.Join(os.WriteFile(changed, source, 0o600), os.WriteFile(list, overlay, 0o600)); err != nil {
		return "error", err
	}
	out, err := test(ctx, root, m.pkg(), limit, "-overlay", list)
	switch {
	case err == nil:
		return "SURVIVED", fmt.Errorf("%s: the tests pass though %s", m.file, m.why)
	case bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")):
		return "error", fmt.Errorf("%s: the mutant does not compile: %s\n%s", m.file, m.why, out)
	case ctx.Err() != nil:
		return "error", ctx.Err()
	}
	return "killed", nil
}

// test runs the tests of a package for at most limit.
func test(ctx context.Context, root, pkg string, limit time.Duration, flags ...string) ([]byte, error) {
	dir := filepath.Join(root, filepath.FromSlash(pkg))
	defer forgetFailures(dir)()
	args := append([]string{"test", "-count=1", "-failfast", "-vet=off", "-timeout", strconv.Itoa(int(limit.Seconds())) + "s"}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir = dir
	return cmd.CombinedOutput()
}

// forgetFailures returns a function that removes the failing inputs that rapid has stored in a package since: without the
// mutant they do not fail.
func forgetFailures(dir string) func() {
	testdata := filepath.Join(dir, "testdata")
	failures := filepath.Join(testdata, "rapid")
	if _, err := os.Stat(failures); err == nil {
		return func() {}
	}
	return func() {
		_ = os.RemoveAll(failures)
		_ = os.Remove(testdata) // which fails unless the folder is empty
	}
}
