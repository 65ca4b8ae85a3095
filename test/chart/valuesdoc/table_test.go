package main

import (
	"os"
	"strings"
	"testing"
)

func TestTableHasARowForEachValue(t *testing.T) {
	t.Parallel()
	const values = `# About the file.

# A
# text.
plain: "x|y"
# A group.
group:
  # A map that is a value.
  flow: {b: [1, "two"], a: null}
  deep:
    # A list.
    list:
      - {k: v}
      - 2
# Empty, so a value.
empty: {}
`
	const want = "| value | meaning | default |\n|---|---|---|\n" +
		"| `plain` | A text. | `\"x\\|y\"` |\n" +
		"| **`group`** | A group. |  |\n" +
		"| `group.flow` | A map that is a value. | `{b: [1, \"two\"], a: null}` |\n" +
		"| `group.deep.list` | A list. | `[{k: \"v\"}, 2]` |\n" +
		"| `empty` | Empty, so a value. | `{}` |\n"
	got, err := Table([]byte(values))
	if err != nil || string(got) != want {
		t.Errorf("%v\ngot\n%s\nwant\n%s", err, got, want)
	}
}

func TestAValueWithoutACommentIsAnError(t *testing.T) {
	t.Parallel()
	_, err := Table([]byte("# A group.\ngroup:\n  a: 1\n  # Said.\n  b: 2\n"))
	if err == nil || err.Error() != "line 3: group.a has no comment" {
		t.Errorf("got %v", err)
	}
}

func TestTheReadmeIsFresh(t *testing.T) { //nolint:paralleltest // it changes the working directory
	t.Chdir("../../../charts/prism")
	if err := run([]string{"-check"}); err != nil {
		t.Error(err)
	}
	if err := run([]string{"-nope"}); err == nil {
		t.Error("a flag that there is not was taken")
	}
}

func TestRunWritesTheTableOnceAndFindsItStaleAfterAChange(t *testing.T) { //nolint:paralleltest // it changes the working directory
	t.Chdir(t.TempDir())
	write(t, readmeFile, begin+end)
	write(t, valuesFile, "# A.\na: 1\n")
	if err := run([]string{"-check"}); err == nil || !strings.Contains(err.Error(), "run valuesdoc without -check") {
		t.Errorf("got %v", err)
	}
	for range 2 {
		if err := run(nil); err != nil {
			t.Fatal(err)
		}
		if err := run([]string{"-check"}); err != nil {
			t.Error(err)
		}
	}
	write(t, valuesFile, "# A.\na: 2\n")
	if err := run([]string{"-check"}); err == nil {
		t.Error("a stale table was taken for fresh")
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
