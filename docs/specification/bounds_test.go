package specification_test

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// boundsPage has a section of what callers take: a table of bounds, and for each operation the names of those that it takes.
const boundsPage = "SECURITY.md"

var (
	boundsSection = regexp.MustCompile(`(?s)\n## What callers take\n(.*?)\n## `)
	// boundRow is the name of what is taken, its bound, its rules, and the tests that hold it.
	anyBound = regexp.MustCompile(`(?m)^\| [a-z]`)
	boundRow = regexp.MustCompile(`(?m)^\| ([a-z][a-z ]*) \| (.*) \| (.*) \| (.*) \|$`)
	// operationRow is an operation, the class of its place, and what else it takes.
	operationRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([a-z]+) \\| (.*) \\|$")
	ruleLink     = regexp.MustCompile(`\]\(docs/specification/([a-z]+\.md)#([a-z0-9-]+)\)`)
	testName     = regexp.MustCompile("`(\\w+)`")
	// declaration is a test in Go or Python, or a function of tests that has cases.
	declaration = regexp.MustCompile(`(?m)^func (?:\(.*?\) )?(\w+)\(|^\s*(?:async )?def (test_\w+)\(`)
)

// TestBoundsNameRulesAndTests holds the bounds of SECURITY.md against the rules and the tests of the repository. The test that holds its
// classes of operations against the code is TestEveryOperationHasItsClassInSecurity.
func TestBoundsNameRulesAndTests(t *testing.T) {
	t.Parallel()
	for _, problem := range boundProblems(t, os.DirFS("../..")) {
		t.Error(problem)
	}
}

func TestProblemsOfBoundsAreFound(t *testing.T) {
	t.Parallel()
	const (
		row        = "| body | 1 MiB | [one-rule](docs/specification/page.md#one-rule) | `TestBody` |\n"
		operations = "| | place | takes too |\n|---|---|---|\n| `readIt` | keyed | body |\n"
	)
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{name: "nothing", text: row + operations},
		{name: "the head of a group", text: "| **bytes** | | | |\n" + row + operations},
		{
			name: "a rule that is none", text: strings.Replace(row, "#one-rule", "#other", 1) + operations,
			want: []string{"body links to page.md#other, which is no rule"},
		},
		{
			name: "a rule of another page", text: strings.Replace(row, "page.md", "other.md", 1) + operations,
			want: []string{"body links to other.md#one-rule, which is no rule"},
		},
		{
			name: "a test that is none", text: strings.Replace(row, "TestBody", "TestNothing", 1) + operations,
			want: []string{"body is held by TestNothing, which is no test"},
		},
		{
			name: "a function that is no test", text: strings.Replace(row, "TestBody", "Serve", 1) + operations,
			want: []string{"body is held by Serve, which is no test"},
		},
		{name: "cases of a suite", text: strings.Replace(row, "TestBody", "cases", 1) + operations},
		{
			name: "a row without a rule and a test", text: "| body | 1 MiB | – | – |\n" + operations,
			want: []string{"body has no rule", "body is held by no test"},
		},
		{name: "a row without a column", text: row + "| head | 16 KiB | |\n" + operations, want: []string{"1 rows of 2 have a name, a bound, rules and tests"}},
		{name: "a bound twice", text: row + row + operations, want: []string{"body has two rows"}},
		{
			name: "an operation that takes what has no bound", text: row + strings.Replace(operations, "| body |", "| body, ghosts |", 1),
			want: []string{"readIt takes ghosts, which has no row"},
		},
		{name: "an operation that takes nothing else", text: row + strings.Replace(operations, "| body |", "| – |", 1)},
		{
			name: "no operation", text: row,
			want: []string{"no operation has a row"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			repository := fstest.MapFS{
				folder + "/page.md": {Data: []byte("### one-rule\nText.\n")},
				boundsPage:          {Data: []byte("# Security\n| from | a | b | c |\n\n## What callers take\n" + tt.text + "\n## Other\n| x | a | b | c |\n")},
				"a/a_test.go":       {Data: []byte("package a\n\nfunc TestBody(t *testing.T) {}\n")},
				"a/a.go":            {Data: []byte("package a\n\nfunc Serve() {}\n")},
				"atest/suite.go":    {Data: []byte("package atest\n\nfunc cases() {}\n")},
			}
			if got := boundProblems(t, repository); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// boundProblems holds the bounds of a repository against its rules and tests.
func boundProblems(t *testing.T, repository fs.FS) (found []string) {
	t.Helper()
	text, err := fs.ReadFile(repository, boundsPage)
	if err != nil {
		t.Fatal(err)
	}
	section := boundsSection.Find(text)
	rules, _ := readRules(t, repository)
	tests := testNames(t, repository)
	rows := map[string]bool{}
	bounds := boundRow.FindAllStringSubmatch(string(section), -1)
	if n := len(anyBound.FindAll(section, -1)); n != len(bounds) {
		found = append(found, fmt.Sprintf("%d rows of %d have a name, a bound, rules and tests", len(bounds), n))
	}
	for _, m := range bounds {
		name, links, held := m[1], ruleLink.FindAllStringSubmatch(m[3], -1), testName.FindAllStringSubmatch(m[4], -1)
		if rows[name] {
			found = append(found, name+" has two rows")
		}
		if len(links) == 0 {
			found = append(found, name+" has no rule")
		}
		if len(held) == 0 {
			found = append(found, name+" is held by no test")
		}
		rows[name] = true
		for _, l := range links {
			if rules[l[2]] != l[1] {
				found = append(found, name+" links to "+l[1]+"#"+l[2]+", which is no rule")
			}
		}
		for _, h := range held {
			if !tests[h[1]] {
				found = append(found, name+" is held by "+h[1]+", which is no test")
			}
		}
	}
	operations := operationRow.FindAllStringSubmatch(string(section), -1)
	if len(operations) == 0 {
		found = append(found, "no operation has a row")
	}
	for _, m := range operations {
		for taken := range strings.SplitSeq(m[3], ", ") {
			if taken != "–" && !rows[taken] {
				found = append(found, m[1]+" takes "+taken+", which has no row")
			}
		}
	}
	slices.Sort(found)
	return found
}

// testNames are the functions of tests and of packages of tests.
func testNames(t *testing.T, repository fs.FS) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	eachFile(t, repository, func(file, text string) {
		if !isTest(file) {
			return
		}
		for _, m := range declaration.FindAllStringSubmatch(text, -1) {
			names[m[1]+m[2]] = true
		}
	})
	return names
}
