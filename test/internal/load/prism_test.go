package load_test

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/test/internal/upstream"
)

// prism is a running Prism with keys of two accounts, and its model.
type prism struct {
	addr, model string
	keys        [2]string
}

// start starts a real standalone Prism: the load is tested against the program that it calls in the cluster.
func start(t *testing.T) (p prism) {
	t.Helper()
	model := httptest.NewServer(upstream.Handler(upstream.Config{Pause: 30 * time.Millisecond}))
	t.Cleanup(model.Close)
	s, err := launch.Options{Dir: t.TempDir(), ModelURL: model.URL}.Standalone(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Process().StopAfter(t)
	p = prism{addr: s.Listen, model: model.URL}
	for i := range p.keys {
		if p.keys[i], err = s.Account(t.Context(), fmt.Sprintf("load-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}
