package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/client/prismtest"
)

// withExamples is a user with the prisms of examples/.
func withExamples(t *testing.T) *user {
	t.Helper()
	u := newUser(t)
	u.ok("prisms", "apply", "-f", example(t, ""), "--yes")
	return u
}

func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func TestCall(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	t.Run("every way to give a text", func(t *testing.T) {
		u := u.on(t)
		file, fields := u.file("text.txt", "from a file\n"), u.file("fields.json", `{"subject": "from all", "message": "m"}`)
		for want, test := range map[string]struct {
			in   string
			args []string
		}{
			"a flag":      {"", []string{"language", "--text", "a flag"}},
			"piped in":    {"piped in\r\n", []string{"language"}},
			"from a file": {"", []string{"language", "--text-file", file}},
			"from all":    {"", []string{"support-triage", "--fields", fields}},
			"field":       {"", []string{"support-triage", "--field", "subject=field", "--field", "message=a=b"}},
			"@literal":    {"m", []string{"support-triage", "--field", "subject=@literal", "--field-file", "message=-"}},
		} {
			u.in = test.in
			row := u.ok(append([]string{"call", "-o", "jsonl"}, test.args...)...)
			got := decode[map[string]any](t, row)
			if got["text"] != want && got["subject"] != want {
				t.Errorf("%v: got %s", test.args, row)
			}
		}
	})
	t.Run("every format, for people and scripts", func(t *testing.T) {
		u := u.on(t)
		var shown strings.Builder
		for _, format := range []string{"table", "json", "raw", "yaml", "csv", "tsv", "jsonl"} {
			shown.WriteString("### " + format + "\n" + u.ok("call", "support-triage", "--field", "subject=Parcel 20418", "--field", "message=Where is it?",
				"--ref", "ticket-4711", "--idempotency-key", "k", "--version", "1", "--background", "It snows.", "-o", format))
		}
		wantGolden(t, "call", strings.ReplaceAll(shown.String(), "\r", "<CR>"))
	})
	t.Run("a failed result is shown, and is exit code 7", func(t *testing.T) {
		u := u.on(t)
		for format, want := range map[string]string{
			"table": "failed: The model service refused", "json": `"status":"failed"`, "csv": "failed,The model", "yaml": "\nstatus: failed\n",
		} {
			s := u.run("call", "language", "--text", prismtest.Refuse, "-o", format).want(exitFailed, " failed")
			if !strings.Contains(strings.ReplaceAll(s.out, "  ", " "), want) {
				t.Errorf("%s: got %s", format, s.out)
			}
		}
	})
	t.Run("what a stranger wrote does nothing to the terminal", func(t *testing.T) {
		u := u.on(t)
		u.person = true
		u.ok("call", "language", "--text", "x", "--ref", "a\x1b[31mb\u202ec\nd")
		if got := u.ok("results", "list", "--limit", "1"); strings.Contains(got, "\x1b[31m") || !strings.Contains(got, "a\ufffd[31mb\ufffdc d") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("a misspelled field is named with the closest one", func(t *testing.T) {
		u := u.on(t)
		u.run("call", "support-triage", "--field", "subjct=a", "--field", "message=b").want(exitInvalid,
			"Missing fields: subject\nsupport-triage has no field \"subjct\": did you mean subject?\n")
		u.run("call", "support-triage", "--field", "zzz=a", "--version", "1", "--field", "message=b").want(exitInvalid,
			"Missing fields: subject\nsupport-triage has no field \"zzz\": its fields are subject, message\n")
		u.run("call", "support-triage", "--field", "subject=a", "--field", "message=b", "--field", "mesage=c").want(exitInvalid,
			"Unknown fields: mesage\nsupport-triage has no field \"mesage\": its fields are subject, message\n")
		s := u.run("call", "support-triage", "--field", "subject=a").want(exitInvalid, "Missing fields: message\n")
		if strings.Contains(s.stderr, "has no field") {
			t.Errorf("got %s", s.stderr)
		}
	})
	t.Run("wrong command lines", func(t *testing.T) {
		u := u.on(t)
		u.person = true
		u.run("call", "language").want(exitUsage, "there is no text")
		u.person = false
		u.run("call", "language", "--text", "a", "--field", "a=b").want(exitUsage, "if any flags in the group")
		u.run("call", "language", "--text", "a", "-o", "xml").want(exitUsage, "unknown output")
		u.run("call", "language", "--field", "a").want(exitUsage, "KEY=")
		u.run("call", "language", "--field", "a=b", "--field", "a=c").want(exitUsage, "each key once")
		u.run("call", "language", "--text-file", "/none").want(exitUsage, "no such file")
		u.run("call", "language", "--fields", u.file("bad.json", `{"a": 1}`)).want(exitInvalid, "not a JSON object of texts")
		u.run("call").want(exitUsage, "missing argument <prism>")
		u.run("call", "none", "--text", "a").want(exitNotFound, "Prism not found")
		u.run("call", "languages", "--text", "a").want(exitNotFound, "languages: Prism not found: did you mean language?")
		u.run("call", "support-triage", "--text", "a").want(exitInvalid, "Missing fields: subject, message")
	})
}

func TestResults(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	ok := decode[client.Result](t, u.ok("call", "language", "--text", "x", "--ref", "one", "-o", "json"))
	failed := decode[client.Result](t, u.run("call", "language", "--text", prismtest.Refuse, "-o", "json").want(exitFailed, "").out)
	t.Run("get", func(t *testing.T) {
		u := u.on(t)
		for _, format := range []string{"table", "json", "raw", "yaml", "csv", "tsv", "jsonl"} {
			for _, r := range []client.Result{ok, failed} {
				if got := u.ok("results", "get", r.ID, "-o", format); !strings.Contains(got, r.ID) {
					t.Errorf("%s: got %s", format, got)
				}
			}
		}
		u.run("results", "get", "x").want(exitInvalid, "result_id: Invalid uuid")
	})
	t.Run("list", func(t *testing.T) {
		u := u.on(t)
		var shown strings.Builder
		for _, output := range []string{"table", "wide", "csv", "jsonl", "json", "yaml"} {
			shown.WriteString("### " + output + "\n" + u.ok("results", "list", "-o", output))
		}
		wantGolden(t, "results-list", shown.String())
		for args, want := range map[string]int{"--status failed": 1, "--prism language": 2, "--ref one": 1, "--ref two": 0, "--limit 1": 1, "--all": 2} {
			got := decode[[]client.Result](t, u.ok(append([]string{"results", "list", "-o", "json"}, strings.Fields(args)...)...))
			if len(got) != want {
				t.Errorf("%s: got %d, want %d", args, len(got), want)
			}
		}
		if rows, err := csv.NewReader(strings.NewReader(u.ok("results", "list", "-o", "csv"))).ReadAll(); err != nil || len(rows) != 3 {
			t.Error(rows, err)
		}
		u.run("results", "list", "--limit", "0").want(exitUsage, "--limit")
		u.run("results", "list", "-o", "xml").want(exitUsage, "unknown output")
		u.run("results", "list", "--status", "odd").want(exitInvalid, "status")
		u.run("results", "list", "--prism", "none").want(exitNotFound, "Prism not found")
	})
	t.Run("an empty list says so to people", func(t *testing.T) {
		u := u.on(t)
		u.run("results", "list", "--ref", "none").want(exitOK, "")
		u.person = true
		u.run("results", "list", "--ref", "none").want(exitOK, "The list is empty.")
	})
	t.Run("a shell completes ids", func(t *testing.T) {
		u := u.on(t)
		for args, want := range map[string]string{
			"results get": failed.ID + "\tlanguage, failed\n", "open result": ok.ID + "\tlanguage, ok\n", "keys revoke": ", active\n",
			"prisms get": "support-triage\tSupport triage\n",
		} {
			if got := u.ok(append(append([]string{"__complete"}, strings.Fields(args)...), "")...); !strings.Contains(got, want) {
				t.Errorf("%s completes %s", args, got)
			}
		}
	})
	t.Run("retry", func(t *testing.T) {
		u := u.on(t)
		u.run("results", "retry", ok.ID).want(exitConflict, "Only a failed result can be retried.")
		again := decode[client.Result](t, u.run("retry", failed.ID, "-o", "json").want(exitFailed, "failed: ").out)
		u.run("results", "retry", failed.ID, again.ID).want(exitConflict, "already retried as "+again.ID)
		u.run("retry").want(exitUsage, "--all-failed")
		u.run("retry", failed.ID, "--all-failed").want(exitUsage, "--all-failed")
		u.run("retry", failed.ID, "--prism", "language").want(exitUsage, "go with --all-failed")
		u.run("retry", "--all-failed", "-o", "json").want(exitUsage, "--output is for")
		u.run("retry", failed.ID, "--dry-run").want(exitUsage, "go with --all-failed")
		u.run("retry", "--all-failed", "--from", "x").want(exitUsage, "--from takes")
	})
}

// onLines does something when a number of lines was written.
type onLines struct {
	bytes.Buffer
	do map[int]func()
}

func (w *onLines) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	lines := bytes.Count(w.Bytes(), []byte("\n"))
	if do := w.do[lines]; do != nil {
		delete(w.do, lines)
		do()
	}
	return n, err
}

func TestWatchResults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args, want  string
		header, ref int // lines of the header, and the place of the ref in a line
	}{
		{"-o table", "[REF 2 3 new newer]", 1, 2},
		{"-o wide", "[REF 2 3 new newer]", 1, 1},
		{"-o csv", "[ref 2 3 new newer]", 1, 1},
		{"--jq .ref", "[2 3 new newer]", 0, 0},
	} {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			u := withExamples(t)
			made := func(ref string) { u.ok("call", "language", "--text", "x", "--ref", ref) }
			for _, ref := range []string{"1", "2", "3"} {
				made(ref)
			}
			ctx, stop := context.WithCancel(t.Context())
			// The first question shows no more than the limit. Each result is shown once, though each question has all of them again.
			out := &onLines{do: map[int]func(){
				test.header + 2: func() { made("new") }, test.header + 3: func() { made("newer") }, test.header + 4: stop,
			}}
			args := append(strings.Fields("results list --watch --every 1ms --prism language --limit 2"), strings.Fields(test.args)...)
			var stderr bytes.Buffer
			code := run(ctx, args, func(name string) string { return u.env[name] }, strings.NewReader(""), out, &stderr)
			if code != exitInterrupted || stderr.Len() > 0 {
				t.Errorf("exit code %d, %s", code, stderr.String())
			}
			var refs []string
			for line := range strings.Lines(out.String()) {
				refs = append(refs, strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' })[test.ref])
			}
			if got := fmt.Sprint(refs); got != test.want {
				t.Errorf("got %s, want %s of\n%s", got, test.want, out.String())
			}
		})
	}
	u := newUser(t)
	u.run("results", "list", "--watch", "-o", "json").want(exitUsage, "--watch goes with -o table, wide, csv or jsonl, not json")
	for _, more := range [][]string{{"--all"}, {"--to", "2026-01-01"}, {"--run", "x"}, {"--every", "0s"}} {
		u.run(append([]string{"results", "list", "--watch"}, more...)...).want(exitUsage, "--watch goes without")
	}
}

