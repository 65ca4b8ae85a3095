package specification_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/prism-results/prism/pkg/build"
)

// What a release consists of has its version.
func TestEverythingOfAReleaseHasItsVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, version string }{
		{"charts/prism/Chart.yaml", `(?m)^version: (\S+)$`},
		{"charts/prism/Chart.yaml", `(?m)^appVersion: "(\S+)"$`},
		{"client/typescript/package.json", `(?m)^  "version": "(\S+)",$`},
		{"client/typescript/package-lock.json", `(?m)^  "version": "(\S+)",$`},
		{"client/python/pyproject.toml", `(?m)^version = "(\S+)"$`},
		{"CHANGELOG.md", `(?m)^## (\d\S*) - \d{4}-\d{2}-\d{2}$`}, // the first one is the newest
	} {
		text, err := os.ReadFile("../../" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(c.version).FindSubmatch(text); found == nil || string(found[1]) != build.Version {
			t.Errorf("%s: %q, want the version %s", c.file, found, build.Version)
		}
	}
}
