package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheCommandsOfTheConsole holds that prismctl has the commands and flags that the pages of the console show.
func TestTheCommandsOfTheConsole(t *testing.T) {
	t.Parallel()
	const pages = "../../web/src"
	command := regexp.MustCompile("(?:[`'\"]|<code>)prismctl ([a-z](?:\\$\\{[^{}`]*\\}|[^`'\"<$])*)")
	filled := regexp.MustCompile(`\$?\{[^{}]*\}`)
	found := 0
	err := filepath.WalkDir(pages, func(path string, entry fs.DirEntry, err error) error {
		ext := filepath.Ext(path)
		if err != nil || ext != ".ts" && ext != ".tsx" || strings.Contains(path, ".test.") || strings.Contains(path, "gallery") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, match := range command.FindAllStringSubmatch(string(text), -1) {
			for line := range strings.SplitSeq(match[1], `\nprismctl `) { // a command on each line
				found++
				line = strings.TrimRight(strings.TrimSuffix(line, `\n`), ` .\`)
				c, rest, err := newApp().root().Find(strings.Fields(filled.ReplaceAllString(line, "1")))
				if err != nil || c.HasSubCommands() && !strings.Contains(c.Use, " ") {
					t.Errorf("%s shows prismctl %s, which is no command (%v)", path, line, err)
					continue
				}
				for _, word := range rest {
					name, long := strings.CutPrefix(word, "--")
					short, is := strings.CutPrefix(word, "-")
					if long && c.Flag(name) == nil || !long && is && c.Flags().ShorthandLookup(short) == nil {
						t.Errorf("%s shows prismctl %s, which has no %s", path, line, word)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 15 {
		t.Errorf("%d commands were found", found)
	}
}
