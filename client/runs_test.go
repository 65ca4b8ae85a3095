package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// runAt is a run of ten rows of which some are done.
func runAt(status RunStatus, done int64) Run {
	return Run{ID: "r", Prism: "tickets", Status: status, Rows: 10, OK: done, Pending: 10 - done}
}

func event(r Run) string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return ": a comment\nevent: run\ndata: " + string(text) + "\n\n"
}

func flush(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

func TestWatchRun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		events []func(http.ResponseWriter) // of each request for events; behind the last, 404
		reads  []Run                       // of each read of the run; behind the last, the last
		seen   []int64                     // how many rows were done whenever progress was told
		status RunStatus
	}{
		"events until it is finished": {
			events: []func(http.ResponseWriter){func(w http.ResponseWriter) {
				flush(w, event(runAt(RunQueued, 0)))
				flush(w, event(runAt(RunRunning, 4))+event(runAt(RunFinished, 10)))
			}},
			seen: []int64{0, 4, 10}, status: RunFinished,
		},
		"a pause ends it": {
			events: []func(http.ResponseWriter){func(w http.ResponseWriter) {
				flush(w, event(runAt(RunPausing, 4))+event(runAt(RunPaused, 5))+event(runAt(RunFinished, 10)))
			}},
			seen: []int64{4, 5}, status: RunPaused,
		},
		"events that are cut continue": {
			events: []func(http.ResponseWriter){
				func(w http.ResponseWriter) { flush(w, event(runAt(RunRunning, 1))+"data: {\"id\":"); cut(w) },
				func(w http.ResponseWriter) { flush(w, event(runAt(RunCancelled, 3))) },
			},
			reads: []Run{runAt(RunRunning, 2)}, seen: []int64{1, 2, 3}, status: RunCancelled,
		},
		"without events it asks": {
			reads: []Run{runAt(RunRunning, 2), runAt(RunRunning, 8), runAt(RunFinished, 10)},
			seen:  []int64{2, 8, 10}, status: RunFinished,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var streams, reads atomic.Int64
			c := serving(t, func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/events") {
					n := int(reads.Add(1))
					encode(w, http.StatusOK, test.reads[min(n, len(test.reads))-1])
				} else if n := int(streams.Add(1)); n <= len(test.events) {
					w.Header().Set("Content-Type", "text/event-stream")
					test.events[n-1](w)
				} else {
					answer(w, http.StatusNotFound, "text/html", "<h1>proxy</h1>")
				}
			})
			var seen []int64
			got, err := c.WatchRun(t.Context(), "r", func(r Run) { seen = append(seen, r.Done()) })
			if err != nil || got.Status != test.status || !slices.Equal(seen, test.seen) {
				t.Errorf("got %s after %v, %v", got.Status, seen, err)
			}
			if want := min(len(test.events), 1); int(streams.Load()) < want || len(test.events) == 0 && streams.Load() != 1 {
				t.Errorf("%d requests for events", streams.Load())
			}
		})
	}
}

func TestWatchingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	c := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			flush(w, event(runAt(RunRunning, 4)))
			<-r.Context().Done()
		}
	})
	got, err := c.WatchRun(ctx, "r", func(Run) { leave() })
	if !errors.Is(err, context.Canceled) || got.OK != 4 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A pause that would outlast the deadline of the context is not made: the run did not end, so there is an error.
func TestWatchingEndsBeforeAPauseThatOutlastsTheDeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			answer(w, http.StatusNotFound, "text/html", "<h1>proxy</h1>")
			return
		}
		encode(w, http.StatusOK, runAt(RunRunning, 4))
	})
	c.poll = pauses{first: time.Hour, longest: time.Hour}
	if got, err := c.WatchRun(ctx, "r", nil); !errors.Is(err, context.DeadlineExceeded) || got.OK != 4 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestRunFile(t *testing.T) {
	t.Parallel()
	f := newFakeFiles()
	var sent NewRun
	creates := 0
	f.then = func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/v1/prisms/tickets/runs":
			if creates++; creates == 1 {
				cut(w) // it is made all the same
				return
			}
			if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
				t.Error(err)
			}
			encode(w, http.StatusCreated, runAt(RunQueued, 0))
		case r.URL.Path == "/v1/runs/r/events":
			flush(w, event(runAt(RunRunning, 4))+event(runAt(RunFinished, 10)))
		default:
			t.Errorf("%s %s", r.Method, r.URL)
		}
	}
	var done int64
	got, err := serving(t, f.ServeHTTP).RunFile(t.Context(), "tickets", uploadOf(smallFile), NewRun{Fields: map[string]string{"message": "text"}},
		func(r Run) { done = r.Done() })
	if err != nil || got.Status != RunFinished || done != 10 || creates != 2 {
		t.Errorf("got %+v, %d, %v", got, done, err)
	}
	if sent.FileID != "file-1" || sent.Fields["message"] != "text" || sent.IdempotencyKey == "" {
		t.Errorf("sent %+v", sent)
	}
	f.has(t, smallFile)
}

func TestTextsOfARunThatAreNotUTF8AreNotSent(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	c, err := New(Config{URL: "https://host", Key: testKey, Transport: r})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []NewRun{{Context: "\xff"}, {Fields: map[string]string{"a": "\xff"}}, {Ref: "\xff"}} {
		if _, err := c.CreateRun(t.Context(), "a", n); err == nil || r.request != nil {
			t.Error(err)
		}
	}
}

