package wire_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/httpkit"
)

// endless are results of an account whose exports have no end, and whose other responses are large.
type endless struct{ contract.Results }

func (endless) Open(ctx context.Context, _ contract.KeyDigest, _ api.Operation, _ any) (contract.Stream, error) {
	fair.Identify(ctx, "the account")
	return contract.Stream{ContentType: "text/csv", Body: zeros{}}, nil
}

func (endless) Do(context.Context, contract.KeyDigest, api.Operation, any) (contract.Response, error) {
	return megabyte, nil
}

func (endless) Save(context.Context, contract.Save) (contract.Response, error) { return megabyte, nil }

var megabyte = contract.Response{ContentType: "text/csv", Body: bytes.Repeat([]byte("x"), 1<<20)}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
func (zeros) Close() error               { return nil }

// connectEndless connects to a server whose configuration is cfg.
func connectEndless(t *testing.T, cfg httpkit.Config, client wire.ClientConfig) contract.Results {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	url, ended := serveUntil(ctx, t, cfg, func(app *fiber.App, log *slog.Logger) {
		wire.MountResults(app, endless{}, tokens(token), log)
	})
	client.URL, client.Tokens = url, tokens(token)
	c, err := wire.NewResults(client, wire.ClientDeps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return c
}

func export(ctx context.Context, t *testing.T, c contract.Results) io.ReadCloser {
	t.Helper()
	stream, err := contract.Open(ctx, c, contract.KeyDigest{}, api.ExportResults, api.ExportResultsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stream.Body, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	return stream.Body
}

// Exports that nobody reads take no connection from other calls, and one more is refused at once.
//
// spec: export-limits, fair-shares
func TestStalledStreamsLeaveTheConnectionsOfOtherCalls(t *testing.T) {
	t.Parallel()
	c := connectEndless(t, httpkit.Config{}, wire.ClientConfig{MaxConns: 1, MaxStreams: 2})
	first, second := export(t.Context(), t, c), export(t.Context(), t, c)
	defer func() { _ = second.Close() }()
	for range 3 {
		if _, err := contract.Open(t.Context(), c, contract.KeyDigest{}, api.ExportResults, api.ExportResultsRequest{}); !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("one more export: %v", err)
		}
	}
	if got, err := contract.Do(t.Context(), c, contract.KeyDigest{}, api.ReadResult, api.ResultInFormat{}); err != nil || len(got.Body) != 1<<20 {
		t.Errorf("a read: %v", err)
	}
	_, _ = first.Close(), first.Close()
	_ = export(t.Context(), t, c).Close()
}

// spec: export-limits
func TestAStreamCountsForTheAccountThatTheServiceFinds(t *testing.T) {
	t.Parallel()
	c := connectEndless(t, httpkit.Config{}, wire.ClientConfig{})
	ctx := fair.With(t.Context(), "an address")
	_ = export(ctx, t, c).Close()
	if got := fair.Account(ctx); got != "the account" {
		t.Errorf("got %q", got)
	}
}

// spec: response-budget
func TestALargeResponseThatDoesNotFitIsRefusedUnlessItTookEffect(t *testing.T) {
	t.Parallel()
	read := func(ctx context.Context, c contract.Results) error {
		_, err := contract.Do(ctx, c, contract.KeyDigest{}, api.ReadResult, api.ResultInFormat{})
		return err
	}
	t.Run("in the service", func(t *testing.T) {
		t.Parallel()
		c := connectEndless(t, httpkit.Config{MaxResponseBytes: 1}, wire.ClientConfig{})
		if err := read(t.Context(), c); err != nil {
			t.Errorf("alone: %v", err)
		}
		stalled := export(t.Context(), t, c)
		defer func() { _ = stalled.Close() }()
		if err := read(t.Context(), c); !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("beside an export: %v", err)
		}
		if got, err := c.Save(t.Context(), contract.Save{}); err != nil || len(got.Body) != 1<<20 {
			t.Errorf("a save: %v", err)
		}
	})
	t.Run("in its caller", func(t *testing.T) {
		t.Parallel()
		c := connectEndless(t, httpkit.Config{}, wire.ClientConfig{})
		places, bytes := fair.New(10, 0), fair.New(1, 0)
		requests := []context.Context{fair.With(t.Context(), ""), fair.With(t.Context(), "")}
		for _, ctx := range requests {
			places.Take("a", fair.Preferred)
			fair.Hold(ctx, "a", places, bytes)
		}
		if err := read(requests[0], c); err != nil || bytes.Taken() != 1<<20-16<<10 {
			t.Errorf("alone: %v, %d bytes are held", err, bytes.Taken())
		}
		if err := read(requests[1], c); !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("beside another request: %v", err)
		}
		fair.Leave(requests[0])
		if err := read(requests[1], c); err != nil {
			t.Errorf("after the other request: %v", err)
		}
	})
}
