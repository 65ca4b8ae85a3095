package daemon

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/testkit/syncbuffer"
)

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		runChild()
		return
	}
	goleak.VerifyTestMain(m,
		// fasthttp's housekeeping: one sleeps up to ten seconds after its server has ended, the other runs for good.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
	)
}

// limit bounds what a test waits for. It is not a pause.
const limit = time.Minute

const anyPort = config.Address("127.0.0.1:0")

func newDaemon(t *testing.T, getenv func(string) string) (*Daemon, *syncbuffer.Buffer) {
	t.Helper()
	s, err := config.Parse[Settings](nil, config.Environment{Get: func(string) (string, bool) { return "", false }}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	logs := &syncbuffer.Buffer{}
	d, err := New(t.Context(), "test", s, getenv, logs)
	if err != nil {
		t.Fatal(err)
	}
	return d, logs
}

func unset(string) string { return "" }

// taken is an address that somebody listens on.
func taken(t *testing.T) config.Address {
	t.Helper()
	var lc net.ListenConfig
	ln, err := lc.Listen(t.Context(), "tcp", string(anyPort))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return config.Address(ln.Addr().String())
}

// steps is the order in which things happened.
type steps struct {
	mu   sync.Mutex
	done []string
}

func (s *steps) add(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = append(s.done, step)
}

func (s *steps) want(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.done, want) {
		t.Errorf("got %v, want %v", s.done, want)
	}
}

// background adds its end to the steps.
func (s *steps) background(ctx context.Context) error {
	<-ctx.Done()
	s.add("background told to stop")
	return nil
}

func await(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(limit):
		t.Fatal("it did not end")
		return nil
	}
}

func TestBackgroundIsToldToStopWhenWhatWasTakenIsDone(t *testing.T) {
	t.Parallel()
	d, logs := newDaemon(t, unset)
	var s steps
	server := d.Server(nil)
	handling, finish := make(chan struct{}), make(chan struct{})
	server.App().Get("/slow", func(c *fiber.Ctx) error {
		close(handling)
		<-finish
		s.add("answered")
		return httpkit.Send(c, fiber.StatusOK, "text/plain", []byte("done"))
	})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	at, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- d.Run(ctx, Plan{
			API: anyPort, Admin: anyPort, Server: server,
			Prepare:    func(context.Context) error { s.add("prepared"); return nil },
			Background: s.background,
			Serve: func(ctx context.Context, api net.Listener) error {
				s.add("listening")
				at <- api.Addr().String()
				return server.Run(ctx, api)
			},
		})
	}()
	answer := make(chan string, 1)
	address := <-at
	go func() { answer <- get(t, "http://"+address+"/slow") }()
	<-handling
	stop()
	select {
	case err := <-ended:
		t.Fatalf("it ended with a call in flight: %v", err)
	case <-time.After(50 * time.Millisecond): // long enough for a background that is told too early to say so
	}
	// The admin port outlives the drain: probes see that the service is not ready, and the last metrics are scraped.
	_, admin, _ := strings.Cut(logs.String(), `"admin":"`)
	admin, _, _ = strings.Cut(admin, `"`)
	if got := get(t, "http://"+admin+"/readyz"); !strings.Contains(got, `"ready":false`) {
		t.Errorf("ready while stopping: %s", got)
	}
	if got := get(t, "http://"+admin+"/metrics"); !strings.Contains(got, `prism_http_in_flight{service="test"} 1`) {
		t.Errorf("metrics while stopping: %s", got)
	}
	close(finish)
	if err := await(t, ended); err != nil {
		t.Error(err)
	}
	if got := <-answer; got != "done" {
		t.Errorf("the call in flight got %q", got)
	}
	s.want(t, "prepared", "listening", "answered", "background told to stop")
	if !strings.Contains(logs.String(), `"msg":"listening"`) || !strings.Contains(logs.String(), address) {
		t.Errorf("logged %s", logs)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Error(err)
		return ""
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	b, _ := io.ReadAll(resp.Body)
	return string(b)
}

func TestWhatFailsBeforeServingEndsEverything(t *testing.T) {
	t.Parallel()
	broken := errors.New("the tables are from the future")
	for _, c := range []struct {
		name string
		plan func(p *Plan)
		want []string
		err  string
	}{
		{
			"preparing",
			func(p *Plan) { p.Prepare = func(context.Context) error { return broken } },
			nil,
			broken.Error(),
		},
		{
			"the API's address",
			func(p *Plan) { p.API = taken(t) },
			[]string{"prepared", "background told to stop"},
			"PRISM_LISTEN: listen tcp ",
		},
		{
			"the admin's address",
			func(p *Plan) { p.Admin = taken(t) },
			nil,
			"PRISM_ADMIN_LISTEN: listen tcp ",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, _ := newDaemon(t, unset)
			var s steps
			p := Plan{
				API: anyPort, Admin: anyPort, Server: d.Server(nil), Background: s.background,
				Prepare: func(context.Context) error { s.add("prepared"); return nil },
				Serve:   func(context.Context, net.Listener) error { s.add("served"); return nil },
			}
			c.plan(&p)
			err := d.Run(t.Context(), p)
			if err == nil || !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("got %v", err)
			}
			if strings.Contains(c.err, "LISTEN") && !strings.HasSuffix(err.Error(), "address already in use; choose another address, such as 127.0.0.1:8088") {
				t.Errorf("got %v", err)
			}
			s.want(t, c.want...)
		})
	}
}

