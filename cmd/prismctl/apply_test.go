package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/client/prismtest"
	"github.com/prism-results/prism/cmd/prismctl/internal/apply"
	"github.com/prism-results/prism/pkg/definition"
)

func example(t *testing.T, name string) string {
	t.Helper()
	root, err := prismtest.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "cmd/prismctl/examples", name)
}

const oneYAML = `slug: one
name: One
fields:
  - key: text
questions:
  - key: good
    type: yes_no
    text: Is it good?
`

func TestApply(t *testing.T) {
	t.Parallel()
	t.Run("creates, adds versions, edits the Lens, archives and takes back, and shows it first", func(t *testing.T) {
		t.Parallel()
		u := newUser(t)
		var shown strings.Builder
		step := func(what string, args ...string) {
			t.Helper()
			shown.WriteString("### " + what + "\n" + u.ok(append([]string{"prisms", "apply"}, args...)...))
		}
		folder := filepath.Dir(u.file("prisms/one.yaml", oneYAML))
		u.file("prisms/below/two.yml", strings.ReplaceAll(oneYAML, "one", "two")+"---\n"+strings.ReplaceAll(oneYAML, "one", "three"))
		u.file("prisms/.hidden/x.yaml", "not: one")
		u.file("prisms/README.md", "not one")
		step("three are created", "-f", folder, "--yes")
		step("nothing changed", "-f", folder)
		u.file("prisms/one.yaml", strings.ReplaceAll(oneYAML, "Is it good?", "Is it any good?"))
		step("a question changed, dry", "-f", folder, "--dry-run")
		step("a question changed", "-f", folder, "-y")
		u.file("prisms/one.yaml", strings.ReplaceAll(oneYAML, "Is it good?", "Is it any good?")+"lens:\n  columns:\n    - {name: verdict, question: good, show: answer, yes_at: 0.9}\n")
		step("the Lens changed", "-f", folder, "--yes")
		step("only one is left", "-f", filepath.Join(folder, "one.yaml"), "--prune", "--yes")
		step("all are back, one with another field", "-f", folder, "-f", u.file("four.json", `{"slug": "four", "fields": [{"key": "a"}, {"key": "b"}], "questions": [{"key": "q", "type": "yes_no", "text": "?"}]}`), "--yes")
		wantGolden(t, "apply", shown.String())

		p, err := u.client().ReadPrism(t.Context(), "one")
		if err != nil || p.LatestVersion != 2 || p.Lens.Columns[0].Name != "verdict" || p.ArchivedAt != nil {
			t.Errorf("got %+v, %v", p, err)
		}
	})
	t.Run("the examples can be applied, and what is shown of a prism is what made it", func(t *testing.T) {
		t.Parallel()
		u := newUser(t)
		u.ok("prisms", "apply", "-f", example(t, ""), "--yes")
		text := u.ok("prisms", "get", "support-triage")
		wantGolden(t, "prisms-get", text)
		u.in = text
		if got := u.ok("prisms", "apply", "-f", "-"); got != "support-triage: unchanged\n" {
			t.Errorf("got %s", got)
		}
		u.in = ""
		if got := u.ok("prisms", "apply", "-f", example(t, ""), "--dry-run", "--exit-code"); strings.Count(got, "unchanged") != 2 {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a default value is no change", func(t *testing.T) {
		t.Parallel()
		const base = `slug: a
fields: [{key: f}]
questions:
- {key: c, type: choice, text: C?, options: [{key: x, label: X}, {key: y, label: Y}]}
- {key: s, type: scale, text: S?, levels: [{key: l, label: L}, {key: h, label: H}]}
- {key: y, type: yes_no, text: Y?}
`
		u := newUser(t)
		u.in = base
		u.ok("prisms", "apply", "-f", "-", "--yes")
		for _, test := range []struct{ name, old, new, want string }{
			{"the same", "", "", "unchanged"},
			{"values that only count", "label: H}]", "label: H, value: 2}]", "unchanged"},
			{"a value that does not", "label: H}]", "label: H, value: 3}]", "add version 2"},
			{"a flag that is false", "text: C?", "text: C?, insufficient_information: false", "unchanged"},
			{"a flag", "text: C?", "text: C?, insufficient_information: true", "add version 2"},
			{"another text", "text: C?", "text: D?", "add version 2"},
			{"options in another order", "{key: x, label: X}, {key: y, label: Y}", "{key: y, label: Y}, {key: x, label: X}", "add version 2"},
			{"a label", "{key: f}", "{key: f, label: F}", "add version 2"},
			{"instructions", "fields:", "instructions: i\nfields:", "add version 2"},
			{"empty instructions", "fields:", "instructions: ''\nfields:", "unchanged"},
			{"a model", "fields:", "model: default\nfields:", "add version 2"},
			{"another question", "key: y, type: yes_no", "key: z, type: yes_no", "add version 2, edit the Lens"},
			{"a Lens", "fields:", "lens: {columns: [{name: y, question: y, show: answer}]}\nfields:", "edit the Lens"},
			{"the derived Lens", "fields:", "lens: {columns: [{name: c, question: c, show: answer}, {name: c_probability, question: c, show: probability}, " +
				"{name: s, question: s, show: answer}, {name: s_average, question: s, show: average}, " +
				"{name: y, question: y, show: answer, yes_at: 0.6, no_at: 0.4}, {name: y_probability, question: y, show: probability}]}\nfields:", "unchanged"},
		} {
			if !strings.Contains(base, test.old) {
				t.Fatal(test.name + ": nothing is changed")
			}
			u.in = strings.Replace(base, test.old, test.new, 1)
			if got := u.ok("prisms", "apply", "-f", "-", "--dry-run"); !strings.HasPrefix(got, "a: "+test.want+"\n") {
				t.Errorf("%s: got %s, want %s", test.name, got, test.want)
			}
		}
	})
	t.Run("--dry-run --exit-code tells of changes, and makes none", func(t *testing.T) {
		t.Parallel()
		u := newUser(t)
		file := u.file("one.yaml", oneYAML)
		u.run("prisms", "apply", "-f", file, "--dry-run", "--exit-code").want(exitChanges, "")
		u.run("prisms", "get", "one").want(exitNotFound, "Prism not found")
	})
	t.Run("--dry-run refuses what apply refuses, with the lines", func(t *testing.T) {
		t.Parallel()
		u := newUser(t)
		const broken = "  - key: good\n    type: choice\n    text: What?\n    options: [{key: A, label: a}]\n"
		good, bad := u.file("one.yaml", oneYAML), u.file("bad.yaml", oneYAML+broken)
		badLens := u.file("lens.yaml", oneYAML+"lens:\n  columns:\n    - {name: x, question: none, show: answer}\n")
		lines := map[string][]string{
			bad:     {":9: questions.1.key: must be unique", ":12: questions.1.options: ", ":12: questions.1.options.0.key: "},
			badLens: {":11: lens.columns.0.question: Unknown question"},
		}
		refused := func(what string, files ...string) {
			for _, file := range files {
				dry := u.run("prisms", "apply", "-f", file, "--dry-run", "--exit-code").want(exitInvalid, file+":")
				wet := u.run("prisms", "apply", "-f", file, "--yes").want(exitInvalid, "")
				if dry.stderr != wet.stderr {
					t.Errorf("%s: a dry run says\n%s\nbut apply\n%s", what, dry.stderr, wet.stderr)
				}
				for _, line := range lines[file] {
					wet.want(exitInvalid, file+line)
				}
			}
		}
		refused("a new prism", bad, badLens)
		u.ok("prisms", "apply", "-f", good, "--yes")
		refused("a new version, a new Lens", bad, badLens)
		u.ok("prisms", "archive", "one")
		for _, file := range []string{bad, badLens} {
			u.run("prisms", "apply", "-f", file, "--dry-run").want(exitInvalid, file+":")
		}
		u.run("prisms", "apply", "-f", good, "--dry-run", "--exit-code").want(exitChanges, "")
		if got := u.ok("prisms", "list", "--archived", "-o", "csv"); strings.Count(got, "\n") != 2 || !strings.Contains(got, "one,") {
			t.Errorf("a dry run changed something: %s", got)
		}
	})
	t.Run("a person is asked", func(t *testing.T) {
		t.Parallel()
		u := newUser(t)
		file := u.file("one.yaml", oneYAML)
		u.person, u.in = true, "n\n"
		u.run("prisms", "apply", "-f", file).want(exitError, "nothing was changed")
		u.in = ""
		u.run("prisms", "apply", "-f", file).want(exitError, "nothing was changed")
		u.in = "y\n"
		u.run("prisms", "apply", "-f", file).want(exitOK, "Make this change? [y/N]")
	})
	t.Run("nobody is asked where nobody is", func(t *testing.T) {
		t.Parallel()
		u := newUser(t)
		u.in = "y\n"
		u.run("prisms", "apply", "-f", u.file("one.yaml", oneYAML)).want(exitUsage, "--yes")
	})
	t.Run("what can't be read changes nothing", func(t *testing.T) {
		t.Parallel()
		u := newUser(t)
		folder := filepath.Dir(u.file("prisms/one.yaml", oneYAML))
		u.file("prisms/two.yaml", "slug: two\nfield: []\n")
		u.run("prisms", "apply", "-f", folder, "--yes").want(exitInvalid, `two.yaml:2: has no member "field"`)
		u.run("prisms", "get", "one").want(exitNotFound, "")
	})
	t.Run("one prism in two files is refused", func(t *testing.T) {
		t.Parallel()
		u := newUser(t)
		u.run("prisms", "apply", "-f", u.file("a.yaml", oneYAML), "-f", u.file("b.yaml", oneYAML)).want(exitInvalid, "b.yaml:1: one is defined in ")
	})
	t.Run("a name changes without a version", func(t *testing.T) {
		t.Parallel()
		u := newUser(t)
		u.ok("prisms", "apply", "-f", u.file("one.yaml", oneYAML), "-y")
		for _, step := range []struct{ yaml, name, diff string }{
			{strings.ReplaceAll(oneYAML, "name: One", "name: Uno"), "Uno", "  - name: One\n  + name: Uno\n"},
			{strings.ReplaceAll(oneYAML, "name: One\n", ""), "", "  - name: Uno\n"},
		} {
			shown := u.ok("prisms", "apply", "-f", u.file("one.yaml", step.yaml), "-y")
			if !strings.Contains(shown, step.diff) || !strings.HasPrefix(shown, "one: rename\n") {
				t.Errorf("shown is\n%s", shown)
			}
			p, err := u.client().ReadPrism(t.Context(), "one")
			if err != nil || p.LatestVersion != 1 || (p.Name == nil) != (step.name == "") || p.Name != nil && *p.Name != step.name {
				t.Errorf("got %+v, %v", p, err)
			}
			if again := u.ok("prisms", "apply", "-f", u.file("one.yaml", step.yaml), "-y"); again != "one: unchanged\n" {
				t.Errorf("again: %s", again)
			}
		}
	})
	// A change that arrives between the last look of apply and its own change.
	t.Run("a prism that somebody else changes at the same moment is not overwritten", func(t *testing.T) {
		t.Parallel()
		for what, yaml := range map[string]string{
			"a version": strings.ReplaceAll(oneYAML, "good?", "fine?"),
			"a Lens":    oneYAML + "lens: {columns: [{name: mine, question: good, show: answer}]}\n",
			"both, with a name": strings.ReplaceAll(oneYAML, "name: One", "name: Uno") +
				"lens: {columns: [{name: mine, question: good, show: answer}]}\n",
		} {
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				u := newUser(t)
				u.ok("prisms", "apply", "-f", u.file("one.yaml", oneYAML), "-y")
				theirs := client.Lens{Columns: []client.Column{{Name: "theirs", Question: "good", Show: client.ShowAnswer}}}
				to, err := url.Parse(server.URL)
				if err != nil {
					t.Fatal(err)
				}
				forward := httputil.NewSingleHostReverseProxy(to)
				front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("If-Match") != "" {
						if _, err := u.client().ReplaceLens(t.Context(), "one", theirs); err != nil {
							t.Error(err)
						}
					}
					forward.ServeHTTP(w, r)
				}))
				u.env["PRISM_URL"] = front.URL
				u.run("prisms", "apply", "-f", u.file("one.yaml", yaml), "-y").want(exitConflict, "one: This prism was changed.")
				front.Close()
				p, err := u.client().ReadPrism(t.Context(), "one")
				if err != nil || p.LatestVersion != 1 || *p.Name != "One" || len(p.Lens.Columns) != 1 || p.Lens.Columns[0].Name != "theirs" {
					t.Errorf("got %+v, %v", p, err)
				}
			})
		}
	})
	t.Run("an empty folder prunes nothing", func(t *testing.T) {
		t.Parallel()
		u := newUser(t)
		u.ok("prisms", "apply", "-f", u.file("one.yaml", oneYAML), "-y")
		u.run("prisms", "apply", "-f", t.TempDir(), "--prune", "--yes").want(exitUsage, "there is no prism in")
		if p, err := u.client().ReadPrism(t.Context(), "one"); err != nil || p.ArchivedAt != nil {
			t.Errorf("got %+v, %v", p, err)
		}
	})
	t.Run("a prism that somebody else changed since is not touched", func(t *testing.T) {
		t.Parallel()
		u := newUser(t)
		c, ctx := u.client(), t.Context()
		u.ok("prisms", "apply", "-f", u.file("one.yaml", oneYAML), "-y")
		mine, err := definition.Decode("f", []byte(strings.ReplaceAll(oneYAML, "good?", "fine?")))
		if err != nil {
			t.Fatal(err)
		}
		lens := client.Lens{Columns: []client.Column{{Name: "x", Question: "good", Show: client.ShowAnswer}}}
		for name, change := range map[string]func() error{
			"a version": func() error {
				_, err := c.CreateVersion(ctx, "one", mine[0].Prism.NewVersion)
				return err
			},
			"a Lens":     func() error { _, err := c.ReplaceLens(ctx, "one", lens); return err },
			"an archive": func() error { _, err := c.ArchivePrism(ctx, "one"); return err },
			"a name":     func() error { _, err := c.RenamePrism(ctx, "one", "Another"); return err },
		} {
			if _, err := c.UnarchivePrism(ctx, "one"); err != nil {
				t.Fatal(err)
			}
			other, err := definition.Decode("f", []byte(strings.ReplaceAll(oneYAML, "good?", name+"?")))
			if err != nil {
				t.Fatal(err)
			}
			changes, err := apply.Plan(ctx, c, other, false, nil)
			if err != nil || len(changes) != 1 {
				t.Fatal(changes, err)
			}
			if err := change(); err != nil {
				t.Fatal(err)
			}
			if err := changes[0].Do(ctx, c); !errors.Is(err, apply.ErrChanged) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("a diff is painted on a terminal, and not with NO_COLOR", func(t *testing.T) {
		t.Parallel()
		u := newUser(t)
		u.person = true
		file := u.file("one.yaml", oneYAML)
		if got := u.ok("prisms", "apply", "-f", file, "--dry-run"); !strings.Contains(got, "\x1b[32m+ slug: one\x1b[0m") {
			t.Errorf("got %q", got)
		}
		for name, value := range map[string]string{"NO_COLOR": "1", "TERM": "dumb"} {
			u.env[name] = value
			if got := u.ok("prisms", "apply", "-f", file, "--dry-run"); strings.Contains(got, "\x1b") {
				t.Errorf("%s: got %q", name, got)
			}
			delete(u.env, name)
		}
	})
}
