package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const smallFile = "id,message\n1,hello\n2,bye\n"

func TestUploadFile(t *testing.T) {
	t.Parallel()
	f := newFakeFiles()
	u := uploadOf(smallFile)
	var progress []int64
	u.Progress = func(sent int64) { progress = append(progress, sent) }
	got, err := serving(t, f.ServeHTTP).UploadFile(t.Context(), u)
	if err != nil || got.Status != FileReady || got.Bytes != int64(len(smallFile)) || len(progress) != got.Parts ||
		!slices.IsSorted(progress) || progress[len(progress)-1] != got.Bytes {
		t.Errorf("got %+v, %v, %v", got, progress, err)
	}
	f.has(t, smallFile)
}

func TestTheExtensionOfANameStandsForAFormat(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]FileFormat{
		"a.csv": FileCSV, "b.TSV": FileTSV, "c.jsonl": FileJSONL, "d.ndjson": FileJSONL, "e.xlsx": FileXLSX, "f.XLSM": FileXLSX,
		"g.x.parquet": FileParquet, "h.csv.gz": FileCSV, "i.ndjson.zst": FileJSONL, "j.xlsm.zip": FileXLSX, "k.xls": "", "l.ods": "", "m.gz": "", "n": "",
	} {
		if got, ok := FileFormatOf(name); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %s, %v", name, got, ok)
		}
	}
}

func TestPartsAreSentSeveralAtATime(t *testing.T) {
	t.Parallel()
	f := newFakeFiles()
	var both sync.WaitGroup // no part is stored before the other one is sent
	both.Add(2)
	f.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			both.Done()
			both.Wait()
		}
		return true
	}
	if _, err := serving(t, f.ServeHTTP).UploadFile(t.Context(), uploadOf(smallFile[:16])); err != nil {
		t.Error(err)
	}
}

// TestAnUploadThatIsCutResumes cuts the connection at every eleventh byte that the client sends, and of those that it
// receives.
func TestAnUploadThatIsCutResumes(t *testing.T) {
	t.Parallel()
	const content = "a,b\n1,2\n3,4"
	for _, direction := range []string{"sent", "received"} {
		t.Run(direction, func(t *testing.T) {
			t.Parallel()
			const plenty = 1 << 20
			for at, end := 0, 1; at < end; at += 11 {
				f, cut := newFakeFiles(), &cutAfter{sent: never, received: never}
				left := map[string]*int{"sent": &cut.sent, "received": &cut.received}[direction]
				if *left = at; at == 0 { // not cut, to learn how much there is to cut
					*left = plenty
				}
				c := serving(t, f.ServeHTTP)
				cut.on(c)
				if _, err := c.UploadFile(t.Context(), uploadOf(content)); err != nil {
					t.Fatalf("cut at %d: %v", at, err)
				}
				f.has(t, content)
				if at == 0 {
					cut.mu.Lock()
					end = plenty - *left
					cut.mu.Unlock()
				}
			}
		})
	}
}

func TestAnUploadContinuesInAnotherProgram(t *testing.T) {
	t.Parallel()
	f := newFakeFiles()
	ctx, leave := context.WithCancel(t.Context())
	f.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/parts/3") && ctx.Err() == nil {
			leave()
			return false
		}
		return true
	}
	c := serving(t, f.ServeHTTP)
	if _, err := c.UploadFile(ctx, uploadOf(smallFile)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := c.UploadFile(t.Context(), uploadOf(smallFile)); err != nil {
		t.Fatal(err)
	}
	f.has(t, smallFile)
	puts, files := f.count()
	if puts > 4+partsAtOnce || files != 1 {
		t.Errorf("%d parts were sent of %d files", puts, files)
	}
	got, err := c.UploadFile(t.Context(), uploadOf(smallFile))
	if now, _ := f.count(); err != nil || now != puts || got.Status != FileReady {
		t.Errorf("a file that is there was sent again: %+v, %v", got, err)
	}
	other := uploadOf(smallFile)
	other.Name = "other.csv"
	_, err = c.UploadFile(t.Context(), other)
	if _, files := f.count(); err != nil || files != 2 {
		t.Errorf("%d files, %v", files, err)
	}
	before, _ := f.count()
	if _, err := c.UploadFile(t.Context(), uploadOf(smallFile)); err != nil {
		t.Fatal(err)
	}
	if puts, files := f.count(); puts != before || files != 2 {
		t.Errorf("a file behind the first page was sent again: %d parts more, %d files", puts-before, files)
	}
}

