package main

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

// spec: question-tags, show-answer, show-count, label-value
func TestTags(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	file := u.file("about.yaml", `slug: about
fields: [{key: text}]
questions:
  - key: about
    type: tags
    text: What is it about?
    options:
      - {key: price, label: Price}
      - {key: vip, label: A VIP}
lens:
  columns:
    - {name: about, question: about, show: answer}
    - {name: sure, question: about, show: answer, yes_at: 0.9}
    - {name: n, question: about, show: count}
    - {name: vip, question: about, show: probability, option: vip}
`)
	u.ok("validate", file)
	u.ok("prisms", "apply", "-f", file, "--yes")
	out := u.ok("call", "about", "--text", "x")
	for _, want := range []string{"about  price; vip\n", "n      2\n", "vip    0.75\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing of\n%s", want, out)
		}
	}
	raw := decode[client.Result](t, u.ok("call", "about", "--text", "x", "-o", "raw"))
	if about, err := raw.Answers.Tags("about"); err != nil || len(about.Values) != 2 || len(about.Probabilities) != 2 {
		t.Errorf("got %+v, %v", raw, err)
	}
	got := u.ok("prisms", "get", "about")
	for _, want := range []string{"type: tags", "key: vip", "show: count", "yes_at: 0.9"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing of\n%s", want, got)
		}
	}
	if again := u.ok("prisms", "apply", "-f", u.file("again.yaml", got), "--yes"); strings.Contains(again, "version 2") {
		t.Errorf("what was printed is another definition: %s", again)
	}
	for sent, want := range map[string]string{"A vip": `["vip"]`, "vip;Price": `["price","vip"]`, `["vip"]`: `["vip"]`, "none": "[]"} {
		u.ok("labels", "set", raw.ID, "about="+sent)
		if got := u.ok("labels", "get", raw.ID); got != "about="+want+"\n" {
			t.Errorf("%s is %s", sent, got)
		}
	}
	list := u.ok("labels", "list", "--prism", "about", "-o", "csv")
	u.run("labels", "import", u.file("again.csv", list), "--prism", "about").want(exitOK, "1 labels are stored, 0 are not.")
	u.run("labels", "set", raw.ID, "about=other").want(exitInvalid, "labels.about.0: Expected 'price' | 'vip'")
	u.run("validate", u.file("wrong.yaml", strings.Replace(got, "type: tags", "type: tag", 1))).want(exitInvalid, "'tags'")
}
