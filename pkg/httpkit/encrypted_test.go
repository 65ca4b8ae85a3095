package httpkit

import (
	"bufio"
	"crypto/tls"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/mtls"
	"github.com/prism-results/prism/pkg/testkit/certs"
	"github.com/prism-results/prism/pkg/testkit/syncbuffer"
)

// identity has a certificate for loopback. Its warnings go to log.
func identity(t *testing.T, a *certs.Authority, log *syncbuffer.Buffer) *mtls.Identity {
	t.Helper()
	files, err := a.Issue(time.Hour, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := files.Write(dir); err != nil {
		t.Fatal(err)
	}
	i, err := (mtls.Settings{Dir: dir}).Open(slog.New(slog.NewTextHandler(log, nil)), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// encrypted is a running server that speaks TLS, and an identity that it trusts.
type encrypted struct {
	*running
	client *mtls.Identity
	warned *syncbuffer.Buffer
}

func startEncrypted(t *testing.T, cfg Config, deps Deps) *encrypted {
	t.Helper()
	a, err := certs.New()
	if err != nil {
		t.Fatal(err)
	}
	e := &encrypted{warned: &syncbuffer.Buffer{}}
	cfg.TLS, e.client = identity(t, a, e.warned), identity(t, a, &syncbuffer.Buffer{})
	cfg.ClosingNotice = true
	e.running = start(t, cfg, deps, echo)
	return e
}

// over makes a TLS connection.
func (e *encrypted) over(config *tls.Config) *peer {
	e.t.Helper()
	p := e.dial()
	secure := tls.Client(p.Conn, config)
	if err := secure.Handshake(); err != nil {
		e.t.Fatal(err)
	}
	return &peer{t: e.t, Conn: secure, r: bufio.NewReader(secure)}
}

const read = "GET /v1/results/a HTTP/1.1\r\nHost: x\r\n\r\n"

// spec: internal-tls
func TestRequestsAreServedOverTLS(t *testing.T) {
	t.Parallel()
	e := startEncrypted(t, Config{}, Deps{})
	p := e.over(e.client.Client("127.0.0.1"))
	for range 3 {
		wantReply(t, p.send(read).reply("GET"), 200, `{"id":"a"}`)
	}
	body := strings.Repeat("x", 300<<10)
	p.send("POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 307200\r\n\r\n" + body)
	wantReply(t, p.reply("POST"), 200, "text "+body)
}

// spec: internal-tls
func TestAPeerWithoutAGoodCertificateIsToldSoAndServedNothing(t *testing.T) {
	t.Parallel()
	stranger, err := certs.New()
	if err != nil {
		t.Fatal(err)
	}
	e := startEncrypted(t, Config{}, Deps{})
	none := e.client.Client("127.0.0.1")
	none.GetClientCertificate, none.Certificates = nil, nil
	unknown := e.client.Client("127.0.0.1")
	unknown.GetClientCertificate = identity(t, stranger, &syncbuffer.Buffer{}).Client("").GetClientCertificate
	for says, config := range map[string]*tls.Config{"certificate required": none, "unknown certificate authority": unknown} {
		p := e.over(config).send(read)
		if rest, err := io.ReadAll(p.r); err == nil || !strings.Contains(err.Error(), "remote error: tls: "+says) || len(rest) > 0 {
			t.Errorf("%s: got %q, %v", says, rest, err)
		}
	}
	old := e.client.Client("127.0.0.1")
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	if err := tls.Client(e.dial().Conn, old).Handshake(); err == nil {
		t.Error("TLS 1.2 is spoken")
	}
	if !strings.Contains(e.warned.String(), "PRISM_INTERNAL_TLS_DIR") {
		t.Errorf("logged %q", e.warned.String())
	}
}

// A client of ours takes the 408 for a call that was not taken.
//
// spec: internal-tls-modes
func TestPlainHTTPIsTakenInPermissiveModeAlone(t *testing.T) {
	t.Parallel()
	strict := startEncrypted(t, Config{}, Deps{})
	p := strict.dial().send(read)
	if got := p.reply("GET"); got.status != 408 || !got.close {
		t.Errorf("got %+v", got)
	}
	p.end()
	if !strings.Contains(strict.warned.String(), "PRISM_INTERNAL_TLS_MODE=permissive") {
		t.Errorf("logged %q", strict.warned.String())
	}
	both := startEncrypted(t, Config{PlainToo: true}, Deps{})
	p = both.dial()
	for range 2 {
		wantReply(t, p.send(read).reply("GET"), 200, `{"id":"a"}`)
	}
	wantReply(t, both.over(both.client.Client("127.0.0.1")).send(read).reply("GET"), 200, `{"id":"a"}`)
}

// Handshakes that never end are closed like headers that never end. Nothing is sent to them.
func TestAHandshakeHasTheTimeOfHeaders(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]string{"a first byte": "\x16", "half a hello": "\x16\x03\x01\x02\x00\x01\x00"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startEncrypted(t, Config{HeaderTimeout: 50 * time.Millisecond}, Deps{})
			p := e.dial().send(sent)
			p.end()
			eventually(t, "the connection is forgotten", func() bool { return e.open() == 0 })
		})
	}
}

