package modelsfile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
)

// mounted is a folder as Kubernetes mounts a ConfigMap: models.yaml → ..data/models.yaml, ..data → a folder.
type mounted struct {
	t    *testing.T
	dir  string
	last int
}

func mount(t *testing.T, text string) *mounted {
	t.Helper()
	m := &mounted{t: t, dir: t.TempDir()}
	m.replace(text)
	if err := os.Symlink(filepath.Join("..data", "models.yaml"), m.path()); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *mounted) path() string { return filepath.Join(m.dir, "models.yaml") }

// replace has ..data lead to a new folder, in one step.
func (m *mounted) replace(text string) {
	m.t.Helper()
	m.last++
	folder := "..v" + string(rune('0'+m.last))
	must := func(err error) {
		if err != nil {
			m.t.Fatal(err)
		}
	}
	must(os.Mkdir(filepath.Join(m.dir, folder), 0o700))
	must(os.WriteFile(filepath.Join(m.dir, folder, "models.yaml"), []byte(text), 0o600))
	must(os.Symlink(folder, filepath.Join(m.dir, "..new")))
	must(os.Rename(filepath.Join(m.dir, "..new"), filepath.Join(m.dir, "..data")))
}

// journal is a log that is written and read at the same time.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// take returns the log since the last take.
func (j *journal) take() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	defer j.text.Reset()
	return j.text.String()
}

// source is one with a log and a count of refused files.
func source(t *testing.T, path string) (s *Source, logs *journal, refused *atomic.Int32) {
	t.Helper()
	logs, refused = &journal{}, &atomic.Int32{}
	c := config(path)
	c.Log, c.Refused = slog.New(slog.NewTextHandler(logs, nil)), func() { refused.Add(1) }
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return s, logs, refused
}

func list(s *Source) (names []string) {
	set := s.Acquire()
	defer set.Release()
	for _, m := range set.List() {
		names = append(names, m.Name)
	}
	return names
}

func wantModels(t *testing.T, s *Source, want string) {
	t.Helper()
	if got := strings.Join(list(s), " "); got != want {
		t.Errorf("the models are %q, want %q", got, want)
	}
}

func allOffline(names ...string) string {
	text := "default: " + names[0] + "\nmodels:\n"
	for _, n := range names {
		text += "  - {name: " + n + ", provider: offline}\n"
	}
	return text
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:32]
}

