package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

// spec: changes-list, changes-next, changes-wait
func TestChanges(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	made := decode[client.Result](t, u.ok("call", "language", "--text", "bonjour", "-o", "json"))
	u.ok("call", "language", "--text", "bonjour")
	ctx, stop := context.WithCancel(t.Context())
	var stderr bytes.Buffer
	out := &onLines{do: map[int]func(){2: stop}} // Prism numbers changes within a second
	code := run(ctx, []string{"changes", "-f"}, func(name string) string { return u.env[name] }, strings.NewReader(""), out, &stderr)
	if code != exitInterrupted || stderr.Len() > 0 {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
	if first, _, _ := strings.Cut(out.String(), "\n"); !strings.Contains(first, `"seq":1,`) || !strings.Contains(first, made.ID) {
		t.Errorf("got %s", out.String())
	}
	if got := u.ok("changes", "--after", "1", "-o", "csv"); !strings.HasPrefix(got, "seq,at,type,prism,result_id\n2,") || strings.Count(got, "\n") != 2 {
		t.Errorf("got %q", got)
	}
	if got := u.ok("changes", "--limit", "1", "--prism", "language"); !strings.HasPrefix(got, "SEQ  TYPE") || !strings.Contains(got, "created  language") {
		t.Errorf("got %q", got)
	}
	u.run("changes", "-f", "-o", "csv").want(exitUsage, "--follow goes with -o jsonl")
	u.run("changes", "--after", "99").want(exitConflict, "List the results anew.")
}
