package gateway

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
)

func newKey(t *testing.T) apikey.Key {
	t.Helper()
	k, err := apikey.New(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// reply is a response. Its status is 0 if there was none.
type reply struct {
	status     int
	retryAfter string
	body       string
}

// serve runs a gateway whose clock stands still until the test ends, and returns a function that calls it. token is what
// Authorization has after Bearer; body is JSON, or empty.
func serve(t *testing.T, cfg httpkit.Config, results contract.Results, models contract.Models) (
	call func(token, method, path, body string) reply,
) {
	t.Helper()
	cfg.Name = "test"
	server := httpkit.New(cfg, httpkit.Deps{})
	g, err := New(Config{}, Deps{
		Results: results, Models: models, Server: server, Metrics: prometheus.NewRegistry(),
		Log: slog.New(slog.DiscardHandler), Tracer: noop.NewTracerProvider(), Now: func() time.Time { return time.Unix(1000, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	return func(token, method, path, body string) reply {
		req, err := http.NewRequest(method, "http://"+ln.Addr().String()+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return reply{}
		}
		req.Header.Set("Authorization", "Bearer "+token)
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		res, err := client.Do(req)
		if err != nil {
			t.Error(err)
			return reply{}
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Error(err)
		}
		return reply{res.StatusCode, res.Header.Get("Retry-After"), string(text)}
	}
}