// spec: models-reload
func TestAFileIsReadAgainWhenItsLinkLeadsElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file := mount(t, allOffline("a"))
		s, logs, refused := source(t, file.path())
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.run(ctx, nil) }()
		tick := func() {
			<-time.After(2 * interval) // the bubble's clock
			synctest.Wait()
		}
		tick()
		wantModels(t, s, "a")
		if got := logs.take(); got != "" {
			t.Errorf("nothing has changed, but the log says %s", got)
		}
		file.replace(allOffline("b", "a"))
		tick()
		wantModels(t, s, "b a")
		if refused.Load() != 0 || !strings.Contains(logs.String(), `level=INFO msg="models read" models=2 default=b`) {
			t.Errorf("%d refused, log %s", refused.Load(), logs)
		}
		logs.take()
		file.replace("default: c\nmodels: []\n")
		tick()
		tick()
		tick()
		wantModels(t, s, "b a")
		if used, unusable := s.Hashes(); used != hash(allOffline("b", "a")) || unusable != hash("default: c\nmodels: []\n") {
			t.Errorf("%s is used, %s refused", used, unusable)
		}
		if n := strings.Count(logs.String(), "\n"); refused.Load() != 1 || n != 1 || !strings.Contains(logs.String(), file.path()+":1: default: no model has the name") {
			t.Errorf("%d refused, %d lines: %s", refused.Load(), n, logs)
		}
		if err := os.Remove(file.path()); err != nil {
			t.Fatal(err)
		}
		tick()
		tick()
		wantModels(t, s, "b a")
		if refused.Load() != 2 {
			t.Errorf("%d refused", refused.Load())
		}
		if err := os.WriteFile(file.path(), []byte(allOffline("d")), 0o600); err != nil {
			t.Fatal(err)
		}
		tick()
		wantModels(t, s, "d")
		if used, unusable := s.Hashes(); used != hash(allOffline("d")) || unusable != "" {
			t.Errorf("%s is used, %s refused", used, unusable)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// spec: models-reload
func TestAHangupReadsTheFileAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, logs, refused := source(t, write(t, allOffline("a")))
		ctx, stop := context.WithCancel(t.Context())
		done, hangup := make(chan error, 1), make(chan os.Signal)
		go func() { done <- s.run(ctx, hangup) }()
		hangup <- syscall.SIGHUP // also when nothing has changed
		synctest.Wait()
		if !strings.Contains(logs.String(), "models=1 default=a") {
			t.Errorf("log %s", logs)
		}
		for range 2 {
			if err := os.WriteFile(s.cfg.Path, []byte("broken: ["), 0o600); err != nil {
				t.Fatal(err)
			}
			hangup <- syscall.SIGHUP
			synctest.Wait()
		}
		wantModels(t, s, "a")
		if refused.Load() != 2 {
			t.Errorf("%d refused", refused.Load())
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// spec: models-reload
func TestSecretsAreReadAgain(t *testing.T) {
	t.Parallel()
	key := write(t, "old\n")
	path := write(t, one("    base_url: http://127.0.0.1:1\n    api_key_file: "+key+"\n    headers: {x-key: {file: "+key+"}}\n"))
	s, _, refused := source(t, path)
	current := func() *models.Model {
		set := s.Acquire()
		defer set.Release()
		return set.Models()[0]
	}
	before := current()
	if s.Refresh(t.Context()); current() != before || before.APIKey != "old" {
		t.Errorf("nothing has changed: %+v", current().Spec)
	}
	if err := os.WriteFile(key, []byte("new\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.Refresh(t.Context()); current().APIKey != "new" || current().Headers.Get("X-Key") != "new" {
		t.Errorf("got %+v", current().Spec)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	s.Refresh(t.Context())
	s.Refresh(t.Context())
	if current().APIKey != "new" || refused.Load() != 1 {
		t.Errorf("got %+v after %d refused", current().Spec, refused.Load())
	}
}

// spec: models-reload
func TestAnUnchangedModelIsKeptAndARemovedOneClosedAfterItsLastCall(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	release := make(chan struct{})
	began := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		<-release
		_, _ = io.WriteString(w, `{"answers":{"q":{"type":"noul","noul":0.5}}}`)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(closed)
		}
	}
	server.Start()
	defer server.Close()
	entry := func(name string) string {
		return "  - {name: " + name + ", provider: systemone, base_url: " + server.URL + "}\n"
	}
	path := write(t, "default: a\nmodels:\n"+entry("a")+entry("b"))
	s, _, _ := source(t, path)

	old := s.Acquire() // a call under way
	fault := make(chan error, 1)
	go func() {
		call := old.Models()[0].API.Calls(contract.Ask{Definition: prism.Definition{Questions: []prism.Question{{Key: "q", Type: prism.YesNo}}}})[0]
		reply, f := call.Do(t.Context())
		if f != nil || reply.Answers[0] == nil {
			fault <- io.ErrUnexpectedEOF
		}
		old.Release()
		close(fault)
	}()
	<-began
	if err := os.WriteFile(path, []byte("default: b\nmodels:\n"+entry("b")), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Refresh(t.Context())
	now := s.Acquire()
	defer now.Release()
	if wantModels(t, s, "b"); now.Models()[0] != old.Models()[1] || now.Default() != now.Models()[0] {
		t.Error("the unchanged model is another one")
	}
	select {
	case <-closed:
		t.Fatal("the connection was closed under a call")
	default:
	}
	close(release)
	if err := <-fault; err != nil {
		t.Fatal(err)
	}
	<-closed // at once, not when it has been idle for long
}

// spec: models-file
func TestWithoutAFileTheSettingsMakeOneModel(t *testing.T) {
	t.Parallel()
	s, err := Open(Config{Single: models.Spec{Provider: "offline"}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	wantModels(t, s, "default")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Run(ctx); err != nil {
		t.Error(err)
	}
}
