package pgtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared is this test process's server. It starts when the first test asks for it.
var shared struct {
	mu     sync.Mutex
	begun  bool
	server *Server
	err    error
}

// Shared returns the server that the tests of this process share. A package that uses it has a TestMain with Main or Runner.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if !shared.begun {
		shared.begun = true
		// The server outlives the test that happens to be the first to ask for it.
		shared.server, shared.err = Start(context.WithoutCancel(t.Context()), Options{})
	}
	if shared.err != nil {
		t.Fatalf("pgtest: %v", shared.err)
	}
	return shared.server
}

// Main runs the tests, ends the shared server and exits. A TestMain needs nothing else.
func Main(m *testing.M) { os.Exit(Runner(m).Run()) }

// TestRunner is *testing.M, or another Runner around it.
type TestRunner interface{ Run() int }

// Runner returns a runner that runs the tests and then ends the shared server, for a TestMain that does more:
//
//	goleak.VerifyTestMain(pgtest.Runner(m))
func Runner(m TestRunner) TestRunner { return runner{m} }

type runner struct{ tests TestRunner }

func (r runner) Run() int {
	code := r.tests.Run()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server == nil {
		return code
	}
	if err := shared.server.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		return max(code, 1)
	}
	return code
}
