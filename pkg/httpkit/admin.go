package httpkit

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/prism-results/prism/pkg/strictjson"
)

// Check is one condition of being ready. Its error is logged, not sent, except the text of a Reason.
type Check struct {
	Name  string
	Probe func(context.Context) error
}

// ReasonError is an error with a text for whoever asks why a service is not ready. The text is ours: it holds nothing from a request or
// another server.
type ReasonError struct {
	Text string
	Err  error
}

func (r *ReasonError) Error() string { return r.Err.Error() }

// Unwrap is the error for the log.
func (r *ReasonError) Unwrap() error { return r.Err }

// probeLimit is how long all checks of one request may take: less than the second after which a kubelet gives up by default.
const probeLimit = 900 * time.Millisecond

// Admin is the server for operators: /healthz, /readyz and /metrics (spec: admin-port). Callers must not reach its address.
type Admin struct {
	log    *slog.Logger
	checks []Check
	server *http.Server

	mu    sync.Mutex
	ready map[string]bool // the last logged outcome of each check
}

// NewAdmin makes an admin server that does nothing yet.
func NewAdmin(log *slog.Logger, g prometheus.Gatherer, checks ...Check) *Admin {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	a := &Admin{log: log, checks: checks, ready: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]bool{"alive": true})
	})
	mux.HandleFunc("GET /readyz", a.readyz)
	mux.Handle("GET /metrics", promhttp.HandlerFor(g, promhttp.HandlerOpts{}))
	a.server = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.Header().Set("Cache-Control", "no-store")
			mux.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       75 * time.Second,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	return a
}

// Run serves until ctx is done. It owns the listener.
func (a *Admin) Run(ctx context.Context, ln net.Listener) error {
	served := make(chan error, 1)
	go func() { served <- a.server.Serve(ln) }()
	select {
	case err := <-served:
		return errors.Join(errors.New("httpkit: the admin listener ended early"), err)
	case <-ctx.Done():
	}
	// A scrape may finish.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if a.server.Shutdown(ctx) != nil {
		_ = a.server.Close()
	}
	_ = ln.Close() // a Shutdown that beats Serve does not know the listener
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type checkOutcome struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitzero"`
}

func (a *Admin) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), probeLimit)
	defer cancel()
	results := make([]checkOutcome, len(a.checks))
	var all sync.WaitGroup
	for i, c := range a.checks {
		all.Go(func() {
			err := probe(ctx, c)
			results[i] = checkOutcome{Name: c.Name, OK: err == nil}
			if r, ok := errors.AsType[*ReasonError](err); ok {
				results[i].Reason = r.Text
			}
			a.note(ctx, c.Name, err)
		})
	}
	all.Wait()
	status := http.StatusOK
	if slices.ContainsFunc(results, func(c checkOutcome) bool { return !c.OK }) {
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", retryAfter) // spec: retry-after-of-a-503
	}
	writeJSON(w, status, struct {
		Ready  bool           `json:"ready"`
		Checks []checkOutcome `json:"checks"`
	}{status == http.StatusOK, results})
}

// probe does not wait for a check that ignores its context.
func probe(ctx context.Context, c Check) error {
	result := make(chan error, 1)
	go func() { result <- c.Probe(ctx) }()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// note logs a check only when its outcome changes.
func (a *Admin) note(ctx context.Context, name string, err error) {
	a.mu.Lock()
	was, known := a.ready[name]
	a.ready[name] = err == nil
	a.mu.Unlock()
	switch {
	case err != nil && (was || !known):
		a.log.WarnContext(ctx, "not ready", slog.String("check", name), slog.String("error", err.Error()))
	case err == nil && !was && known:
		a.log.InfoContext(ctx, "ready again", slog.String("check", name))
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, _ := strictjson.Marshal(v) // bools and constants
	w.Header().Set("Content-Type", JSONType)
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n'))
}
