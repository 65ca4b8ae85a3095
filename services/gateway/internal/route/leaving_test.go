package route

import (
	"io"
	"strings"
	"testing"
)

type holding struct{ io.ReadCloser }

func (holding) HeldBytes() int { return 7 }

// spec: response-budget
func TestAnExportThatCountsForAnAccountShowsWhatItHolds(t *testing.T) {
	t.Parallel()
	plain := io.NopCloser(strings.NewReader(""))
	for want, body := range map[int]io.ReadCloser{0: plain, 7: holding{plain}} {
		sent := io.ReadCloser(leaving{body, func(error) {}})
		if held, ok := sent.(interface{ HeldBytes() int }); !ok || held.HeldBytes() != want {
			t.Errorf("the body does not show that it holds %d bytes", want)
		}
	}
}
