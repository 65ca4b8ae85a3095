package main

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/client/prismtest"
)

const urgent = `slug: language
fields: [{key: text}]
questions: [{key: english, type: yes_no, text: Is it English?}, {key: urgent, type: yes_no, text: Is it urgent?}]
lens:
  columns:
    - {name: Is it English, question: english, show: answer}
    - {name: urgent, question: urgent, show: answer}
`

func TestTry(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	file := u.file("language.yaml", urgent)
	t.Run("the answers are shown, and nothing is saved", func(t *testing.T) {
		u := u.on(t)
		out := u.ok("try", file, "--text", "Hello.", "--background", "c")
		for _, want := range []string{"status  ok\n", "took ", "model ", "Is it English  yes\n", "urgent         yes\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is missing of\n%s", want, out)
			}
		}
		if prisms := decode[[]client.Prism](t, u.ok("prisms", "list", "-o", "json")); len(prisms) != 0 {
			t.Errorf("there are prisms: %+v", prisms)
		}
		u.in = "Hello.\n"
		try := decode[client.Try](t, u.ok("try", file, "-o", "jsonl"))
		if english, ok := try.Answers.Get("english"); !ok || english.Probability == nil || try.Status != client.OK || len(try.Row) != 2 {
			t.Errorf("got %+v", try)
		}
	})
	t.Run("a model that fails is exit code 7", func(t *testing.T) {
		u := u.on(t)
		s := u.run("try", file, "--text", prismtest.Refuse).want(exitFailed, "the try failed: The model service refused the call")
		if !strings.Contains(s.out, "failed: The model service refused") {
			t.Errorf("got %s", s.out)
		}
		s = u.run("try", file, "--text", prismtest.Refuse, "-o", "json").want(exitFailed, "refused the call")
		if try := decode[client.Try](t, s.out); try.ErrorCode == nil || *try.ErrorCode != client.ErrorParameter || try.Answers != nil {
			t.Errorf("got %+v", try)
		}
	})
	t.Run("what cannot be tried", func(t *testing.T) {
		u := u.on(t)
		u.run("try", file, "--field", "other=x").want(exitInvalid, "Missing fields: text")
		u.run("try", file, "--text", "x", "-o", "csv").want(exitUsage, "unknown output")
		u.run("try", u.file("none.yaml", "slug: [\n"), "--text", "x").want(exitInvalid, "none.yaml")
		u.run("try", u.file("two.yaml", urgent+"---\n"+strings.Replace(urgent, "language", "other", 1)), "--text", "x").
			want(exitUsage, "defines 2 prisms")
	})
}

func TestPreview(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	file := u.file("language.yaml", urgent)
	bare, _, _ := strings.Cut(urgent, "lens:")
	u.ok("prisms", "apply", "-f", u.file("old.yaml", strings.Replace(bare, ", {key: urgent, type: yes_no, text: Is it urgent?}", "", 1)), "--yes")
	u.ok("call", "language", "--text", "old")
	u.ok("prisms", "apply", "-f", u.file("new.yaml", bare), "--yes")
	u.ok("call", "language", "--text", "new")
	s := u.run("prisms", "preview", "language", "-f", file).
		want(exitOK, "urgent: The version that answered does not have this question.\n")
	lines := strings.Split(strings.TrimSpace(s.out), "\n")
	if len(lines) != 3 || !strings.HasSuffix(lines[0], "Is it English  urgent") ||
		!strings.Contains(lines[1], "  2        ok      yes            "+"yes") || !strings.Contains(lines[2], "  1        ok      yes            -") {
		t.Errorf("got\n%s", s.out)
	}
	all := decode[client.PreviewedLens](t, u.ok("prisms", "preview", "language", "--file", file, "-o", "json"))
	one := decode[client.PreviewedLens](t, u.ok("prisms", "preview", "language", "-f", file, "-o", "jsonl", "--limit", "1"))
	named := decode[client.PreviewedLens](t, u.ok("prisms", "preview", "language", "-f", file, "-o", "json", "--result", all.Data[1].Result.ID))
	if len(all.Data) != 2 || len(one.Data) != 1 || len(named.Data) != 1 || named.Data[0].Result.ID != all.Data[1].Result.ID {
		t.Errorf("got %+v\n%+v\n%+v", all, one, named)
	}
	wrong := u.file("wrong.yaml", strings.Replace(urgent, "question: urgent", "question: none", 1))
	u.run("prisms", "preview", "language", "-f", wrong).want(exitInvalid, "columns.1.question: Unknown question")
	u.run("prisms", "preview", "language", "-f", u.file("bare.yaml", bare)).want(exitUsage, "has no lens")
	u.run("prisms", "preview", "language").want(exitUsage, "name a file with -f")
	u.run("prisms", "preview", "language", "-f", file, "--limit", "51").want(exitUsage, "--limit is 1 to 50")
	u.run("prisms", "preview", "language", "-f", file, "-o", "csv").want(exitUsage, "unknown output")
	u.run("prisms", "preview", "none", "-f", file, "--result", all.Data[0].Result.ID).want(exitNotFound, "Prism not found")
}