// runRowsOf are rows as Prism writes them, with every text that could be taken for a row's end, of a file that was a download.
func runRowsOf(q RunRows) (header string, rows []string) {
	between, end := string(cmp.Or(q.Delimiter, ",")), "\r\n"
	if q.Format == RowsTSV {
		end = "\n"
	}
	names := strings.Split("text prism_row prism_result_id prism_status prism_error prism_prism_row prism_prism_result_id "+
		"prism_prism_status prism_prism_error prism_prism_prism_row Topic", " ")
	cells := []string{"plain", "two\r\nlines", `a "quoted" word`, "\r\n\r\n\"\r\n", "", `"`, "é,\n"}
	for i, cell := range cells {
		values := []string{cell, "99", "an-id", "ok", "", strconv.Itoa(i + 1), "id", "ok", "", "98", "é"}
		switch {
		case q.Format == RowsJSONL:
			var row strings.Builder
			for at, name := range names {
				value := strconv.Quote(values[at])
				if at == 5 {
					value = values[at]
				}
				fmt.Fprintf(&row, ",%q:%s", name, value)
			}
			rows = append(rows, "{"+row.String()[1:]+"}\n")
		case q.Format == RowsTSV && q.Delimiter == "":
			values[0] = strings.NewReplacer("\n", " ", "\r", " ").Replace(cell)
			rows = append(rows, strings.Join(values, "\t")+"\n")
		default:
			values[0] = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			rows = append(rows, strings.Join(values, between)+end)
		}
	}
	switch {
	case q.Format == RowsJSONL:
		return "", rows
	case q.Format == RowsTSV && q.Delimiter == "":
		between = "\t"
	}
	header = strings.Join(names, between) + end
	if q.BOM {
		header = "\ufeff" + header
	}
	return header, rows
}

// TestADownloadThatIsCutContinues cuts the response at each of its bytes, and the next one at the byte behind.
func TestADownloadThatIsCutContinues(t *testing.T) {
	t.Parallel()
	for name, q := range map[string]RunRows{
		"csv": {Format: RowsCSV}, "tsv": {Format: RowsTSV}, "jsonl": {Format: RowsJSONL}, "that of the file": {},
		"csv for people": {Format: RowsCSV, TextStyle: TextStyle{BOM: true, Delimiter: ";"}},
		"tsv for people": {Format: RowsTSV, TextStyle: TextStyle{BOM: true, Delimiter: "\t"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header, rows := runRowsOf(q)
			whole := header + strings.Join(rows, "")
			var at int
			c := serving(t, func(w http.ResponseWriter, r *http.Request) {
				after, _ := strconv.Atoi(r.URL.Query().Get("after"))
				body := header + strings.Join(rows[after:], "")
				if at >= len(body) {
					_, _ = io.WriteString(w, body)
					return
				}
				begin := body[:at]
				at += len(body) / 2
				flush(w, begin)
				cut(w)
			})
			for from := range len(whole) + 1 {
				at = from
				stream, err := c.ListRunRows(t.Context(), "r", q)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(stream)
				if string(got) != whole || err != nil {
					t.Fatalf("cut at %d: got %q, %v", from, got, err)
				}
				if err := stream.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestADownloadContinuesBehindAMillionRows(t *testing.T) {
	t.Parallel()
	const row = `{"text":"a","prism_row":%d,"prism_result_id":"id","prism_status":"ok","prism_error":""}` + "\n"
	c := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if after := r.URL.Query().Get("after"); after == "1234567" {
			_, _ = fmt.Fprintf(w, row, 1234568)
			return
		}
		flush(w, fmt.Sprintf(row, 1234567))
		cut(w)
	})
	stream, err := c.ListRunRows(t.Context(), "r", RunRows{Format: RowsJSONL})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	got, err := io.ReadAll(stream)
	if want := fmt.Sprintf(row+row, 1234567, 1234568); string(got) != want || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestADownloadThatCannotContinueSaysWhy(t *testing.T) {
	t.Parallel()
	download := func(t *testing.T, f RowsFormat, second func(w http.ResponseWriter)) error {
		t.Helper()
		header, rows := runRowsOf(RunRows{Format: RowsCSV})
		n := 0
		c := serving(t, func(w http.ResponseWriter, _ *http.Request) {
			if n++; n > 1 {
				second(w)
				return
			}
			flush(w, header+rows[0])
			cut(w)
		})
		stream, err := c.ListRunRows(t.Context(), "r", RunRows{Format: f, Only: RowOK})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = stream.Close() }()
		got, err := io.ReadAll(stream)
		if string(got) != header+rows[0] {
			t.Errorf("got %q", got)
		}
		return err
	}
	var lost *ConnectionError
	if err := download(t, RowsCSV, func(w http.ResponseWriter) { flush(w, "text,Other\r\n") }); !errors.Is(err, ErrColumnsChanged) {
		t.Error(err)
	}
	if err := download(t, RowsCSV, func(w http.ResponseWriter) {
		answer(w, http.StatusNotFound, jsonType, `{"error":{"code":"not_found","message":"Run not found"}}`)
	}); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if err := download(t, RowsCSV, cut); !errors.As(err, &lost) {
		t.Error(err)
	}
	if err := download(t, RowsXLSX, func(http.ResponseWriter) { t.Error("it was asked for again") }); !errors.As(err, &lost) {
		t.Error(err)
	}
}

func TestRowsHaveTheFormatOfTheFileUnlessAnotherOneIsAskedFor(t *testing.T) {
	t.Parallel()
	for format, mediaType := range mediaTypes {
		c := serving(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery != "" {
				t.Errorf("asked for %s", r.URL.RawQuery)
			}
			w.Header().Set("Content-Type", mediaType)
			_, _ = io.WriteString(w, format+"\n")
		})
		stream, err := c.ListRunRows(t.Context(), "r", RunRows{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(stream)
		if err := errors.Join(err, stream.Close()); err != nil || string(got) != format+"\n" {
			t.Errorf("%s: %q, %v", format, got, err)
		}
	}
}
