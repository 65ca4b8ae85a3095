package main

import (
	"strings"
	"testing"
)

// spec: result-delete, results-delete, results-delete-filter, retention-set
func TestResultsDelete(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	create := func(ref string) string {
		row := u.ok("call", "language", "--text", "hello", "--ref", ref, "-o", "jsonl")
		return decode[map[string]any](t, row)["result_id"].(string)
	}
	person, other := create("person"), create("other")
	create("person")
	u.run("results", "delete", person).want(exitUsage, "no terminal to ask on")
	for _, args := range [][]string{
		{}, {person, "--ref", "r"}, {"--ref", "r"}, {"--prism", "language"}, {person, "--prism", "language"}, {person, "--dry-run"},
	} {
		u.run(append([]string{"results", "delete"}, args...)...).want(exitUsage, "name results by their ids, or by --prism")
	}
	u.run("results", "delete", "--prism", "language", "--before", "soon").want(exitUsage, "--before takes a day or a time")
	u.run("results", "delete", "--prism", "language", "--run", "soon").want(exitUsage, "--run takes an id")
	const nobody = "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10"
	for _, filter := range [][]string{
		{"--from", "2999-01-01"}, {"--version", "2"}, {"--model", "none"}, {"--key-id", nobody}, {"--run", nobody}, {"--assignee", nobody},
	} {
		args := append([]string{"results", "delete", "--prism", "language", "--dry-run"}, filter...)
		if n := u.ok(args...); n != "0\n" {
			t.Errorf("%v: %q match", filter, n)
		}
	}
	u.run("results", "delete", "--prism", "language", "--version", "1", "--assignee", "none", "--from", "2020-01-01", "--expect", "2", "--yes").
		want(exitConflict, "3 results match now.")
	u.run("results", "delete", "--yes", person).want(exitOK, person+" is deleted.")
	u.run("results", "delete", "--yes", person).want(exitNotFound, "Result not found")
	u.run("results", "get", person).want(exitNotFound, "Result not found")
	if n := u.ok("results", "delete", "--prism", "language", "--ref", "person", "--dry-run"); n != "1\n" {
		t.Errorf("%q match", n)
	}
	someone := u.on(t)
	someone.person, someone.in = true, "n\n"
	someone.run("results", "delete", "--prism", "language", "--ref", "person").want(exitError, "Delete 1 result of language for good? [y/N]")
	u.run("results", "delete", "--prism", "language", "--ref", "nobody", "--yes").want(exitOK, "0 results to delete.")
	u.run("results", "delete", "--prism", "language", "--ref", "person", "--yes").want(exitOK, "1 result to delete.")
	u.ok("results", "get", other)

	if kept := u.ok("prisms", "retention", "language"); kept != "forever\n" {
		t.Errorf("results are kept %q", kept)
	}
	u.run("prisms", "retention", "language", "soon").want(exitUsage, "a number of days, or forever")
	u.run("prisms", "retention", "language", "90").want(exitOK, "Results of language are kept: 90 days.")
	if kept := u.ok("prisms", "retention", "language"); kept != "90 days\n" {
		t.Errorf("results are kept %q", kept)
	}
	u.run("prisms", "retention", "language", "3651", "--yes").want(exitInvalid, "days: Number must be less than or equal to 3650")
	u.run("prisms", "retention", "language", "forever").want(exitOK, "Results of language are kept: forever.")
	if audit := u.ok("audit", "list"); strings.Count(audit, "result.delete") != 1 || strings.Count(audit, "results.delete") != 1 {
		t.Error(audit)
	}
}