func TestRetryAllFailed(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	for range 3 {
		u.run("call", "language", "--text", prismtest.Refuse).want(exitFailed, "")
	}
	u.run("call", "support-triage", "--field", "subject=s", "--field", "message="+prismtest.Refuse).want(exitFailed, "")
	u.ok("call", "language", "--text", "x")
	count := func(want string, more ...string) {
		t.Helper()
		if got := u.ok(append([]string{"retry", "--all-failed", "--dry-run"}, more...)...); got != want+"\n" {
			t.Errorf("%v: %s, want %s", more, got, want)
		}
	}
	count("4")
	count("1", "--prism", "support-triage")
	count("0", "--prism", "language", "--to", "2026-01-01")
	u.run("retry", "--all-failed", "--prism", "language", "--yes").want(exitOK, "3 failed results to retry.")
	u.run("retry", "--all-failed", "--prism", "none", "--yes").want(exitNotFound, "Prism not found")
	u.ok("prisms", "archive", "language")
	u.run("results", "retry", "--all-failed", "-y").want(exitOK, "1 failed result to retry.")
	u.ok("prisms", "archive", "support-triage")
	u.run("retry", "--all-failed", "--yes").want(exitOK, "0 failed results to retry.")
	u.env["PRISM_API_KEY"] = "prism_x"
	u.run("retry", "--all-failed").want(exitUnauthorized, "Invalid API key")
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if got := newUser(t).ok("--version"); !strings.HasPrefix(got, "prismctl version ") || !strings.Contains(got, "go1.") {
		t.Errorf("got %q", got)
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := run(ctx, []string{"prisms", "list"}, func(name string) string { return u.env[name] }, strings.NewReader(""), io.Discard, io.Discard); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
}

// TestAPromptCanBeInterrupted interrupts prompts that get no input.
func TestAPromptCanBeInterrupted(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	file := u.file("one.yaml", oneYAML)
	for name, args := range map[string][]string{
		"a question": {"prisms", "apply", "-f", file}, "a host": {"login"}, "a key": {"login", "--host", server.URL}, "a text": {"call", "one", "--text-file", "-"},
	} {
		delete(u.env, "PRISM_URL")
		if name != "a host" {
			u.env["PRISM_URL"] = server.URL
		}
		ctx, cancel := context.WithCancel(t.Context())
		silent := &silence{asked: cancel, ended: make(chan struct{})}
		env := func(name string) string { return u.env[name] }
		if code := run(ctx, args, env, silent, io.Discard, io.Discard); code != exitInterrupted {
			t.Errorf("%s: exit code %d", name, code)
		}
		close(silent.ended)
	}
}

// silence is a terminal whose user presses Ctrl-C at the prompt.
type silence struct {
	asked func()
	ended chan struct{}
}

func (s *silence) Read([]byte) (int, error) {
	s.asked()
	<-s.ended
	return 0, io.EOF
}

func (*silence) IsTerminal() bool { return true }
