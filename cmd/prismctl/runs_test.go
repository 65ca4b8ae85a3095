package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

const ticketsCSV = "id,Message,text\n1,hello,world\n2,bye,moon\n"

func TestRunsCreate(t *testing.T) {
	t.Parallel()
	f, u := newFakeRuns(t)
	name := u.file("tickets.csv", ticketsCSV)
	f.cutPart = true
	s := u.run("runs", "create", "-f", name, "--prism", "tickets", "--map", "subject=text", "--ref", "id", "--background", "It snows.",
		"--name", "n", "--rows-per-second", "2.5", "--concurrency", "3", "--pause-at-failures", "0", "--idempotency-key", "k").
		want(exitOK, "tickets.csv: 2 rows, columns id, Message, text\nThe field message is the column Message, by its name.\n").
		want(exitOK, "Follow it with: prismctl runs watch run-1\n")
	if s.out != "run-1\n" || string(f.content) != ticketsCSV {
		t.Errorf("got %q, the file %q", s.out, f.content)
	}
	want := `map[concurrency:3 context:It snows. fields:map[message:Message subject:text] file_id:file-1 idempotency_key:k name:n pause_at_failures:0 ref:id rows_per_second:2.5]`
	if got := fmt.Sprint(f.sent); got != want {
		t.Errorf("sent %s\nwant %s", got, want)
	}
	parts := func() (n int) {
		for _, call := range f.calls {
			n += strings.Count(call, "/parts/")
		}
		return n
	}
	before := parts()
	u.ok("runs", "create", "-f", name, "--prism", "tickets", "--map", "subject=text")
	if parts() != before || f.sent["idempotency_key"] == "" {
		t.Errorf("the file was sent again, or no key: %v", f.sent)
	}
	u.ok("runs", "create", "--file-id", "file-1", "--prism", "tickets", "--map", "subject=text")
	u.ok("runs", "create", "--from-results", "--result", "a", "--result", "b", "--status", "ok", "--of-version", "1", "--from", "2026-01-02",
		"--q", "late", "--where", "urgent:is:yes", "--version", "2", "--prism", "tickets", "--idempotency-key", "k")
	want = `map[from_results:map[from:2026-01-02T00:00:00Z ids:[a b] q:late status:ok version:1 where:[urgent:is:yes]] idempotency_key:k version:2]`
	if got := fmt.Sprint(f.sent); got != want {
		t.Errorf("sent %s\nwant %s", got, want)
	}
}

func TestRunsCreateDryRun(t *testing.T) {
	t.Parallel()
	f, u := newFakeRuns(t)
	args := []string{"runs", "create", "-f", u.file("t.csv", ticketsCSV), "--prism", "tickets", "--map", "subject=text", "--dry-run"}
	want := "rows         10\nchecked      9\ninvalid      1\nmodel calls  9\ntokens       900\ntime         1 min 15 s\ncost         0.0123 USD\n\n" +
		"ROW  INVALID BECAUSE\n7    fields.message: too long\n"
	if got := u.ok(args...); got != want || f.sent["dry_run"] != true {
		t.Errorf("got\n%s", got)
	}
	if got := decode[client.DryRun](t, u.ok(append(args, "-o", "json")...)); got.InvalidTotal != 1 || got.Invalid[0].Row != 7 {
		t.Errorf("got %+v", got)
	}
}

func TestRunsCreateSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	f, u := newFakeRuns(t)
	name := u.file("tickets.csv", ticketsCSV)
	for want, test := range map[string]struct {
		code int
		args string
	}{
		`no column for the field "subject": add --map subject=COLUMN; the columns are id, Message, text`: {exitInvalid, "-f " + name},
		`--map subject=txt: the file has no such column: did you mean text?`:                             {exitInvalid, "-f " + name + " --map subject=txt"},
		`--map subject=zzzzzzzz: the file has no such column: there is id, Message, text`:                {exitInvalid, "-f " + name + " --map subject=zzzzzzzz"},
		`--map subjct=…: tickets has no field "subjct": did you mean subject?`:                           {exitInvalid, "-f " + name + " --map subjct=text"},
		`--map takes FIELD=COLUMN`:              {exitUsage, "-f " + name + " --map subject"},
		`and each field once`:                   {exitUsage, "-f " + name + " --map subject=a --map subject=b"},
		`no such file`:                          {exitUsage, "-f /none.csv"},
		`unknown format "xls": csv, tsv`:        {exitUsage, "-f " + u.file("a.xls", "x")},
		`is empty`:                              {exitInvalid, "-f " + u.file("empty.csv", "")},
		`odd.csv: Line 2: 9 cells, but the`:     {exitInvalid, "-f " + u.file("odd.csv", "a\nodd\n")},
		`at least one of the flags in the grou`: {exitUsage, ""},
		`[file file-id] were all set`:           {exitUsage, "-f a --file-id b"},
		`[dry-run watch] were all set`:          {exitUsage, "-f a --dry-run --watch"},
		`--q goes with --from-results`:          {exitUsage, "-f " + name + " --q late"},
		`[from-results ref] were all set`:       {exitUsage, "--from-results --ref id"},
	} {
		u.run(append([]string{"runs", "create", "--prism", "tickets"}, strings.Fields(test.args)...)...).want(test.code, want)
	}
	u.run("runs", "create", "-f", name).want(exitUsage, `required flag(s) "prism"`)
	if slices.ContainsFunc(f.calls, func(call string) bool { return strings.HasSuffix(call, "/runs") }) {
		t.Error("a run was made")
	}
}

