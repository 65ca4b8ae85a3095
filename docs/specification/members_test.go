package specification_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
)

var (
	// membersTable is a table of all members of an object of the OpenAPI document, which is generated from the declarations of package api.
	membersTable = regexp.MustCompile(`(?m)^<!-- members of (\w+) -->\n\| Member .*\n.*\n((?:\|.*\n)+)`)
	firstCell    = regexp.MustCompile(`(?m)^\|([^|]*)\|`)
	memberName   = regexp.MustCompile("`([a-z0-9_]+)`")
)

func TestTablesHaveTheMembersThatAreDeclared(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../services/gateway/internal/apidoc/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	pages, err := fs.Glob(os.DirFS("."), "*.md")
	if err != nil {
		t.Fatal(err)
	}
	tables := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range membersTable.FindAllStringSubmatch(string(text), -1) {
			tables++
			var got []string
			for _, cell := range firstCell.FindAllStringSubmatch(table[2], -1) {
				for _, name := range memberName.FindAllStringSubmatch(cell[1], -1) {
					got = append(got, name[1])
				}
			}
			slices.Sort(got)
			if want := slices.Sorted(maps.Keys(document.Components.Schemas[table[1]].Properties)); !slices.Equal(got, want) {
				t.Errorf("%s: the table of %s has %q, its members are %q", page, table[1], got, want)
			}
		}
	}
	if tables < 13 {
		t.Errorf("only %d tables of members were found", tables)
	}
}
