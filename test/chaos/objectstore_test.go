package chaos

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/testkit/s3test"
	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/upstream"
)

// Files are uploaded, completed, read, run, downloaded and deleted while their object store, and the network before it, fail. No file
// and no row becomes wrong, each failure is a 503 or says that content is missing, all files and runs end well, and nothing is left of
// what was deleted.
//
// spec: file-faults, file-delete, one-result-a-row, run-counts
func TestFilesHoldWhateverTheirObjectStoreDoes(t *testing.T) {
	t.Parallel()
	d, n := length(t), seed(t)
	in := s3test.New(t)
	plan := &storeFaults{seed: n, percent: 20, asked: map[string]int{}}
	proxy := in.Proxy(t, plan.fault)
	s := startSystem(t, system.Config{
		Forgetful: true, Workers: 1, Model: upstream.Config{Seed: n, Pause: time.Millisecond}, Results: map[string]string{
			"PRISM_FILES_URL":   s3test.URL(s3test.Bucket, proxy.URL),
			"AWS_ACCESS_KEY_ID": s3test.Access, "AWS_SECRET_ACCESS_KEY": s3test.Secret,
		},
	})
	w := &fileWorld{crashedRuns: &crashedRuns{System: s, client: newRunner(t, s)}}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var users sync.WaitGroup
	for range 3 {
		users.Go(func() {
			for ctx.Err() == nil {
				w.use(t)
			}
		})
	}
	<-ctx.Done()
	plan.end()
	users.Wait()
	t.Logf("seed %d: %d files, faults: %v", n, len(w.done), proxy.Made())
	for _, f := range w.done {
		f.audit(t, s, f.finish(t))
		for {
			err := w.client.DeleteFile(t.Context(), f.file)
			if err == nil {
				break
			}
			w.may(t, "a deletion", err)
		}
	}
	plan.begin() // for the removals too
	w.remove(t)
	plan.end()
	until(t, "nothing is left of the deleted files", func() bool { w.remove(t); return w.nothingLeft(t, in) })
	report(t, s.Problems())
	if len(w.done) == 0 {
		t.Error("no file was used, so nothing is shown")
	}
}

// storeFaults decides by the seed what happens to the nth request of a method and an object.
type storeFaults struct {
	seed    uint64
	percent uint64

	mu    sync.Mutex
	asked map[string]int
	ended bool
}

func (p *storeFaults) end()   { p.mu.Lock(); defer p.mu.Unlock(); p.ended = true }
func (p *storeFaults) begin() { p.mu.Lock(); defer p.mu.Unlock(); p.ended = false }

func (p *storeFaults) fault(r *http.Request) s3test.Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	// The account, the file and the name of a content are new each time.
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	key := fmt.Sprintf("%s %.10s", r.Method, name)
	p.asked[key]++
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s %d", p.seed, key, p.asked[key])
	sum := h.Sum64()
	if p.ended || sum%100 >= p.percent {
		return s3test.None
	}
	faults := slices.DeleteFunc(s3test.Faults(r.Method, s3test.IsList(r)), func(f s3test.Fault) bool {
		return f == s3test.OtherAnswer // which nothing can tell from the bytes of a range
	})
	return faults[sum/100%uint64(len(faults))]
}

// fileWorld is an account whose files several users use.
type fileWorld struct {
	*crashedRuns
	mu   sync.Mutex
	done []*fileRun
}

func (w *fileWorld) file(rows, filler int) *fileRun {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.next(rows)
	f.filler = filler
	return f
}

