package main

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

// spec: view-create, view-list, view-replace, view-delete
func TestViews(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	const key = "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10"
	id := strings.TrimSpace(u.ok("views", "save", "Sure", "--prism", "support-triage", "--status", "ok", "--ref", "", "--version", "1",
		"--from", "2026-11-01", "--to", "2026-12-01", "--model", "m", "--key-id", key, "--run", key, "--q", "refund",
		"--where", "topic:is:billing", "--sort", "-topic.billing", "--column", "text", "--column", "language", "--default"))
	var views []client.View
	read := func() client.View {
		views = decode[[]client.View](t, u.ok("views", "list", "-o", "json"))
		return views[0]
	}
	v := read()
	f := v.Filters
	if v.ID != id || v.Name != "Sure" || f.Prism != "support-triage" || f.Status != client.OK || f.Ref == nil || *f.Ref != "" || f.Version != 1 ||
		f.From.String() != "2026-11-01T00:00:00.000Z" || f.To.String() != "2026-12-01T00:00:00.000Z" || f.Model != "m" || f.Key.String() != key ||
		f.Run.String() != key || f.Q != "refund" || len(f.Where) != 1 || f.Sort != "-topic.billing" || len(v.Columns) != 2 || !v.Default {
		t.Errorf("got %+v", v)
	}
	if got := u.ok("views", "list"); !strings.Contains(got, "Sure") || !strings.Contains(got, "true") {
		t.Errorf("got %s", got)
	}
	u.ok("views", "save", "All", "--replace", id)
	if v := read(); len(views) != 1 || v.Name != "All" || v.Filters.Prism != "" || v.Default || v.Columns != nil {
		t.Errorf("got %+v", v)
	}
	u.run("views", "save", "x", "--key-id", "1").want(exitUsage, "--key-id takes an id")
	u.run("views", "save", "x", "--where", "a:is:b").want(exitInvalid, "filters.prism: must be sent with where")
	u.run("views", "save", "x", "--prism", "support-triage", "--where", "nothing:is:b").want(exitInvalid, "filters.where.0: Unknown question")
	u.run("views", "delete", id).want(exitOK, "is deleted.")
	u.run("views", "delete", id).want(exitNotFound, "View not found")
}