func TestRunsWatch(t *testing.T) {
	t.Parallel()
	f, u := newFakeRuns(t)
	f.events = []client.Run{aRun(client.RunQueued, 0, 0, 0), aRun(client.RunRunning, 3, 1, 1), aRun(client.RunFinished, 8, 1, 1)}
	t.Run("lines without a terminal", func(t *testing.T) {
		s := u.on(t).run("runs", "watch", "run-1")
		want := "Run run-1 is queued.\nRun run-1 is running.\n5 of 10 rows, 2 rows/s, 1 failed, 1 invalid, 2 min 5 s left\n" +
			"Run run-1 is finished.\n10 of 10 rows, 1 failed, 1 invalid\nRun run-1 is finished. Of 10 rows: 8 ok, 1 failed, 1 invalid\n" +
			"The answers:           prismctl runs download run-1 --file answers.csv\nTo retry what failed:  prismctl runs retry run-1 --watch\n" +
			"Why rows are invalid:  prismctl runs download run-1 --only invalid --file invalid.csv\n"
		if s.code != exitFailed || s.stderr != want || s.out != "" {
			t.Errorf("exit code %d and\n%s\nwant\n%s", s.code, s.stderr, want)
		}
	})
	t.Run("a bar on a terminal", func(t *testing.T) {
		u := u.on(t)
		u.person = true
		s := u.run("runs", "watch", "run-1").want(exitFailed, "Run run-1 is finished. Of 10 rows")
		if !strings.Contains(s.stderr, "\r\x1b[K"+strings.Repeat("░", maxBarWidth)+" 0 of 10 rows, queued") || !strings.Contains(s.stderr, strings.Repeat("█", maxBarWidth)+" 10 of 10 rows") {
			t.Errorf("got %q", s.stderr)
		}
	})
	t.Run("after an action", func(t *testing.T) {
		u := u.on(t)
		u.run("runs", "resume", "run-1", "--watch").want(exitFailed, "Of 10 rows")
		u.run("runs", "create", "-f", u.file("t.csv", ticketsCSV), "--prism", "tickets", "--map", "subject=text", "--watch").want(exitFailed, "Of 10 rows")
	})
	t.Run("Ctrl-C leaves the run going", func(t *testing.T) {
		u := u.on(t)
		f.events = []client.Run{aRun(client.RunRunning, 3, 1, 1)}
		ctx, interrupt := context.WithCancel(t.Context())
		stderr := &onText{text: "5 of 10 rows", do: interrupt}
		if code := run(ctx, []string{"runs", "watch", "run-1"}, func(name string) string { return u.env[name] }, strings.NewReader(""), io.Discard, stderr); code != exitInterrupted {
			t.Errorf("exit code %d", code)
		}
		if got := stderr.String(); !strings.Contains(got, "The run goes on. Come back with: prismctl runs watch run-1\nStop it with: prismctl runs pause run-1\n") {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a run that paused by itself", func(t *testing.T) {
		paused := aRun(client.RunPaused, 3, 4, 0)
		paused.Reason = new("137 of the last 200 rows failed.")
		f.events = []client.Run{paused}
		u.on(t).run("runs", "watch", "run-1").want(exitConflict, "Run run-1 is paused: 137 of the last 200 rows failed. Of 10 rows: ").want(exitConflict, "To continue:           prismctl runs resume run-1 --watch\n")
	})
	t.Run("a run without failures", func(t *testing.T) {
		f.events = []client.Run{aRun(client.RunFinished, 9, 0, 1)}
		u.on(t).run("runs", "watch", "run-1").want(exitOK, "9 ok, 0 failed, 1 invalid")
	})
}

// onText does something when a text was written.
type onText struct {
	bytes.Buffer
	text string
	do   func()
}

func (w *onText) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.text) {
		w.do()
	}
	return w.Buffer.Write(p)
}

