package main

import (
	"strings"
	"testing"
)

// spec: prism-searchable
func TestPrismsSearchable(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.ok("prisms", "apply", "-f", u.file("one.yaml", oneYAML+"searchable: false\n"), "-y")
	is := func(want string) {
		t.Helper()
		if got := u.ok("prisms", "searchable", "one"); got != want+"\n" {
			t.Errorf("searchable is %q, want %s", got, want)
		}
	}
	is("false")
	if file := u.ok("prisms", "get", "one"); !strings.Contains(file, "searchable: false\n") {
		t.Errorf("the file is %s", file)
	}
	u.run("results", "list", "--prism", "one", "--q", "word").want(exitConflict, "This prism is not searchable.")
	u.ok("prisms", "apply", "-f", u.file("one.yaml", oneYAML), "-y") // which does not say it
	is("false")
	did := u.ok("prisms", "apply", "-f", u.file("one.yaml", oneYAML+"searchable: true\n"), "-y")
	if !strings.Contains(did, "one: make searchable: done") {
		t.Errorf("apply did %s", did)
	}
	is("true")
	u.run("prisms", "searchable", "one", "no").want(exitUsage, "say true or false")
	u.run("prisms", "searchable", "one", "false").want(exitOK, "one: searches leave the results out.")
	is("false")
}
