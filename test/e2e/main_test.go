package e2e

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

// parallelism is the number of concurrent cases. Most of them wait for other processes.
const parallelism = 16

func run(m *testing.M) int {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = f.Value.Set(strconv.Itoa(parallelism))
	}
	if err := world.open(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(1, len(world.close()))
	}
	code := m.Run()
	problems := world.close()
	if whole() {
		problems = append(problems, world.unused()...)
	}
	for _, problem := range problems {
		fmt.Fprintln(os.Stderr, "--- FAIL:", problem)
		code = max(code, 1)
	}
	return code
}

// whole tells whether all tests run.
func whole() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return true
}
