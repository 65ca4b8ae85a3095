package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

// FuzzFrames: whatever arrives is a frame or an error, and a frame that was read is written as it came.
func FuzzFrames(f *testing.F) {
	head := callHead{path: pathRead, timeout: time.Second, requestID: "id", headers: pairs{"traceparent", "00-1-2-01"}}.append(nil)
	f.Add(append(append(preamble{kindCall, 7, len(head), 2}.append(nil), head...), "{}"...))
	a := answer{status: 200, failed: true, contentType: "text/csv"}.appendHead(nil)
	f.Add(append(append(preamble{kindAnswer, 7, len(a), 3}.append(nil), a...), "a,b"...))
	f.Add(preamble{kind: kindLeave}.append(nil))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		in := bufio.NewReader(bytes.NewReader(sent))
		p, err := readPreamble(in, 1<<20)
		if err != nil {
			return
		}
		if !bytes.Equal(p.append(nil), sent[:preambleBytes]) {
			t.Fatalf("%+v is written %x, came as %x", p, p.append(nil), sent[:preambleBytes])
		}
		rest, _ := io.ReadAll(in)
		raw := rest[:min(p.head, len(rest))]
		if h, err := parseCallHead(raw); err == nil {
			again, err := parseCallHead(h.append(nil))
			if err != nil || !reflect.DeepEqual(again, h) {
				t.Fatalf("%+v travels on as %+v, %v", h, again, err)
			}
		}
		if a, err := parseAnswer(raw, nil); err == nil && !bytes.Equal(a.appendHead(nil), raw) {
			t.Fatalf("%+v is written %x, came as %x", a, a.appendHead(nil), raw)
		}
	})
}

func TestFramesThatAreCutShortAreNoEnd(t *testing.T) {
	t.Parallel()
	whole := preamble{kind: kindCall, id: 1}.append(nil)
	for n := range whole {
		_, err := readPreamble(bufio.NewReader(bytes.NewReader(whole[:n])), 1)
		if want := io.ErrUnexpectedEOF; n > 0 && !errors.Is(err, want) || n == 0 && !errors.Is(err, io.EOF) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestTraceContextsThatDoNotFitAreLeftBehind(t *testing.T) {
	t.Parallel()
	h := callHead{path: pathRead, timeout: time.Second, headers: pairs{"baggage", strings.Repeat("x", maxHead)}}
	if got := h.bytes(); len(got) > maxHead {
		t.Errorf("a head of %d bytes", len(got))
	}
}

// slow is a connection whose writes wait to be let go.
type slow struct {
	writes chan []byte
	let    chan error
}

func (s slow) Write(b []byte) (int, error) {
	s.writes <- bytes.Clone(b)
	return len(b), <-s.let
}

func (s slow) Close() error { return nil }

func TestFramesThatComeDuringAWriteShareTheNext(t *testing.T) {
	t.Parallel()
	conn := slow{make(chan []byte), make(chan error)}
	o := newOutbox(conn, nil)
	ended := make(chan error, 1)
	go func() { ended <- o.run() }()
	var out []uint32
	add := func(id uint32) {
		o.add(preamble{kind: kindCall, id: id}, nil, []byte("b"), false, func() { out = append(out, id) })
	}
	add(1)
	if got := len(<-conn.writes); got != preambleBytes+1 {
		t.Fatalf("the first write has %d bytes", got)
	}
	add(2)
	add(3)
	conn.let <- nil
	if got := len(<-conn.writes); got != 2*(preambleBytes+1) {
		t.Fatalf("the second write has %d bytes, want those of two frames", got)
	}
	add(4)
	broken := errors.New("broken")
	conn.let <- broken
	if err := <-ended; !errors.Is(err, broken) {
		t.Errorf("it ended with %v", err)
	}
	if written := o.close(); written != 3 {
		t.Errorf("frame %d was the last of which a part may have been sent, want 3", written)
	}
	add(5)
	if want := []uint32{1, 2, 3, 4, 5}; !reflect.DeepEqual(out, want) {
		t.Errorf("told of %v, want %v: each once", out, want)
	}
}

func TestWhoAddsALoneSmallFrameWritesIt(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		bytes int
		alone bool
		want  bool
	}{
		{"alone and small", 100, true, true},
		{"beside others", 100, false, false},
		{"too large to be sure of room", loneBytes, true, false},
	} {
		o := newOutbox(slow{}, nil)
		if got := o.add(preamble{kind: kindCall, id: 1}, nil, make([]byte, row.bytes), row.alone, nil); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
	o := newOutbox(slow{}, nil)
	o.add(preamble{kind: kindCall, id: 1}, nil, nil, true, nil)
	if o.add(preamble{kind: kindCall, id: 2}, nil, nil, true, nil) {
		t.Error("two write at once")
	}
}
