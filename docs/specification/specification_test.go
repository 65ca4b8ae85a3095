// Package specification_test keeps the rules of this folder and the repository's citations of them in step.
package specification_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// folder holds the rules, seen from the top of the repository.
const folder = "docs/specification"

var (
	heading = regexp.MustCompile(`(?m)^### (.+)$`)
	name    = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	link    = regexp.MustCompile(`\]\(([a-z]*)(?:\.md)?#([a-z0-9-]+)\)`)
	// citation is `spec: name` or `spec: name, name`.
	citation = regexp.MustCompile(`\bspec: ([A-Za-z0-9-]+(?:, [A-Za-z0-9-]+)*)`)
	// byNumber is a citation of a section by its number, as in "contract 7" or "decisions 3".
	byNumber = regexp.MustCompile(`(?i)\b(contract|decisions|design)(, decision)?,? \(?(section )?([1-9]|10)\b`)
)

// comments are the beginnings of comments by the ending of a file. In Markdown, and in Python with its docstrings, all text counts.
var comments = map[string]string{
	".go": "//", ".ts": "//", ".tsx": "//", ".js": "//", ".mjs": "//", ".py": "", ".md": "",
	".sql": "--", ".yaml": "#", ".yml": "#", ".sh": "#",
}

// TestSpecification holds the whole repository against the rules.
func TestSpecification(t *testing.T) {
	t.Parallel()
	for _, problem := range problems(t, os.DirFS("../..")) {
		t.Error(problem)
	}
}

