package redistest_test

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/redistest"
)

func TestSentinelsReplaceAMasterThatIsKilled(t *testing.T) {
	t.Parallel()
	s, err := redistest.StartSentinels(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if n := strings.Count(s.URL(), "127.0.0.1:"); n != 3 {
		t.Errorf("%s names %d Sentinels", s.URL(), n)
	}
	ask(t, "tcp", s.Master.TCPAddr(), "SET key value", "+OK")
	ask(t, "tcp", s.Master.TCPAddr(), "WAIT 1 0", ":1")
	if err := s.FailOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask(t, "tcp", s.Replica.TCPAddr(), "DEL key", ":1")
}