// use uploads files of two formats, looks at them, runs them, and gives up a third.
func (w *fileWorld) use(t *testing.T) {
	f := w.file(twoChunks, 5000) // of two parts
	content := []byte(f.content(upstream.Tag{}))
	w.finished(t, f, client.FileCSV, content)
	var sheet []byte
	w.succeeds(t, "a download", func(ctx context.Context) error {
		body, err := w.client.ListRunRows(ctx, f.id, client.RunRows{Format: client.RowsXLSX})
		if err != nil {
			return err
		}
		defer body.Close()
		if sheet, err = io.ReadAll(body); err != nil {
			return errCut // the stream ends where the fault was
		}
		return nil
	})
	g := w.file(f.rows, f.filler)
	g.first = f.first // its rows are those of f, below headings for people
	w.finished(t, g, client.FileXLSX, sheet)
	w.succeeds(t, "an upload", func(ctx context.Context) error {
		upload, err := w.client.CreateFile(ctx, client.NewFile{Name: "given up", Format: client.FileCSV, Bytes: int64(len(content))})
		if err == nil {
			_, err = w.client.PutPart(ctx, upload.ID, 1, content[:1<<20])
			if unavailable := w.client.DeleteFile(ctx, upload.ID); unavailable != nil {
				err = unavailable
			}
		}
		return err
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = append(w.done, f, g)
}

// finished runs a file to its end, and holds its preview against what was sent.
func (w *fileWorld) finished(t *testing.T, f *fileRun, format client.FileFormat, content []byte) {
	t.Helper()
	w.succeeds(t, "a run", func(ctx context.Context) error { return f.startOf(ctx, format, content) })
	w.succeeds(t, "a preview", func(ctx context.Context) error {
		page, err := w.client.ListFileRows(ctx, f.file, int64(f.rows)-1, 1)
		if err != nil {
			return err
		}
		if len(page.Data) == 0 {
			file, err := w.client.ReadFile(ctx, f.file)
			t.Errorf("VIOLATION: the last of %d rows is not there: %+v, %v", f.rows, file, err)
			return nil
		}
		cells := map[string]string{}
		for _, c := range page.Data[0] {
			cells[c.Column] = *c.Value
		}
		if cells["number"] != fmt.Sprint(f.rows) || cells["filler"] != strings.Repeat("x", f.filler) {
			t.Errorf("VIOLATION: the last row of the file is %.300s", fmt.Sprint(cells))
		}
		return nil
	})
	w.succeeds(t, "the end of a run", func(ctx context.Context) error {
		run, err := w.client.ReadRun(ctx, f.id)
		switch {
		case err != nil:
			return err
		case run.OK+run.Failed+run.Invalid+run.Cancelled+run.Pending != run.Rows:
			t.Errorf("VIOLATION: the counts do not add up: %+v", run)
		case run.Status == client.RunPaused && run.Reason != nil && strings.Contains(*run.Reason, "is missing"):
			if _, err := w.client.ResumeRun(ctx, f.id); err != nil {
				return err
			}
			return errNotYet
		case run.Status != client.RunFinished:
			return errNotYet
		}
		return nil
	})
}

var errNotYet, errCut = errors.New("not yet"), errors.New("the answer was cut off")

// succeeds repeats a call until it succeeds. Each failure must be one that a caller can tell.
func (w *fileWorld) succeeds(t *testing.T, what string, call func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := call(ctx)
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Errorf("VIOLATION: %s never succeeds: %v", what, err)
			runtime.Goexit()
		}
		w.may(t, what, err)
		<-tick.C
	}
}

// may fails the test if an error is another one than calls may have while the object store fails.
func (w *fileWorld) may(t *testing.T, what string, err error) {
	t.Helper()
	var told *client.Error
	switch {
	case errors.Is(err, errNotYet), errors.Is(err, errCut):
	case errors.As(err, &told) && told.Status == http.StatusServiceUnavailable:
	case errors.As(err, &told) && told.Status == http.StatusConflict && strings.Contains(told.Message, "missing"):
	default:
		t.Errorf("VIOLATION: %s: %v", what, err)
	}
}

// remove has results remove what was deleted, as they do after a minute.
func (w *fileWorld) remove(t *testing.T) {
	t.Helper()
	must(t, w.end(t, `UPDATE files SET expires_at = now() - interval '1 hour' WHERE status = 'deleted'`))
	for _, r := range w.Results { // which look when they start
		must(t, r.Terminate(), r.Start(t.Context()))
	}
}

// nothingLeft tells whether the database and the object store have no file.
func (w *fileWorld) nothingLeft(t *testing.T, in s3test.Store) bool {
	t.Helper()
	var left []string
	err := filepath.WalkDir(filepath.Join(in.Folder, s3test.Bucket), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			left = append(left, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	})
	must(t, err)
	conn, err := pgx.Connect(t.Context(), w.DatabaseURL())
	must(t, err)
	defer conn.Close(t.Context())
	var known int
	must(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM files`).Scan(&known))
	return len(left)+known == 0
}
