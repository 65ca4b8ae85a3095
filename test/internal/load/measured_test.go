package load

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

var get = []byte("GET / HTTP/1.1\r\nHost: h\r\n\r\n")

func work(t *testing.T, handler http.HandlerFunc) Work {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return Work{Addr: server.Listener.Addr().String(), Request: func(int) []byte { return get }, Status: http.StatusOK}
}

func TestEveryResponseIsMeasured(t *testing.T) {
	t.Parallel()
	var served atomic.Int64
	w := work(t, func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
		_, _ = w.Write([]byte("response"))
	})
	var seen atomic.Int64
	w.Seen = func(body []byte) {
		if string(body) == "response" {
			seen.Add(1)
		}
	}
	f, err := Closed(t.Context(), w, 4, 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if got := int64(len(f.Took)); got == 0 || got != served.Load() {
		t.Errorf("%d calls were measured, %d served", got, served.Load())
	}
	if seen.Load() != served.Load() {
		t.Errorf("%d of %d bodies were seen", seen.Load(), served.Load())
	}
	if f.Percentile(0) > f.Percentile(50) || f.Percentile(50) > f.Percentile(100) {
		t.Error("percentiles do not rise")
	}
}

func TestCallsThatWaitedForAHangingServerAreLateToo(t *testing.T) {
	t.Parallel()
	const hang = 500 * time.Millisecond
	var calls atomic.Int64
	w := work(t, func(_ http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			select {
			case <-time.After(hang):
			case <-r.Context().Done():
			}
		}
	})
	f, err := Steady(t.Context(), w, 1, 100, hang)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Took) != 50 {
		t.Fatalf("%d calls, want one every 10 ms", len(f.Took))
	}
	// One call hung. The others were due while it did, evenly spread.
	if p50 := f.Percentile(50); p50 < hang/3 {
		t.Errorf("half of the calls took less than %s, as if no call had waited", p50)
	}
}

func TestAWrongStatusEndsTheRun(t *testing.T) {
	t.Parallel()
	w := work(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "refused", http.StatusTeapot) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := Closed(ctx, w, 2, time.Hour); err == nil || !strings.Contains(err.Error(), "418 instead of 200: refused") {
		t.Errorf("got %v", err)
	}
}

func TestARefusedCallIsCountedAndNotMeasured(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	w := work(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1)%3 == 0 {
			http.Error(w, "later", http.StatusServiceUnavailable)
		}
	})
	if err := Once(t.Context(), w, 9, 1000); err != nil {
		t.Fatal(err)
	}
	calls.Store(0)
	f, err := Steady(t.Context(), w, 1, 1000, 9*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Took) != 6 || f.Refused != 3 {
		t.Errorf("%d were measured and %d refused, want 6 and 3", len(f.Took), f.Refused)
	}
}

func TestACallThatTookNothingIsMadeAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		free, cancelled int64 // the call that is answered, and the one at which there is no more time
		status          int
		calls           int64
	}{
		{free: 3, status: http.StatusOK, calls: 3},
		{free: 3, cancelled: 2, calls: 2},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		var asked atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			n := asked.Add(1)
			if n == c.cancelled {
				cancel()
			}
			if n < c.free {
				http.Error(w, unavailable, http.StatusServiceUnavailable)
			}
		}))
		t.Cleanup(server.Close)
		client := NewClient(1, 1)
		t.Cleanup(client.Close)
		r := client.Insist(ctx, Request{Method: http.MethodGet, URL: server.URL})
		if asked.Load() != c.calls || c.status != 0 && r.Status != c.status || c.status == 0 && r.Status == http.StatusOK {
			t.Errorf("%+v: after %d calls: %s", c, asked.Load(), r)
		}
	}
}