func (e *encrypted) open() int {
	e.tracker.mu.Lock()
	defer e.tracker.mu.Unlock()
	return len(e.tracker.conns)
}

// A write to a connection in the middle of its handshake would wait for the handshake, and the whole stop with it.
func TestAStopDoesNotWaitForHandshakes(t *testing.T) {
	t.Parallel()
	e := startEncrypted(t, Config{HeaderTimeout: time.Hour, ReadTimeout: time.Hour}, Deps{})
	silent, half := e.dial(), e.dial().send("\x16\x03\x01\x02\x00\x01\x00")
	idle := e.over(e.client.Client("127.0.0.1"))
	wantReply(t, idle.send(read).reply("GET"), 200, `{"id":"a"}`)
	eventually(t, "all three are open", func() bool { return e.open() == 3 })
	e.stop()
	if got := idle.reply("GET"); got.status != 408 || !got.close { // the notice
		t.Errorf("the idle connection got %+v", got)
	}
	for _, p := range []*peer{silent, half} {
		if rest, _ := io.ReadAll(p.r); len(rest) > 0 {
			t.Errorf("a connection without TLS got %q", rest)
		}
	}
	if err := e.wait(); err != nil {
		t.Error(err)
	}
}

// The place of an idle connection is taken by another one, also in the middle of a handshake.
func TestAConnectionInItsHandshakeGivesWayToAnother(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	e := startEncrypted(t, Config{MaxConnections: 1, HeaderTimeout: time.Hour, ReadTimeout: time.Hour}, Deps{Now: now})
	half := e.dial().send("\x16\x03\x01\x02\x00\x01\x00")
	eventually(t, "it waits", func() bool {
		e.tracker.mu.Lock()
		defer e.tracker.mu.Unlock()
		return e.tracker.idle.Len() == 1
	})
	ahead.Store(int64(time.Minute))
	wantReply(t, e.over(e.client.Client("127.0.0.1")).send(read).reply("GET"), 200, `{"id":"a"}`)
	if rest, _ := io.ReadAll(half.r); len(rest) > 0 {
		t.Errorf("got %q", rest)
	}
}

// spec: internal-tls-rotation
func TestATLSConnectionEndsAfterTwoMinutes(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	e := startEncrypted(t, Config{PlainToo: true}, Deps{Now: now})
	secure, plain := e.over(e.client.Client("127.0.0.1")), e.dial()
	for _, c := range []struct {
		ahead time.Duration
		close bool
	}{{0, false}, {119 * time.Second, false}, {121 * time.Second, true}} {
		ahead.Store(int64(c.ahead))
		if got := secure.send(read).reply("GET"); got.status != 200 || got.close != c.close {
			t.Errorf("after %s: %+v", c.ahead, got)
		}
		if plain.send(read).reply("GET").close {
			t.Error("a plain connection ends")
		}
	}
	if _, err := io.ReadAll(secure.r); err != nil {
		t.Errorf("the connection did not end cleanly: %v", err)
	}
}
