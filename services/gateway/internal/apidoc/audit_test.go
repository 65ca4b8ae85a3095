package apidoc

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// spec: audit-actions
func TestTheDetailsOfTheAuditAreDescribed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/specification/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	schemas := within(within(raw(t), "components"), "schemas")
	detail := within(within(within(schemas, "AuditEntry"), "properties"), "detail")
	described := map[string]bool{}
	walk("", detail, func(_ string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name := range within(v, "properties") {
				described[name] = true
			}
		case string:
			described[v] = true // of an enumeration
		}
	})
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, " | ")
		if len(cells) != 4 || !strings.HasPrefix(line, "| `") || !strings.Contains(cells[0], ".") {
			continue
		}
		rows++
		for _, word := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[3], -1) {
			if !described[word[1]] {
				t.Errorf("%s has a member %s, which the document does not describe", strings.Trim(cells[0], "|` "), word[1])
			}
		}
	}
	if rows < 29 {
		t.Errorf("only %d actions were found", rows)
	}
}
