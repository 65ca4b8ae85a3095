package main

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

// spec: labels-put, labels-add, label-by-ref, labels-list, label-queue
func TestLabels(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.ok("prisms", "apply", "-f", u.file("p.yaml", `slug: triage
fields: [{key: text, label: Text}]
questions:
  - {key: urgent, type: yes_no, text: Is it?}
  - {key: mood, type: scale, text: How?, levels: [{key: low, label: Low, value: 1}, {key: up, label: Up, value: 2}]}
`), "--yes")
	var ids []string
	for _, ref := range []string{"a", "b", "c"} {
		r, err := u.client().CreateResult(t.Context(), "triage", client.NewResult{Text: "x", Ref: ref})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	u.run("labels", "set", ids[0], "urgent=yes", "mood=Up", "--annotator", "Ada").want(exitOK, "")
	if got := u.ok("labels", "get", ids[0]); got != "mood=up\nurgent=true\n" {
		t.Errorf("got %s", got)
	}
	if got := u.ok("labels", "set", ids[0], "mood="); got != "urgent=true\n" {
		t.Errorf("got %s", got)
	}
	u.run("labels", "set", ids[0], "mood=x").want(exitInvalid, "labels.mood: Expected 'low' | 'up'")
	u.run("labels", "set", ids[0], "mood").want(exitUsage, "QUESTION=VALUE")

	file := u.file("labels.csv", "ref,question,value\nb,urgent,No\nnone,urgent,true\nb,mood,x\n")
	u.run("labels", "import", file, "--prism", "triage").want(exitInvalid, "line 3: Result not found").want(exitInvalid,
		"line 4: mood: value: Expected 'low' | 'up'").want(exitInvalid, "1 labels are stored, 2 are not.")
	columns := u.file("columns.jsonl", `{"result_id":"`+ids[1]+`","urgent":true,"mood":null}`+"\n\n"+`{"ref":"c","urgent":false,"mood":"low"}`+"\n")
	u.run("labels", "import", columns, "--prism", "triage", "--question", "urgent", "--question", "mood", "--sample", "random").want(exitOK,
		"3 labels are stored, 0 are not.")
	list := u.ok("labels", "list", "--prism", "triage", "-o", "csv")
	for _, want := range []string{
		"result_id,ref,version,question,value,sample,annotator,origin,key_id,labelled_at\n" + ids[2] + ",c,1,mood,low,random,,call,",
		ids[2] + ",c,1,urgent,false,random,,call,", ids[1] + ",b,1,urgent,true,random,,call,", ids[0] + ",a,1,urgent,true,,Ada,call,",
	} {
		if !strings.Contains(list, want) {
			t.Errorf("%q is missing of %s", want, list)
		}
	}
	// What was listed can be imported again.
	u.run("labels", "import", u.file("again.csv", list), "--prism", "triage").want(exitOK, "4 labels are stored, 0 are not.")
	u.run("labels", "import", u.file("again.jsonl", u.ok("labels", "list", "--prism", "triage", "-o", "jsonl")), "--prism", "triage").want(exitOK,
		"4 labels are stored, 0 are not.")
	unchanged := func(list string) string { // all but the time, which is the last column
		lines := strings.Split(list, "\n")
		for i, line := range lines {
			lines[i] = line[:max(strings.LastIndex(line, ","), 0)]
		}
		return strings.Join(lines, "\n")
	}
	if again := u.ok("labels", "list", "--prism", "triage", "-o", "csv"); unchanged(again) != unchanged(list) {
		t.Errorf("after the imports the labels are %s, before %s", again, list)
	}
	if got := u.ok("labels", "queue", "--prism", "triage", "--question", "mood", "--limit", "1", "-o", "csv"); strings.Count(got, "\n") != 2 {
		t.Errorf("got %s", got)
	}
	if got := u.ok("labels", "queue", "--prism", "triage", "--question", "mood", "--order", "uncertain", "-o", "csv"); strings.Count(got, "\n") != 3 {
		t.Errorf("got %s", got)
	}
	for name, want := range map[string]string{
		"q,v\n1,2\n":                  "line 2: no result_id and no ref",
		"ref,question\na,urgent\n":    "line 2: question or value is missing",
		"ref,question,value\na,b\n":   "line 2",
		"ref,question,value\n\"a,b\n": "line 2",

		"ref,question,value,sample\na,urgent,true,some\n": "line 2: sample is random or uncertain",
		"ref,question,value\na,urgent,true\nb,urgent\n":   "1 labels are stored, 0 are not.",
	} {
		u.run("labels", "import", u.file("wrong.csv", name), "--prism", "triage").want(exitInvalid, want)
	}
	for _, line := range []string{"[1]", `{"ref":"\ud800","question":"urgent","value":true}`, "{\"ref\":\"\xff\"}"} {
		u.run("labels", "import", u.file("wrong.jsonl", line+"\n"), "--prism", "triage").want(exitInvalid, "line 1: each line is an object")
	}
	u.run("labels", "import", u.file("wrong.csv", "ref,question,value\n\xff,urgent,true\n"), "--prism", "triage").want(exitError, "is not UTF-8")
	u.run("labels", "import", u.file("wrong.tsv", "ref\turgent\n\na\n"), "--prism", "triage").want(exitInvalid, "line 3: 1 cells, and the header has 2")
	u.run("labels", "import", file, "--prism", "triage", "--question", "none").want(exitInvalid, `line 2: no column "none"`)
	u.run("labels", "import", u.file("x.txt", ""), "--prism", "triage").want(exitUsage, "--format is csv, tsv or jsonl")
	u.run("labels", "queue", "--prism", "triage", "--question", "mood", "--limit", "0").want(exitUsage, "--limit")
}

// A ref is the text that a row has, to the byte.
func TestLabelsAreOfTheRefsOfTheFile(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.ok("prisms", "apply", "-f", u.file("p.yaml", "slug: spam\nfields: [{key: text, label: Text}]\nquestions: [{key: spam, type: yes_no, text: Is it?}]\n"), "--yes")
	of := map[string]string{}
	for _, ref := range []string{"a\r\nb", "a\nb", `"q"`, "q", `q"1`, "c"} {
		r, err := u.client().CreateResult(t.Context(), "spam", client.NewResult{Text: "x", Ref: ref})
		if err != nil {
			t.Fatal(err)
		}
		of[ref] = r.ID
	}
	for _, test := range []struct{ name, file string }{
		{"a.csv", "ref,question,value\r\n\"a\r\nb\",spam,true\r\nc,spam,false\r\n"},
		{"a.tsv", "ref\tquestion\tvalue\n\"q\"\tspam\ttrue\nq\"1\tspam\tfalse\n"},
	} {
		u.run("labels", "import", u.file(test.name, test.file), "--prism", "spam").want(exitOK, "2 labels are stored, 0 are not.")
	}
	list := u.ok("labels", "list", "--prism", "spam", "-o", "jsonl")
	for ref, want := range map[string]bool{"a\r\nb": true, `"q"`: true, `q"1`: true, "c": true, "a\nb": false, "q": false} {
		if got := strings.Contains(list, of[ref]); got != want {
			t.Errorf("%q has a label: %v", ref, got)
		}
	}
}
