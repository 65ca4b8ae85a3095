package route

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
)

// spec: changes-wait, changes-next
func TestAPageWithoutAChangeWaitsForOne(t *testing.T) {
	t.Parallel()
	const wait = 3 * time.Second
	empty := func(next int) string { return fmt.Sprintf(`{"data":[],"next":%d}`, next) }
	const full = `{"data":[{"seq":9}],"next":9}`
	for name, c := range map[string]struct {
		wait  time.Duration
		stop  time.Duration // of the service; 0: never
		pages []string
		want  string
		took  time.Duration
		after int64 // of the last read
	}{
		"that is there":                        {wait, 0, []string{full}, full, 0, 4},
		"that comes":                           {wait, 0, []string{empty(4), empty(4), full}, full, 2 * eventPause, 4},
		"that does not come":                   {wait, 0, []string{empty(4)}, empty(4), wait, 4},
		"and does not wait":                    {0, 0, []string{empty(4)}, empty(4), 0, 4},
		"until the service stops":              {wait, time.Second, []string{empty(4)}, empty(4), time.Second, 4},
		"and goes on behind what it looked at": {wait, 0, []string{empty(6), empty(8), full}, full, 0, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				stopping, stop := context.WithCancel(t.Context())
				defer stop()
				if c.stop > 0 {
					time.AfterFunc(c.stop, stop)
				}
				reads, last, began := 0, int64(0), time.Now()
				response, err := awaitChanges(stopping, 4, c.wait, func(after int64) (contract.Response, error) {
					page := c.pages[min(reads, len(c.pages)-1)]
					reads, last = reads+1, after
					return contract.Response{Body: []byte(page)}, nil
				})
				if err != nil || string(response.Body) != c.want {
					t.Errorf("got %s, %v, want %s", response.Body, err, c.want)
				}
				if took := time.Since(began); took != c.took || last != c.after {
					t.Errorf("it took %v, and read behind %d", took, last)
				}
			})
		})
	}
}

// spec: changes-wait, key-revocation
func TestAKeyThatIsRevokedWaitsForNoChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		_, err := awaitChanges(t.Context(), 1, time.Minute, func(int64) (contract.Response, error) {
			if reads++; reads > 2 {
				return contract.Response{}, apierr.InvalidAPIKey()
			}
			return contract.Response{Body: []byte(`{"data":[],"next":1}`)}, nil
		})
		if !errors.Is(err, apierr.InvalidAPIKey()) || reads != 3 {
			t.Errorf("got %v after %d reads", err, reads)
		}
	})
}
