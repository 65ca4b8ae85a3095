package export

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
)

// spec: export-limits, retry-after-of-a-503
func TestAnExportWaitsAsLongAsABusyServerAsks(t *testing.T) {
	t.Parallel()
	p := &prism{rows: some(), busy: []int{7, 0, 60}}
	e := p.start(t, client.CSV)
	var asked []time.Duration
	e.Pause = func(_ context.Context, _ int, pause time.Duration) bool {
		asked = append(asked, pause)
		return true
	}
	var got bytes.Buffer
	if _, err := e.To(t.Context(), &got); err != nil || got.String() != p.export(client.CSV, time.Time{}) {
		t.Errorf("%v; got\n%s", err, got.String())
	}
	if want := []time.Duration{7 * time.Second, 0, time.Minute}; !slices.Equal(asked, want) {
		t.Errorf("pauses of %s, want %s", asked, want)
	}
	p.busy = []int{61}
	if _, err := e.To(t.Context(), io.Discard); !errors.Is(err, client.ErrUnavailable) || len(asked) != 3 {
		t.Errorf("a pause of more than a minute: %v", err)
	}
}