func TestRunsActions(t *testing.T) {
	t.Parallel()
	f, u := newFakeRuns(t)
	last := func(want string) {
		t.Helper()
		if got := f.calls[len(f.calls)-1]; got != want {
			t.Errorf("called %s, want %s", got, want)
		}
	}
	for _, action := range []string{"pause", "resume", "retry"} {
		f.run = aRun(client.RunPausing, 3, 1, 1)
		u.run("runs", action, "run-1").want(exitOK, "Run run-1 is pausing.\n")
		last("POST /v1/runs/run-1/" + action)
	}
	u.run("runs", "cancel", "run-1").want(exitUsage, "no terminal to ask on")
	last("GET /v1/runs/run-1")
	person := u.on(t)
	person.person, person.in = true, "n\n"
	person.run("runs", "cancel", "run-1").want(exitError, "Cancel this run for good, with 5 rows to go? [y/N]")
	u.ok("runs", "cancel", "run-1", "--yes")
	last("POST /v1/runs/run-1/cancel")
	u.run("runs", "limits", "run-1").want(exitUsage, "0 removes a limit")
	u.ok("runs", "limits", "run-1", "--concurrency", "0", "--rows-per-second", "1.5")
	if last("PUT /v1/runs/run-1/limits"); fmt.Sprint(f.sent) != "map[concurrency:<nil> rows_per_second:1.5]" {
		t.Errorf("sent %v", f.sent)
	}
	u.ok("runs", "list", "--prism", "tickets", "--status", "paused")
	last("GET /v1/runs?limit=100&prism=tickets&status=paused")
	u.ok("results", "list", "--run", "run-1")
	last("GET /v1/results?format=json&limit=100&run=run-1")
	if got := u.ok("runs", "list", "-o", "csv"); !strings.Contains(got, "\nrun-1,,tickets,3,pausing,10,3,1,1,0,5,") {
		t.Errorf("got %s", got)
	}
	got := u.ok("runs", "get", "run-1")
	for _, want := range []string{"prism    tickets, version 3\n", "rows     10: 3 ok, 1 failed, 1 invalid, 5 pending\n", "now      5 of 10 rows, pausing, 1 failed, 1 invalid, 2 min 5 s left\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if got := decode[client.Run](t, u.ok("runs", "get", "run-1", "-o", "json")); got.Pending != 5 {
		t.Errorf("got %+v", got)
	}
}

