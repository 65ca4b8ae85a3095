package httpkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/telemetry"
	"github.com/prism-results/prism/pkg/testkit/syncbuffer"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func fetch(t *testing.T, address, path string) (int, string) {
	t.Helper()
	client := http.Client{Timeout: limit, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	wantSafe(t, res.Header)
	// spec: retry-after-of-a-503
	if after := res.Header.Get("Retry-After"); (after == "1") != (res.StatusCode == http.StatusServiceUnavailable) {
		t.Errorf("%s: %d with Retry-After %q", path, res.StatusCode, after)
	}
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	log := &syncbuffer.Buffer{}
	var away, full atomic.Bool
	a := NewAdmin(telemetry.Logger(log, slog.LevelInfo), telemetry.Registry("test"),
		Check{"always", func(context.Context) error { return nil }},
		Check{"results", func(context.Context) error {
			if full.Load() {
				return fmt.Errorf("database: %w", &ReasonError{"the disk is full", errors.New("ENOSPC")})
			}
			if away.Load() {
				return errors.New("connection refused")
			}
			return nil
		}})
	ln := listen(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx, ln) }()
	want := func(path string, status int, body string) {
		t.Helper()
		if s, b := fetch(t, ln.Addr().String(), path); s != status || b != body {
			t.Errorf("%s: got %d %s", path, s, b)
		}
	}
	want("/healthz", 200, "{\"alive\":true}\n")
	want("/readyz", 200, `{"ready":true,"checks":[{"name":"always","ok":true},{"name":"results","ok":true}]}`+"\n")
	away.Store(true)
	for range 2 {
		want("/readyz", 503, `{"ready":false,"checks":[{"name":"always","ok":true},{"name":"results","ok":false}]}`+"\n")
	}
	want("/healthz", 200, "{\"alive\":true}\n")
	full.Store(true)
	want("/readyz", 503, `{"ready":false,"checks":[{"name":"always","ok":true},{"name":"results","ok":false,"reason":"the disk is full"}]}`+"\n")
	away.Store(false)
	full.Store(false)
	want("/readyz", 200, `{"ready":true,"checks":[{"name":"always","ok":true},{"name":"results","ok":true}]}`+"\n")
	if n := strings.Count(log.String(), `"msg":"not ready"`); n != 1 || !strings.Contains(log.String(), `"msg":"ready again"`) {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
	if s, b := fetch(t, ln.Addr().String(), "/metrics"); s != 200 || !strings.Contains(b, "prism_build_info{") {
		t.Errorf("/metrics: got %d", s)
	}
	if s, _ := fetch(t, ln.Addr().String(), "/debug/pprof/"); s != 404 {
		t.Errorf("an unknown path: %d", s)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestAProbeThatHangsIsNotReady(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	defer close(hang)
	err := probe(canceled(), Check{"hangs", func(context.Context) error { <-hang; return nil }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestStoppingAdminBeforeServing(t *testing.T) {
	t.Parallel()
	for range 20 {
		ln := listen(t)
		if err := NewAdmin(nil, prometheus.NewRegistry()).Run(canceled(), ln); err != nil {
			t.Errorf("Run: %v", err)
		}
		if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the listener is open: %v", err)
		}
	}
}
