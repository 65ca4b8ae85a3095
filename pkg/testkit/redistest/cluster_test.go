package redistest_test

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/redistest"
)

func TestAClusterMovesSlotsAndReplacesAMasterThatIsKilled(t *testing.T) {
	t.Parallel()
	c, err := redistest.StartCluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	if n := strings.Count(c.URL(), "127.0.0.1:"); n != 6 {
		t.Fatalf("%s names %d nodes", c.URL(), n)
	}
	masters := c.Masters()
	// The key mdr has the slot 1, of the first master.
	ask(t, "tcp", masters[0], "SET mdr value", "+OK")
	if err := c.MoveSlots(t.Context(), 100); err != nil {
		t.Fatal(err)
	}
	ask(t, "tcp", masters[1], "GET mdr", "$5")
	if err := c.FailOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask(t, "tcp", masters[1], "GET mdr", "$5")
}
