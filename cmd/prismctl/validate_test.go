package main

import (
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.file("good/a.yaml", oneYAML)
	u.file("good/b.yaml", strings.Replace(oneYAML, "slug: one", "slug: two", 1))
	offline := u.on(t)
	offline.env = map[string]string{} // no address, no key, no home
	if got := offline.ok("validate", u.dir+"/good", "-o", "json", "--jq", `.[] | "\(.prism) \(.checked)"`); got != "one offline\ntwo offline\n" {
		t.Errorf("got %q", got)
	}
	offline.in = oneYAML
	if got := offline.ok("validate", "-"); !strings.Contains(got, "standard input  one    offline") {
		t.Errorf("got %q", got)
	}
	offline.run("validate", u.dir+"/good", "--online").want(exitUnauthorized, "prismctl login")
	if got := u.ok("validate", u.dir+"/good", "--online", "-o", "csv"); !strings.Contains(got, ",one,by "+server.URL+",create\n") {
		t.Errorf("got %s", got)
	}
	if left := u.ok("prisms", "list", "-o", "jsonl"); left != "" {
		t.Errorf("it made %s", left)
	}
	wrong := u.file("wrong.yaml", `slug: Wrong
fields: [{key: text}]
questions:
  - {key: a, type: choice, text: A?, options: [{key: x, label: X}]}
  - {key: b, type: maybe, text: ""}
`)
	s := offline.run("validate", wrong).want(exitInvalid, "wrong.yaml:1: slug: ")
	for _, want := range []string{"wrong.yaml:4: questions.0.options: ", "wrong.yaml:5: questions.1.type: value must be one of 'choice', 'yes_no', 'scale'"} {
		if !strings.Contains(s.stderr, want) {
			t.Errorf("%q is missing of %s", want, s.stderr)
		}
	}
	shows := u.file("lens.yaml", oneYAML+"lens:\n  columns:\n    - {name: x, question: none, show: answer}\n")
	offline.run("validate", shows).want(exitInvalid, "lens.columns.0.question: Unknown question")
	offline.run("validate", u.file("member.yaml", oneYAML+"lable: x\n")).want(exitInvalid, `has no member "lable"`)
	offline.run("validate", u.dir+"/good/a.yaml", u.file("again.yaml", oneYAML)).want(exitInvalid, "one is defined in ")
	model := u.file("model.yaml", oneYAML+"model: other\n")
	offline.ok("validate", model)
	u.run("validate", model, "--online").want(exitInvalid, "model: No such model")
	offline.run("validate").want(exitUsage, "missing argument <file|folder>")
	offline.run("validate", "/none").want(exitUsage, "no such file")
}
