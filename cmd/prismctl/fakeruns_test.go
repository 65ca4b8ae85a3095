package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prism-results/prism/client"
)

// fakeRuns is a Prism with a prism "tickets", whose only part of a file is the whole, and whose runs are as a test sets them.
type fakeRuns struct {
	*httptest.Server
	mu      sync.Mutex
	files   []client.File
	content []byte
	sent    map[string]any // the last body in JSON
	calls   []string
	run     client.Run
	events  []client.Run
	rows    func(w http.ResponseWriter, r *http.Request)
	// cutPart loses the connection of the first part.
	cutPart bool
}

func newFakeRuns(t *testing.T) (*fakeRuns, *user) {
	t.Helper()
	f := &fakeRuns{run: aRun(client.RunQueued, 0, 0, 0)}
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(*http.Request) (int, any){
		"GET /v1/prisms/tickets": func(*http.Request) (int, any) {
			return 200, client.Prism{Slug: "tickets", Version: client.Version{Fields: []client.Field{{Key: "message"}, {Key: "subject"}}}}
		},
		"GET /v1/files":                func(*http.Request) (int, any) { return 200, client.Page[client.File]{Data: f.files} },
		"POST /v1/files":               func(*http.Request) (int, any) { return 201, f.newFile() },
		"GET /v1/files/{id}":           func(r *http.Request) (int, any) { return 200, *f.file(r) },
		"PUT /v1/files/{id}/parts/{n}": func(r *http.Request) (int, any) { return 200, f.part(r) },
		"POST /v1/files/{id}/complete": func(r *http.Request) (int, any) { return 202, f.complete(r) },
		"POST /v1/files/{id}/read":     func(r *http.Request) (int, any) { return 202, f.file(r) },
		"GET /v1/files/{id}/rows": func(*http.Request) (int, any) {
			return 200, json.RawMessage(whole[client.FileRows](`{"data":[{"text":"a,\u0007b","n":null},{"text":"c","n":"2"}]}`))
		},
		"DELETE /v1/files/{id}":        func(*http.Request) (int, any) { return 204, nil },
		"POST /v1/prisms/tickets/runs": func(*http.Request) (int, any) { return f.create() },
		"GET /v1/runs":                 func(*http.Request) (int, any) { return 200, client.Page[client.Run]{Data: []client.Run{f.run}} },
		"GET /v1/runs/{id}":            func(*http.Request) (int, any) { return 200, f.run },
		"PUT /v1/runs/{id}/limits":     func(*http.Request) (int, any) { return 200, f.run },
		"POST /v1/runs/{id}/{action}":  func(*http.Request) (int, any) { return 200, f.run },
		"GET /v1/results":              func(*http.Request) (int, any) { return 200, client.Page[client.Result]{} },
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			f.mu.Lock()
			defer f.mu.Unlock()
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			f.calls = append(f.calls, r.Method+" "+r.URL.RequestURI())
			switch r.Header.Get("Content-Type") {
			case "application/octet-stream":
				if f.cutPart {
					f.cutPart = false
					hangUp(w)
					return
				}
				f.content = body
			case "application/json":
				f.sent = nil
				if err := json.Unmarshal(body, &f.sent); err != nil {
					t.Error(err)
				}
			}
			status, v := answer(r)
			reply(w, status, v)
		})
	}
	mux.HandleFunc("GET /v1/runs/{id}/events", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, r := range f.events {
			text, err := json.Marshal(r)
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(w, "data: %s\n\n", text)
		}
	})
	mux.HandleFunc("GET /v1/runs/{id}/rows", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", map[string]string{
			"": "text/csv", "csv": "text/csv", "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		}[r.URL.Query().Get("format")])
		f.rows(w, r)
	})
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	u := &user{t: t, dir: t.TempDir(), env: map[string]string{"PRISM_URL": f.URL, "PRISM_API_KEY": "prism_fake", "HOME": t.TempDir()}}
	return f, u
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if v != nil {
		_ = json.NewEncoder(w).Encode(v)
	}
}

// hangUp ends the connection without an answer.
func hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

func (f *fakeRuns) newFile() client.File {
	sum := f.sent["sha256"].(string)
	one := client.File{
		ID: fmt.Sprint("file-", len(f.files)+1), Name: f.sent["name"].(string), Format: client.FileFormat(f.sent["format"].(string)),
		Bytes: int64(f.sent["bytes"].(float64)), SHA256: &sum, Status: client.FileUploading, PartBytes: 1 << 20, Parts: 1, Missing: []int{1},
	}
	f.files = append([]client.File{one}, f.files...)
	return one
}

// file is the one of a request's path.
func (f *fakeRuns) file(r *http.Request) *client.File {
	return &f.files[slices.IndexFunc(f.files, func(one client.File) bool { return one.ID == r.PathValue("id") })]
}

func (f *fakeRuns) part(r *http.Request) client.FilePart {
	f.file(r).Missing = nil
	return client.FilePart{Part: 1}
}

// complete reads the file: its header are the columns, and a file with the word "odd" is unusable.
func (f *fakeRuns) complete(r *http.Request) client.File {
	one := f.file(r)
	header, rest, _ := strings.Cut(string(f.content), "\n")
	if strings.Contains(rest, "odd") {
		one.Status, one.Error = client.FileUnusable, new("Line 2: 9 cells, but the header has 8.")
		return *one
	}
	one.Status, one.Rows = client.FileReady, new(int64(strings.Count(rest, "\n")))
	if one.Name == "tickets.txt" {
		one.Encoding, one.EncodingSure, one.Notes = new("windows-1252"), new(false), []string{"2 empty rows were skipped."}
	}
	for _, name := range strings.Split(header, ",") {
		one.Columns = append(one.Columns, client.FileColumn{Name: name, Filled: *one.Rows, Longest: 5})
	}
	return *one
}

func (f *fakeRuns) create() (int, any) {
	if f.sent["dry_run"] == true {
		return 200, json.RawMessage(whole[client.DryRun](`{"rows":10,"rows_checked":9,"invalid":[{"row":7,"message":"fields.message: too long"}],"invalid_total":1,"tokens":900,` +
			`"model_calls":9,"seconds":75,"cost":0.0123,"currency":"USD"}`))
	}
	return 201, f.run
}

// aRun is a run of ten rows.
func aRun(status client.RunStatus, ok, failed, invalid int64) client.Run {
	return client.Run{
		ID: "run-1", Prism: "tickets", Version: 3, FileID: "file-1", Status: status, Rows: 10, OK: ok, Failed: failed, Invalid: invalid,
		Pending: 10 - ok - failed - invalid, RowsPerSecondNow: 2.5, ETASeconds: new(125.0),
	}
}
