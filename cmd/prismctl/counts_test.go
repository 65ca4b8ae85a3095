package main

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

// spec: search-words, search-where, search-sort, search-of-all, result-counts
func TestResultsAreFoundAndCounted(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	for ref, text := range map[string]string{"en": "Where is the parcel?", "fr": "Où est le colis ?"} {
		u.ok("call", "language", "--text", text, "--ref", ref)
	}
	found := decode[[]client.Result](t, u.ok("results", "list", "--prism", "language", "--q", "parcel or nothing", "--where", "@status:is:ok",
		"--where", "@version:is:1", "--sort", "-@took", "-o", "json"))
	if len(found) != 1 || *found[0].Ref != "en" {
		t.Errorf("got %+v", found)
	}
	if rows := u.ok("results", "export", "language", "--q", "colis", "-o", "jsonl"); strings.Count(rows, "\n") != 1 || !strings.Contains(rows, `"fr"`) {
		t.Errorf("got %s", rows)
	}
	if n := u.ok("results", "delete", "--prism", "language", "--q", "colis", "--dry-run"); n != "1\n" {
		t.Errorf("got %s", n)
	}
	if n := u.ok("retry", "--all-failed", "--prism", "language", "--q", "colis", "--dry-run"); n != "0\n" {
		t.Errorf("got %s", n)
	}
	counts := "results counts --prism language --by @version,@labelled"
	want := "by,value,label,count\ntotal,,,2\n@version,1,1,2\n@labelled,no,no,2\n"
	if got := u.ok(strings.Fields(counts + " -o csv")...); got != want {
		t.Errorf("got %s", got)
	}
	all := decode[client.ResultCounts](t, u.ok(strings.Fields(counts+" --q parcel -o json")...))
	if all.Total != 1 || !all.Exact || all.By["@version"][0].Count != 1 {
		t.Errorf("got %+v", all)
	}
	u.run("results", "counts", "--by", "nothing").want(exitInvalid, "by.0: Unknown question")
	u.run("results", "list", "--prism", "language", "--where", "nothing:is:a").want(exitInvalid, "where.0: Unknown question")
	u.run("retry", "a", "--q", "b").want(exitUsage, "--q, --where")
	u.run("results", "delete", "a", "--where", "b").want(exitUsage, "name results by their ids")
}
