package upstream

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/fair"
)

// spec: answer-budget
func TestWhatAnAnswerHoldsCountsForItsAccount(t *testing.T) {
	t.Parallel()
	zipped := func(w http.ResponseWriter, size int) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write(make([]byte, size))
		_ = z.Close()
	}
	for _, c := range []struct {
		name    string
		respond http.HandlerFunc
		length  int
		least   int // bytes that are counted while it is read
	}{
		{"a small one", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }, 2, 1 << 10},
		{"a large one", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 1<<20)) }, 1 << 20, 4<<20 - 48<<10},
		{"a compressed one", func(w http.ResponseWriter, _ *http.Request) { zipped(w, 1<<20) }, 1 << 20, 4<<20 - 48<<10},
		{"a small compressed one", func(w http.ResponseWriter, _ *http.Request) { zipped(w, 1) }, 1, inflater},
		{"one of headers", func(w http.ResponseWriter, _ *http.Request) {
			for range 1000 {
				w.Header().Add("X", "y")
			}
		}, 0, 1000 * headerBytes},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.respond)
			t.Cleanup(server.Close)
			bound := fair.New(64<<20, 0)
			cl := client(t, Config{BaseURL: server.URL, Answers: bound})
			held := func() int { return bound.Taken() }
			length, counted := -1, 0
			fault := cl.Post(fair.With(t.Context(), "a"), "/x", nil, 64, func(answer []byte) *Fault {
				length, counted = len(answer), held()
				return nil
			})
			if fault != nil || length != c.length || counted < c.least || counted > 2*c.least+256<<10 {
				t.Errorf("%v: of %d bytes %d counted, want %d", fault, length, counted, c.least)
			}
			if left := held(); left != 0 {
				t.Errorf("%d bytes are still counted", left)
			}
			if !bound.TakeN("other", fair.Preferred, 64<<20, 0) { // an account that has all leaves others their share
				t.Fatal("no places")
			}
			if fault := cl.Post(fair.With(t.Context(), "a"), "/x", nil, 64, func([]byte) *Fault { return nil }); fault != nil {
				t.Errorf("a share is refused: %+v", fault)
			}
			if fault := cl.Post(fair.With(t.Context(), "other"), "/x", nil, 64, func([]byte) *Fault { t.Error("read"); return nil }); fault == nil ||
				fault.Cause != NoRoom || !fault.Retryable() || fault.Status != 0 {
				t.Errorf("got %+v", fault)
			}
			if left := held(); left != 64<<20 {
				t.Errorf("%d bytes are counted", left)
			}
		})
	}
}

func TestABodyIsSentInParts(t *testing.T) {
	t.Parallel()
	var sent []byte
	var length int64
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		if length = r.ContentLength; n == 0 { // the next request finds the kept connection closed, and is sent again
			w.Header().Set("Connection", "close")
		}
		n++
	}))
	t.Cleanup(server.Close)
	c := client(t, Config{BaseURL: server.URL})
	input := bytes.Repeat([]byte("x"), 100_000)
	want := "[" + string(input) + "]"
	for range 2 {
		if _, fault := post(context.WithoutCancel(t.Context()), c, Body{[]byte("["), input, []byte("]")}); fault != nil ||
			string(sent) != want || length != int64(len(want)) {
			t.Errorf("%+v: %d bytes were sent, and %d announced", fault, len(sent), length)
		}
	}
}
