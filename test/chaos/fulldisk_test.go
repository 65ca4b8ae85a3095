package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/test/internal/load"
)

// disk is a small file system of a test.
type disk struct{ dir string }

func newDisk(t *testing.T) disk {
	t.Helper()
	d := disk{t.TempDir()}
	if err := syscall.Mount("prism", d.dir, "tmpfs", 0, "mode=700,size=48m"); err != nil {
		t.Fatalf("%v: this test mounts a file system, which takes root or its rights", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.dir, 0); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d disk) available(t *testing.T) int64 {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.dir, &s); err != nil {
		t.Fatal(err)
	}
	return int64(s.Bavail) * s.Bsize
}

// fill has something else write to the disk until so much is left.
func (d disk) fill(t *testing.T, left int64) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(d.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for room := d.available(t); room > left; room = d.available(t) {
		if _, err := f.Write(make([]byte, min(room-left, 1<<20))); err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
}

// full is a standalone Prism on a disk that is full.
type full struct {
	*launch.Service
	key    string
	client *load.Client
}

func (f *full) do(t *testing.T, method, path string, body any) load.Reply {
	t.Helper()
	return f.client.Do(t.Context(), load.Request{Method: method, URL: f.URL() + path, Key: f.key, Body: body})
}

func (f *full) want(t *testing.T, method, path string, body any, status int) load.Reply {
	t.Helper()
	r := f.do(t, method, path, body)
	if r.Status != status || status == http.StatusServiceUnavailable && !r.Unavailable() {
		t.Errorf("%s %s: %s, want %d", method, path, r, status)
	}
	return r
}

func (f *full) create(t *testing.T) load.Reply {
	t.Helper()
	return f.do(t, "POST", "/v1/prisms/tickets/results", map[string]string{"text": strings.Repeat(" ", 90_000) + "a refund"})
}

// listen starts Prism, which is not ready on a full disk.
func (f *full) listen(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	if _, err := f.Launch(f.Env); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Process().AwaitOutput(ctx, regexp.MustCompile(`Prism listens at`)); err != nil {
		t.Fatal(err)
	}
}

// results are the ids of the newest results.
func (f *full) results(t *testing.T) (ids []string) {
	t.Helper()
	var list struct{ Data []struct{ ID string } }
	if err := json.Unmarshal(f.want(t, "GET", "/v1/results?limit=100", nil, 200).Body, &list); err != nil {
		t.Fatal(err)
	}
	for _, r := range list.Data {
		ids = append(ids, r.ID)
	}
	return ids
}

// works fails unless what is stored can be read and deleted, also by somebody who signs in, and everything else is refused.
func (f *full) works(t *testing.T) {
	t.Helper()
	ids := f.results(t)
	f.want(t, "GET", "/v1/results/"+ids[0], nil, 200)
	f.want(t, "DELETE", "/v1/results/"+ids[0], nil, 204)
	f.want(t, "GET", "/v1/results/"+ids[0], nil, 404)
	if r := f.create(t); !r.Unavailable() {
		t.Errorf("a create: %s", r)
	}
	f.want(t, "POST", "/v1/keys", map[string]string{"name": "new"}, 503)
	f.want(t, "POST", "/v1/files", map[string]any{"name": "a.csv", "format": "csv", "bytes": 3}, 503)
	status, text, err := f.Get(t.Context(), "/readyz")
	if err != nil || status != 503 || !strings.Contains(text, `"reason":"the disk is full`) {
		t.Errorf("/readyz: %d %s, %v", status, text, err)
	}
	link, err := f.Operate(t.Context(), "console", "link", "--print", "--account", "demo")
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link, "#")
	f.want(t, "POST", "/console/session", map[string]string{"token": token}, 204)
}

// await waits until calls are answered again.
func (f *full) await(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	if err := f.Process().AwaitReady(ctx, f.Admin); err != nil {
		t.Fatal(err)
	}
	if r := f.create(t); r.Status != 200 {
		t.Errorf("a create on a disk with room again: %s", r)
	}
}

// Something else fills the disk of a standalone Prism, which is stopped and killed meanwhile.
//
// spec: full-disk
func TestAFullDiskCanBeReadAndDeleted(t *testing.T) {
	d := newDisk(t)
	options := launch.Options{Dir: filepath.Join(d.dir, "prism"), Flags: program.TestFlags()}
	service, err := options.Standalone(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f := &full{Service: service, client: load.NewClient(1, 1)}
	t.Cleanup(f.client.Close)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(launch.Tail(f.Process(), 20))
		}
		f.Kill()
	})
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f.key, err = f.DemoKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.fill(t, 3<<20)
	saved := 0
	for r := f.create(t); !r.Unavailable(); r = f.create(t) {
		if r.Status != 200 {
			t.Fatalf("the create that finds the disk full: %s", r)
		}
		saved++
	}
	if n := len(f.results(t)); saved == 0 || n != saved {
		t.Errorf("%d of %d results are listed", n, saved)
	}
	f.works(t)

	f.Kill()
	f.listen(t)
	f.works(t)

	if err := f.Stop(); err != nil {
		t.Fatal(err)
	}
	d.fill(t, 0)
	f.listen(t)
	f.works(t)

	if err := os.Remove(filepath.Join(d.dir, "log")); err != nil {
		t.Fatal(err)
	}
	f.await(t)
}
