package export

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
)

// TestNoRowIsLostBetweenShortConnections exports rows whose times of saving are in another order than their ids, as results that
// models answer at the same time.
func TestNoRowIsLostBetweenShortConnections(t *testing.T) {
	t.Parallel()
	formats(t, func(t *testing.T, f client.Format) {
		p := &prism{}
		for i := range 203 {
			saved := start.Add(time.Duration(i)*10*time.Millisecond + time.Duration(i*7%30)*time.Second)
			p.rows = append(p.rows, result{fmt.Sprintf("%036d", i), saved, "some text"})
		}
		e := p.start(t, f)
		whole := p.export(f, time.Time{})
		p.cutAt = len(whole) / 8
		var got bytes.Buffer
		if _, err := e.To(t.Context(), &got); err != nil || got.String() != whole {
			t.Errorf("%d exports, %v, %d of %d bytes", p.exports, err, got.Len(), len(whole))
		}
	})
}