// stuckUpload begins an upload of the small file, and sends other content of its parts, without the last ones.
func stuckUpload(t *testing.T, c *Client, without int) File {
	t.Helper()
	sum, err := uploadOf(smallFile).sum(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stuck, err := c.CreateFile(t.Context(), NewFile{"tickets.csv", FileCSV, int64(len(smallFile)), sum})
	if err != nil {
		t.Fatal(err)
	}
	for n := range stuck.Parts - without {
		data := strings.Repeat("x", int(min(stuck.PartBytes, stuck.Bytes-int64(n)*stuck.PartBytes)))
		if _, err := c.PutPart(t.Context(), stuck.ID, n+1, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	return stuck
}

func TestAnUploadWithOtherContentIsBegunAnew(t *testing.T) {
	t.Parallel()
	f := newFakeFiles()
	c := serving(t, f.ServeHTTP)
	stuck := stuckUpload(t, c, 0)
	got, err := c.UploadFile(t.Context(), uploadOf(smallFile))
	if err != nil || got.ID == stuck.ID {
		t.Error(got, err)
	}
	f.has(t, smallFile)
}

// Calls that fail as often as they are repeated interrupt the upload; what was found and what was begun anew stay known.
func TestAnUploadIsBegunAnewOnceThroughLostCalls(t *testing.T) {
	t.Parallel()
	f := newFakeFiles()
	c := serving(t, f.ServeHTTP)
	stuckUpload(t, c, 1)
	left := map[string]int{"PUT /v1/files/file-1/parts/4": c.attempts, "POST /v1/files/file-2/complete": c.attempts}
	var mu sync.Mutex
	f.before = func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		call := r.Method + " " + r.URL.Path
		if left[call]--; left[call] < 0 {
			return true
		}
		answer(w, http.StatusServiceUnavailable, jsonType, unavailableJSON)
		return false
	}
	got, err := c.UploadFile(t.Context(), uploadOf(smallFile))
	if _, files := f.count(); err != nil || got.ID != "file-2" || files != 2 {
		t.Errorf("got %+v, %d files, %v", got, files, err)
	}
	f.has(t, smallFile)
}

// A pause that would outlast the deadline of the context is not made: Prism has not read the file, so there is an error.
func TestAnUploadEndsBeforeAPauseThatOutlastsTheDeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := serving(t, newFakeFiles().ServeHTTP)
	c.poll = pauses{first: time.Hour, longest: time.Hour}
	if got, err := c.UploadFile(ctx, uploadOf(smallFile)); !errors.Is(err, context.DeadlineExceeded) || got.Status != FileReading {
		t.Error(got, err)
	}
}

func TestAFileOfManyPartsIsAskedForInTurns(t *testing.T) {
	t.Parallel()
	f := newFakeFiles()
	f.partBytes = 1
	content := strings.Repeat("x", mostMissing+25)
	u := uploadOf(content)
	var last int64
	u.Progress = func(sent int64) {
		if sent < last {
			t.Errorf("%d bytes after %d", sent, last)
		}
		last = sent
	}
	if _, err := serving(t, f.ServeHTTP).UploadFile(t.Context(), u); err != nil || last != u.Bytes {
		t.Error(last, err)
	}
	f.has(t, content)
}

func TestUploadsThatCannotSucceedSayWhy(t *testing.T) {
	t.Parallel()
	t.Run("an unusable file", func(t *testing.T) {
		t.Parallel()
		f := newFakeFiles()
		c := serving(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && r.URL.Path == "/v1/files/file-1" && f.reads() {
				encode(w, http.StatusOK, File{ID: "file-1", Status: FileUnusable, Error: new("Line 7: not UTF-8.")})
				return
			}
			f.ServeHTTP(w, r)
		})
		got, err := c.UploadFile(t.Context(), uploadOf(smallFile))
		var unusable *UnusableFileError
		if !errors.As(err, &unusable) || unusable.File.ID != "file-1" || got.Status != FileUnusable || !strings.HasSuffix(err.Error(), ": Line 7: not UTF-8.") {
			t.Error(got, err)
		}
	})
	t.Run("a file that became shorter", func(t *testing.T) {
		t.Parallel()
		u := uploadOf(smallFile)
		u.Bytes++
		if _, err := serving(t, newFakeFiles().ServeHTTP).UploadFile(t.Context(), u); err == nil || !strings.Contains(err.Error(), "has 25 bytes, not 26") {
			t.Error(err)
		}
	})
	t.Run("a part that cannot be read", func(t *testing.T) {
		t.Parallel()
		u := uploadOf(smallFile)
		u.Content = &shrinking{strings.NewReader(smallFile), len(smallFile)}
		if _, err := serving(t, newFakeFiles().ServeHTTP).UploadFile(t.Context(), u); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
	t.Run("a refused key", func(t *testing.T) {
		t.Parallel()
		c := answering(t, http.StatusUnauthorized, jsonType, `{"error":{"code":"unauthorized","message":"Invalid API key"}}`)
		if _, err := c.UploadFile(t.Context(), uploadOf(smallFile)); !errors.Is(err, ErrUnauthorized) {
			t.Error(err)
		}
	})
	t.Run("a server that stays away", func(t *testing.T) {
		t.Parallel()
		n := 0
		c := serving(t, func(w http.ResponseWriter, _ *http.Request) {
			n++
			answer(w, http.StatusServiceUnavailable, jsonType, unavailableJSON)
		})
		if _, err := c.UploadFile(t.Context(), uploadOf(smallFile)); !errors.Is(err, ErrUnavailable) || n != patience*c.attempts {
			t.Errorf("%d requests, %v", n, err)
		}
	})
}

// shrinking is whole until it was read once.
type shrinking struct {
	*strings.Reader
	left int
}

func (s *shrinking) ReadAt(p []byte, at int64) (int, error) {
	if s.left <= 0 {
		return 0, io.EOF
	}
	n, err := s.Reader.ReadAt(p, at)
	s.left -= n
	return n, err
}

func TestUploadOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]FileFormat{"a.csv": FileCSV, "b.TSV": FileTSV, "c.jsonl": FileJSONL, "d.xlsx": FileXLSX, "e.x.parquet": FileParquet, "f.xls": "", "g": ""} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		u, err := UploadOf(file, "")
		if (err == nil) != (want != "") || err == nil && (u.Name != name || u.Format != want || u.Bytes != 3) {
			t.Errorf("%s: %+v, %v", name, u, err)
		}
	}
}

func TestRowsOfAFileKeepTheirOrder(t *testing.T) {
	t.Parallel()
	const text = `{"data":[{"z":"1","a":"","n":null}]}`
	c := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if got := fmt.Sprint(r.URL); got != "/v1/files/f/rows?limit=7&offset=3" {
			t.Error(got)
		}
		answer(w, http.StatusOK, jsonType, text)
	})
	got, err := c.ListFileRows(t.Context(), "f", 3, 7)
	if err != nil || len(got.Data) != 1 || got.Data[0][0].Column != "z" || *got.Data[0][1].Value != "" || got.Data[0][2].Value != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}
