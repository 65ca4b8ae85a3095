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

var (
	code       = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	anyLink    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	anyHeading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	anchor     = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	dropped    = regexp.MustCompile(`[^\pL\pN_ -]`)
)

func TestEveryLinkOfADocumentLeadsSomewhere(t *testing.T) {
	t.Parallel()
	for _, problem := range broken(t, os.DirFS("../..")) {
		t.Error(problem)
	}
}

func TestLinksThatLeadNowhereAreFound(t *testing.T) {
	t.Parallel()
	repository := fstest.MapFS{
		"README.md": {Data: []byte("# A `b` title, it's\n[page](docs/page.md#a-part) [own](#a-b-title-its) [web](https://example.com/#x)\n" +
			"```\n[in code](none.md)\n```\n[folder](docs) [gone](docs/gone.md) [part](docs/page.md#gone) [own](#gone)\n")},
		"docs/page.md":           {Data: []byte("## A part\n<a id=\"named\"></a> [up](../README.md) [named](#named) [file](../main.go#L3)\n")},
		"main.go":                {},
		"web/node_modules/x.md":  {Data: []byte("[gone](gone.md)")},
		".tools/python/page.md":  {Data: []byte("[gone](gone.md)")},
		"client/python/page.txt": {Data: []byte("[gone](gone.md)")},
	}
	want := []string{"README.md links to docs/gone.md", "README.md links to docs/page.md#gone", "README.md links to #gone"}
	if got := broken(t, repository); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// broken is the links of all pages whose file or heading does not exist.
func broken(t *testing.T, repository fs.FS) (found []string) {
	t.Helper()
	eachFile(t, repository, func(page, text string) {
		if path.Ext(page) != ".md" {
			return
		}
		for _, m := range anyLink.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			if !strings.Contains(m[1], ":") && !leads(repository, page, m[1]) {
				found = append(found, page+" links to "+m[1])
			}
		}
	})
	return found
}

// leads reports whether the file that a page links to exists, and the heading of a link into a page.
func leads(repository fs.FS, page, target string) bool {
	file, fragment, _ := strings.Cut(target, "#")
	if file == "" {
		file = page
	} else {
		file = path.Join(path.Dir(page), file)
	}
	if _, err := fs.Stat(repository, file); err != nil || fragment == "" || path.Ext(file) != ".md" {
		return err == nil
	}
	text, err := fs.ReadFile(repository, file)
	if err != nil {
		return false
	}
	for _, m := range anchor.FindAllStringSubmatch(string(text), -1) {
		if m[1] == fragment {
			return true
		}
	}
	for _, m := range anyHeading.FindAllStringSubmatch(string(text), -1) {
		if fragmentOf(m[1]) == fragment {
			return true
		}
	}
	return false
}

// fragmentOf is the fragment that GitHub gives a heading.
func fragmentOf(title string) string {
	return strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
}