func TestRunsDownload(t *testing.T) {
	t.Parallel()
	f, u := newFakeRuns(t)
	const header, first, second = "text,prism_row,prism_result_id,prism_status,prism_error\r\n", "\"a\r\nb\",1,i,ok,\r\n", "c,2,,invalid,no\r\n"
	var asked []string
	f.rows = func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RawQuery)
		switch {
		case r.URL.Query().Get("format") == "xlsx" && len(asked) == 1:
			_, _ = io.WriteString(w, "half")
		case r.URL.Query().Get("format") == "xlsx":
			_, _ = io.WriteString(w, "all")
			return
		case r.URL.Query().Get("after") == "1":
			_, _ = io.WriteString(w, header+second)
			return
		default:
			_, _ = io.WriteString(w, header+first+"\"c")
		}
		_ = http.NewResponseController(w).Flush()
		hangUp(w)
	}
	for _, test := range []struct{ name, want, query string }{
		{"out.csv", header + first + second, "format=csv&only=invalid"},
		{"out.xlsx", "all", "format=xlsx&only=invalid"},
	} {
		asked = nil
		name := filepath.Join(u.dir, test.name)
		u.run("runs", "download", "run-1", "--file", name, "--only", "invalid").want(exitOK, name+" is written.\n")
		if got, err := os.ReadFile(name); string(got) != test.want || err != nil || len(asked) != 2 || asked[0] != test.query {
			t.Errorf("%s: got %q after %v, %v", test.name, got, asked, err)
		}
		if _, err := os.Stat(name + ".part"); !os.IsNotExist(err) {
			t.Error(err)
		}
	}
	asked = nil
	if got := u.ok("runs", "download", "run-1"); got != header+first+second || asked[0] != "" {
		t.Errorf("got %q after %q", got, asked)
	}
	asked = nil
	name := filepath.Join(u.dir, "people.xlsx")
	u.run("runs", "download", "run-1", "-o", name, "--bom", "--delimiter", "tab", "--safe").want(exitOK, name+" is written.\n")
	if got, err := os.ReadFile(name); string(got) != "all" || err != nil || asked[0] != "bom=true&delimiter=%09&format=xlsx&safe=true" {
		t.Errorf("got %q after %q, %v", got, asked, err)
	}
	u.run("runs", "download", "run-1", "-f", "out.ods").want(exitUsage, `unknown format "ods" of the file: name a csv, tsv, jsonl, xlsx or parquet file`)
	u.run("runs", "download", "run-1", "--only", "bad").want(exitUsage, "--only is all, ok, failed, invalid or pending")
	f.rows = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"code":"not_found","message":"Run not found"}}`)
	}
	name = filepath.Join(u.dir, "none.csv")
	u.run("runs", "download", "run-1", "--file", name).want(exitNotFound, "Run not found")
	if left, _ := filepath.Glob(name + "*"); left != nil {
		t.Errorf("it left %v", left)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	f, u := newFakeRuns(t)
	name := u.file("tickets.txt", ticketsCSV)
	u.run("files", "upload", name).want(exitUsage, `unknown format "txt"`)
	if got := u.run("files", "upload", name, "--format", "csv").want(exitOK, "tickets.txt: 2 rows, columns id, Message, text\ntickets.txt: 2 empty rows were skipped.\n").out; got != "file-1\n" {
		t.Errorf("got %q", got)
	}
	if got := u.ok("files", "list", "-o", "csv"); !strings.Contains(got, "\nfile-1,tickets.txt,csv,41,ready,2,") {
		t.Errorf("got %s", got)
	}
	if got := u.ok("files", "get", "file-1"); !strings.Contains(got, "rows      2\nencoding  windows-1252, a guess\nnote      2 empty rows were skipped.\n\nCOLUMN   FILLED  LONGEST\nid       2       5\n") {
		t.Errorf("got %s", got)
	}
	for output, want := range map[string]string{
		"table": "text  n\na,�b\nc     2\n", "csv": "text,n\n\"a,\ab\",\nc,2\n", "jsonl": "{\"text\":\"a,\\u0007b\",\"n\":null}\n{\"text\":\"c\",\"n\":\"2\"}\n",
	} {
		if got := u.ok("files", "rows", "file-1", "--offset", "5", "--limit", "2", "-o", output); got != want {
			t.Errorf("%s: got %q, want %q", output, got, want)
		}
	}
	if got := f.calls[len(f.calls)-1]; got != "GET /v1/files/file-1/rows?limit=2&offset=5" {
		t.Error(got)
	}
	u.ok("files", "read", "file-1", "--encoding", "shift_jis", "--header-row", "2", "--on-bad-row", "refuse")
	if got := fmt.Sprint(f.sent); got != "map[encoding:shift_jis header_row:2 on_bad_row:refuse]" {
		t.Errorf("sent %s", got)
	}
	u.run("files", "delete", "file-1").want(exitUsage, "no terminal to ask on")
	u.run("files", "delete", "file-1", "--yes").want(exitOK, "file-1 is deleted.\n")
	for _, args := range [][]string{{"files", "get", ""}, {"runs", "watch", ""}, {"runs", "create", "--prism", ""}, {"runs", "list", "--status", ""}} {
		if got := u.ok(append([]string{"__complete"}, args...)...); !strings.Contains(got, "file-1\ttickets.txt\n") && !strings.Contains(got, "run-1\ttickets, queued\n") &&
			!strings.Contains(got, "finished\n") && args[2] != "--prism" {
			t.Errorf("%v completes %s", args, got)
		}
	}
}

func TestABarFitsItsLine(t *testing.T) {
	t.Parallel()
	text := "5 of 10 rows"
	for width, want := range map[int]string{
		80: strings.Repeat("█", 20) + strings.Repeat("░", 20) + " " + text, 24: "█████░░░░░ " + text, 18: text, 8: "5 of 10",
	} {
		if got := bar(0.5, text, width); got != want {
			t.Errorf("%d: got %q, want %q", width, got, want)
		}
	}
	for seconds, want := range map[float64]string{0: "0 s", 0.2: "1 s", 59: "59 s", 61: "1 min 1 s", 700: "11 min", 7260: "2 h 1 min"} {
		if got := duration(seconds); got != want {
			t.Errorf("%v: got %s, want %s", seconds, got, want)
		}
	}
}
