// Package page writes measured tables into pages of the documentation.
package page

import (
	"fmt"
	"os"
	"strings"
)

// ReplaceIn replaces sections of a page by their names, as Replace.
func ReplaceIn(file string, sections map[string]string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := Replace(string(old), sections)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// Replace replaces the text between <!-- name --> and <!-- end --> for each name.
func Replace(text string, sections map[string]string) (string, error) {
	for name, section := range sections {
		begin := "<!-- " + name + " -->\n"
		before, after, found := strings.Cut(text, begin)
		_, after, closed := strings.Cut(after, "<!-- end -->")
		if !found || !closed {
			return "", fmt.Errorf("the section <!-- %s --> is missing", name)
		}
		text = before + begin + section + "<!-- end -->" + after
	}
	return text, nil
}
