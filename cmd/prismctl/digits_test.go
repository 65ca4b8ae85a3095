package main

import (
	"strings"
	"testing"
)

// digitsYAML is a prism whose Lens shows a number with many digits: what the fake model leaves for the third of four
// options.
const digitsYAML = `slug: many
fields: [{key: text}]
questions:
  - key: topic
    type: choice
    text: What is it about?
    options: [{key: a, label: "0.123456"}, {key: b, label: B}, {key: c, label: C}, {key: d, label: D}]
lens:
  columns:
    - {name: topic, question: topic, show: answer}
    - {name: third, question: topic, show: probability, option: c}
`

func TestNumbersHaveFourDigitsUnlessAllAreAsked(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.ok("prisms", "apply", "--yes", "-f", u.file("many.yaml", digitsYAML))
	const text, exact = "0.987654321", "0.08333333333333333"
	first := u.ok("call", "many", "--text", text)
	id := strings.Fields(first)[1]
	for _, args := range [][]string{
		{"results", "get", id},
		{"results", "get", id, "-o", "csv"},
		{"results", "get", id, "-o", "tsv"},
		{"results", "list", "-o", "wide"},
		{"results", "list", "-o", "csv"},
		{"results", "export", "many"},
		{"results", "export", "many", "-o", "tsv"},
		{"call", "many", "--text", text},
		{"call", "many", "--text", text, "-o", "csv"},
	} {
		if got := u.ok(args...); !strings.Contains(got, "0.08333") || strings.Contains(got, exact) {
			t.Errorf("%v: got\n%s", args, got)
		}
		if got := u.ok(append(args, "--exact")...); !strings.Contains(got, exact) {
			t.Errorf("%v --exact: got\n%s", args, got)
		}
	}
	for _, args := range [][]string{
		{"results", "get", id, "-o", "json"},
		{"results", "get", id, "-o", "jsonl"},
		{"results", "list", "-o", "jsonl"},
		{"results", "export", "many", "-o", "jsonl"},
	} {
		if got := u.ok(args...); !strings.Contains(got, exact) {
			t.Errorf("%v: got\n%s", args, got)
		}
	}
	csv := u.ok("results", "export", "many")
	if !strings.Contains(csv, text) || !strings.Contains(csv, ",0.123456,0.08333\r\n") {
		t.Errorf("a field and a label are text, got\n%s", csv)
	}
}
