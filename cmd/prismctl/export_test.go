package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/client/prismtest"
)

// cutter is a proxy before Prism that loses the connection of an export after so many bytes.
func cutter(t *testing.T, behind int64, times int) (url string, cuts *atomic.Int64) {
	t.Helper()
	cuts = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req, err := http.NewRequestWithContext(r.Context(), r.Method, server.URL+r.URL.RequestURI(), r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header = r.Header
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
		w.WriteHeader(res.StatusCode)
		if !strings.HasSuffix(r.URL.Path, "/results") || !strings.HasPrefix(r.URL.Path, "/v1/prisms/") || cuts.Add(1) > int64(times) {
			_, _ = io.Copy(w, res.Body)
			return
		}
		if _, err := io.CopyN(w, res.Body, behind); errors.Is(err, io.EOF) {
			return // it is shorter than that
		}
		_ = http.NewResponseController(w).Flush()
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, cuts
}

func TestExport(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	c := u.client()
	for i := range 40 {
		r := client.NewResult{Text: fmt.Sprintf("line %d\r\nand \"more\",", i)}
		if _, err := c.CreateResult(t.Context(), "language", r); err != nil {
			t.Fatal(err)
		}
	}
	u.run("call", "language", "--text", prismtest.Refuse).want(exitFailed, "")
	whole := map[string]string{}
	for _, format := range []string{"csv", "tsv", "jsonl"} {
		stream, err := c.ExportResults(t.Context(), "language", client.Export{Format: client.Format(format)})
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(stream)
		if err != nil {
			t.Fatal(err)
		}
		whole[format] = string(b)
		_ = stream.Close()
	}
	t.Run("to standard output", func(t *testing.T) {
		u := u.on(t)
		for format, want := range whole {
			if got := u.ok("results", "export", "language", "-o", format); got != want {
				t.Errorf("%s: got\n%s", format, got)
			}
		}
		if got := u.ok("results", "export", "language", "--status", "failed", "-o", "jsonl"); strings.Count(got, "\n") != 1 {
			t.Errorf("got %s", got)
		}
		if got := u.ok("results", "export", "language", "--to", "2020-01-01", "-o", "jsonl"); got != "" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("results of ids, of filters, and in a workbook", func(t *testing.T) {
		u := u.on(t)
		some := decode[[]client.Result](t, u.ok("results", "list", "--prism", "language", "--limit", "2", "-o", "json"))
		name := filepath.Join(u.dir, "some.jsonl")
		u.ok("results", "export", "language", "--id", some[0].ID, "--id", some[1].ID, "--file", name)
		if got, err := os.ReadFile(name); err != nil || strings.Count(string(got), "\n") != 2 || !strings.Contains(string(got), some[0].ID) {
			t.Errorf("%v, got\n%s", err, got)
		}
		for filter, want := range map[string]int{"--ref=": 0, "--version=1": 41, "--version=2": 0, "--run=" + some[0].ID: 0} {
			if got := u.ok("results", "export", "language", filter, "-o", "jsonl"); strings.Count(got, "\n") != want {
				t.Errorf("%s: got\n%s", filter, got)
			}
		}
		if got := u.ok("results", "export", "language", "-o", "xlsx"); !strings.HasPrefix(got, "PK") {
			t.Errorf("got %q", got[:min(len(got), 20)])
		}
		for _, format := range [][]string{{"--raw"}, {"--id", some[0].ID}} {
			if got := u.ok(append([]string{"results", "export", "language", "-o", "parquet"}, format...)...); !strings.HasPrefix(got, "PAR1") || !strings.HasSuffix(got, "PAR1") {
				t.Errorf("%s: got %q", format, got[:min(len(got), 20)])
			}
		}
	})
	t.Run("a connection that is cut is taken up again", func(t *testing.T) { // package export tests where it is cut
		u := u.on(t)
		url, cuts := cutter(t, int64(len(whole["csv"])/4), 3)
		u.env["PRISM_URL"] = url
		if got := u.ok("results", "export", "language"); got != whole["csv"] {
			t.Errorf("got\n%s", got)
		}
		if n := cuts.Load(); n != 4 {
			t.Errorf("%d exports, want 4", n)
		}
	})
	t.Run("a file that was not finished is gone on with", func(t *testing.T) {
		u := u.on(t)
		for format, want := range whole {
			name := filepath.Join(u.dir, "out."+format)
			state := fmt.Sprintf(`{"host":%q,"prism":"language","format":%q,"status":"","from":"0001-01-01T00:00:00Z","to":"0001-01-01T00:00:00Z","columns":"other"}`, server.URL, format)
			u.file("out."+format+".part", want[:len(want)/2])
			u.file("out."+format+".part.json", state)
			u.run("results", "export", "language", "--file", name).want(exitConflict, "--restart")
			u.run("results", "export", "language", "--file", name, "--restart").want(exitOK, "41 rows in "+name)
			if got, err := os.ReadFile(name); err != nil || string(got) != want {
				t.Errorf("%s: %v, got\n%s", format, err, got)
			}
		}
	})
	t.Run("a terminal shows how many rows there are", func(t *testing.T) {
		u := u.on(t)
		u.person = true
		name := filepath.Join(u.dir, "seen.csv")
		u.run("results", "export", "language", "--file", name).want(exitOK, "language: 1 rows")
	})
	t.Run("nothing stands between rows on the terminal", func(t *testing.T) {
		u := u.on(t)
		u.person = true
		for format, want := range whole {
			got := u.run("results", "export", "language", "-o", format).want(exitOK, "")
			if got.out != want || got.stderr != "" {
				t.Errorf("%s: got\n%q and %q", format, got.out, got.stderr)
			}
		}
	})
	t.Run("wrong command lines", func(t *testing.T) {
		u := u.on(t)
		u.run("results", "export", "language", "-o", "json").want(exitUsage, `unknown output "json": csv, tsv, jsonl, xlsx or parquet`)
		name := filepath.Join(u.dir, "out.xml")
		u.run("results", "export", "language", "--file", name).want(exitUsage, `unknown format "xml" of the file: name a csv, tsv, jsonl, xlsx or parquet file`)
		u.run("results", "export", "language", "--status", "odd").want(exitUsage, "unknown status")
		u.run("results", "export", "language", "--from", "yesterday").want(exitUsage, "--from takes")
		u.run("results", "export", "language", "--id", "x", "--status", "ok").want(exitUsage, "--id goes with --file and --output alone")
		u.run("results", "export", "language", "--restart").want(exitUsage, "--restart goes with --file")
		u.run("results", "export", "none").want(exitNotFound, "Prism not found")
		u.run("results", "export", "language", "-f", filepath.Join(u.dir, "none", "x.csv")).want(exitError, "no such file")
	})
}