func TestBeingToldToStopWhilePreparingIsNoFailure(t *testing.T) {
	t.Parallel()
	d, _ := newDaemon(t, unset)
	ctx, stop := context.WithCancel(t.Context())
	err := d.Run(ctx, Plan{
		API: anyPort, Admin: anyPort, Server: d.Server(nil),
		Prepare: func(ctx context.Context) error {
			stop()
			return errors.Join(ctx.Err(), errors.New("the database is away"))
		},
	})
	if err != nil {
		t.Error(err)
	}
}

func TestErrorsOfServingAndOfTheBackgroundAreBothReported(t *testing.T) {
	t.Parallel()
	d, _ := newDaemon(t, unset)
	served, behind := errors.New("served badly"), errors.New("left undone")
	err := d.Run(t.Context(), Plan{
		API: anyPort, Admin: anyPort, Server: d.Server(nil),
		Background: func(ctx context.Context) error { <-ctx.Done(); return behind },
		Serve:      func(_ context.Context, api net.Listener) error { return errors.Join(served, api.Close()) },
	})
	if !errors.Is(err, served) || !errors.Is(err, behind) {
		t.Errorf("got %v", err)
	}
}

// It changes the process' handler of telemetry errors, as New does, so it has the process to itself.
func TestACollectorThatIsAwayIsLoggedAndFailsNothing(t *testing.T) { //nolint:paralleltest // see above
	hold := make(chan struct{})
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusBadRequest)
	}))
	defer collector.Close()
	defer close(hold)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	d, logs := newDaemon(t, unset)
	_, span := d.Traces.Provider.Tracer("test").Start(t.Context(), "a span")
	span.End()
	began := time.Now()
	err := d.Run(t.Context(), Plan{
		API: anyPort, Admin: anyPort, Server: d.Server(nil),
		Serve: func(_ context.Context, api net.Listener) error { return api.Close() },
	})
	if err != nil {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > flushLimit+2*time.Second {
		t.Errorf("it took %v", took)
	}
	for line := range strings.Lines(logs.String()) {
		if !strings.HasPrefix(line, "{") {
			t.Errorf("not a line of the log: %s", line)
		}
	}
	if !strings.Contains(logs.String(), `"level":"WARN"`) {
		t.Errorf("logged %s", logs)
	}
}

func TestSettingsThatMakeNoSenseAreNamed(t *testing.T) { //nolint:paralleltest // sets a variable
	values := map[string]string{"PRISM_LOG_LEVEL": "loud", "PRISM_DRAIN_DELAY": "-1s", "PRISM_MAX_IN_FLIGHT": "-1", "PRISM_MAX_CONNECTIONS": "-1", "PRISM_MAX_BODY_BYTES": "-1"}
	env := config.Environment{Get: func(name string) (string, bool) { v, ok := values[name]; return v, ok }}
	_, err := config.Parse[Settings](nil, env, io.Discard)
	var wrong config.Invalid
	if !errors.As(err, &wrong) || len(wrong) != len(values) {
		t.Errorf("got %v", err)
	}
	if _, err := New(t.Context(), "test", Settings{LogLevel: "loud"}, unset, io.Discard); err == nil || !strings.HasPrefix(err.Error(), "PRISM_LOG_LEVEL: ") {
		t.Errorf("got %v", err)
	}
	t.Setenv("OTEL_TRACES_EXPORTER", "zipkin")
	if _, err := New(t.Context(), "test", Settings{LogLevel: "info"}, unset, io.Discard); err == nil || !strings.Contains(err.Error(), "OTEL_TRACES_EXPORTER") {
		t.Errorf("got %v", err)
	}
}

// spec: worker-stop
func TestAWorkerHasNoAPI(t *testing.T) {
	t.Parallel()
	d, logs := newDaemon(t, unset)
	ctx, stop := context.WithCancel(t.Context())
	var order []string
	err := d.Run(ctx, Plan{
		Admin: anyPort,
		Serve: func(ctx context.Context, ln net.Listener) error {
			if ln != nil {
				t.Error("a worker listens")
			}
			stop()
			<-ctx.Done()
			order = append(order, "worked")
			return nil
		},
		Background: func(ctx context.Context) error {
			<-ctx.Done()
			order = append(order, "background")
			return nil
		},
	})
	if err != nil || !slices.Equal(order, []string{"worked", "background"}) {
		t.Errorf("got %v, in the order %v", err, order)
	}
	if !strings.Contains(logs.String(), `"msg":"working"`) {
		t.Errorf("the log is %s", logs)
	}
}