func TestProblemsAreFound(t *testing.T) {
	t.Parallel()
	const rules = "### one-rule\nText, see [it](#one-rule).\n\n### second\nText, see [first](page.md#one-rule).\n"
	held := "package x\n\n// spec: one-rule, second\n"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{name: "nothing", files: map[string]string{"a/a_test.go": held}},
		{
			name:  "a rule without a test",
			files: map[string]string{"a/a.go": held, "a/a_test.go": "// (spec: second).\n"},
			want:  []string{"no test cites one-rule"},
		},
		{
			name:  "a test of the front end is a test",
			files: map[string]string{"a/a.test.tsx": held},
		},
		{
			name:  "a test suite in a package of its own is a test",
			files: map[string]string{"a/locktest/suite.go": held},
		},
		{
			name: "a citation of an unknown rule",
			files: map[string]string{
				"a/a_test.go": held, "b.sql": "select 1; -- spec: tird\n", "c.md": "It is so (spec: second, forth).\n",
				"d.yaml": "spec: other # spec: fifth\n",
			},
			want: []string{
				"b.sql cites tird, which is no rule", "c.md cites forth, which is no rule", "d.yaml cites fifth, which is no rule",
			},
		},
		{
			name:  "a citation over two lines of a comment",
			files: map[string]string{"a/a_test.go": held, "a/a.go": "\t// As it is (spec: second,\n\t// sixth).\n"},
			want:  []string{"a/a.go cites sixth, which is no rule"},
		},
		{
			name:  "code that looks like a citation",
			files: map[string]string{"a/a_test.go": held + "var _ = T{spec: value}\n"},
		},
		{
			name: "a section cited by its number",
			files: map[string]string{
				"a/a_test.go": held, "a/a.go": "// Held by contract 7.\n", "b/b.go": "// As it is (Decisions\n// 10).\n",
				"c.md": "OpenAI's decisions 200 options.\n",
			},
			want: []string{`a/a.go cites "contract 7" by number`, `b/b.go cites "Decisions 10" by number`},
		},
		{
			name:  "a rule with two headings",
			files: map[string]string{"a/a_test.go": held, folder + "/other.md": "### second\nText.\n"},
			want:  []string{"second is the name of two rules"},
		},
		{
			name:  "a heading that is not a name",
			files: map[string]string{"a/a_test.go": held, folder + "/other.md": "### Third Rule\nText.\n"},
			want:  []string{`other.md: "Third Rule" is not a kebab-case name`},
		},
		{
			name:  "a link to a rule that does not exist",
			files: map[string]string{"a/a_test.go": held, folder + "/other.md": "[x](page.md#third) [y](#second)\n"},
			want:  []string{"other.md links to other.md#second", "other.md links to page.md#third"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			repository := fstest.MapFS{folder + "/page.md": {Data: []byte(rules)}}
			for file, text := range tt.files {
				repository[file] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := problems(t, repository); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// problems holds the files of a repository against the rules in its folder.
func problems(t *testing.T, repository fs.FS) []string {
	t.Helper()
	rules, found := readRules(t, repository)
	held := map[string]bool{}
	eachFile(t, repository, func(file, text string) {
		if path.Dir(file) == folder || slices.Contains(strings.Split(path.Dir(file), "/"), "testdata") {
			return
		}
		prose := commentsOf(text, comments[path.Ext(file)])
		for _, m := range byNumber.FindAllString(prose, -1) {
			found = append(found, file+` cites "`+m+`" by number`)
		}
		for _, m := range citation.FindAllStringSubmatch(prose, -1) {
			for cited := range strings.SplitSeq(m[1], ", ") {
				if _, ok := rules[cited]; !ok {
					found = append(found, file+" cites "+cited+", which is no rule")
				}
				held[cited] = held[cited] || isTest(file)
			}
		}
	})
	for rule := range rules {
		if !held[rule] {
			found = append(found, "no test cites "+rule)
		}
	}
	slices.Sort(found)
	return found
}

// readRules returns the page of each rule, and what is wrong with the pages themselves.
func readRules(t *testing.T, repository fs.FS) (rules map[string]string, found []string) {
	t.Helper()
	pages, err := fs.Glob(repository, folder+"/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no page of the specification: %v", err)
	}
	rules, texts := map[string]string{}, map[string]string{}
	for _, file := range pages {
		text, err := fs.ReadFile(repository, file)
		if err != nil {
			t.Fatal(err)
		}
		page := path.Base(file)
		texts[page] = string(text)
		for _, m := range heading.FindAllStringSubmatch(string(text), -1) {
			switch _, twice := rules[m[1]]; {
			case !name.MatchString(m[1]):
				found = append(found, page+`: "`+m[1]+`" is not a kebab-case name`)
			case twice:
				found = append(found, m[1]+" is the name of two rules")
			default:
				rules[m[1]] = page
			}
		}
	}
	for page, text := range texts {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target := page
			if m[1] != "" {
				target = m[1] + ".md"
			}
			if rules[m[2]] != target {
				found = append(found, page+" links to "+target+"#"+m[2])
			}
		}
	}
	return rules, found
}

// commentsOf is the text of a file's comments, with the lines of one comment joined by spaces.
func commentsOf(text, comment string) string {
	if comment == "" {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if _, after, ok := strings.Cut(line, comment); ok {
			b.WriteString(strings.TrimSpace(after) + " ")
		} else {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// isTest tells whether a file is a test, or belongs to a package that holds a suite of tests.
func isTest(file string) bool {
	name := path.Base(file)
	return strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "test_") && strings.HasSuffix(name, ".py") ||
		strings.HasSuffix(name, ".test.ts") || strings.HasSuffix(name, ".test.tsx") ||
		strings.HasSuffix(path.Base(path.Dir(file)), "test")
}

// eachFile visits the files whose comments count, but for what builds make and what tools keep.
func eachFile(t *testing.T, repository fs.FS, visit func(file, text string)) {
	t.Helper()
	err := fs.WalkDir(repository, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := path.Base(file); d.IsDir() && base != "." && (base == "node_modules" || base == "bin" || strings.HasPrefix(base, ".")) {
			return fs.SkipDir
		}
		if _, ok := comments[path.Ext(file)]; !ok || d.IsDir() {
			return nil
		}
		text, err := fs.ReadFile(repository, file)
		if err == nil {
			visit(file, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
