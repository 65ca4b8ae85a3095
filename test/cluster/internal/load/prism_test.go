package load_test

import (
	"net/http/httptest"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/test/cluster/internal/model"
)

// prism is a running Prism, a key of it, and its model.
type prism struct{ url, key, model string }

// start starts a real standalone Prism: the load is tested against the program that it calls in the cluster.
func start(t *testing.T) prism {
	t.Helper()
	upstream := httptest.NewServer(model.New())
	t.Cleanup(upstream.Close)
	s, err := launch.Options{Dir: t.TempDir(), ModelURL: upstream.URL}.Standalone(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Process().StopAfter(t)
	key, err := s.Account(t.Context(), "load")
	if err != nil {
		t.Fatal(err)
	}
	return prism{url: s.URL(), key: key, model: upstream.URL}
}
