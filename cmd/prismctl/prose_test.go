package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheCommandsInSentences holds that prismctl has the commands and flags that the pages name between other words. Those in blocks are run by
// TestGuides.
func TestTheCommandsInSentences(t *testing.T) {
	t.Parallel()
	var pages []string
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/specification/*.md", "docs/runbooks/*.md", "client/README.md", "client/*/README.md"} {
		found, err := filepath.Glob("../../" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	block := regexp.MustCompile("(?ms)^ *```.*?^ *```")
	span := regexp.MustCompile("`(prismctl )?([a-z][^`]* [^`]*)`")
	commands := map[string]bool{}
	for _, c := range newApp().root().Commands() {
		commands[c.Name()] = true
	}
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range span.FindAllStringSubmatch(block.ReplaceAllString(string(text), ""), -1) {
			line, _, _ := strings.Cut(match[2], "|") // what a shell does with its output
			words := strings.Fields(line)
			// The page of prismctl leaves its name out.
			if match[1] != "" || filepath.Base(page) == "prismctl.md" && commands[words[0]] {
				found++
				checkCommand(t, page, words)
			}
		}
	}
	if found < 60 {
		t.Errorf("%d commands were found", found)
	}
}

// checkCommand checks the words behind prismctl.
func checkCommand(t *testing.T, page string, words []string) {
	t.Helper()
	c, rest, err := newApp().root().Find(words)
	if err != nil || c.HasSubCommands() && len(rest) > 0 && !strings.Contains(c.Use, " ") {
		t.Errorf("%s names prismctl %s, which is no command: %v", page, strings.Join(words, " "), err)
		return
	}
	for _, word := range rest {
		name, long := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(name, "=")
		short, is := strings.CutPrefix(word, "-")
		if word == "--help" { // which cobra adds when a command runs
			continue
		}
		if long && c.Flag(name) == nil || !long && is && c.Flags().ShorthandLookup(short) == nil && c.InheritedFlags().ShorthandLookup(short) == nil {
			t.Errorf("%s names prismctl %s, which has no %s", page, strings.Join(words, " "), word)
		}
	}
}
