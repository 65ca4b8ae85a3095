package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const pythonWidth = 130

var (
	nulls    = regexp.MustCompile(`\b[nN]ull\b`)
	noBody   = regexp.MustCompile(` Send no body;[^.]*\.`)
	statuses = map[string]string{"a 404": "a NotFoundError", "a 409": "a ConflictError"}
)

// docstring is a description as Python has it.
func docstring(text string, indent int) string {
	text = noBody.ReplaceAllString(nulls.ReplaceAllString(strings.ReplaceAll(text, "`", ""), "None"), "")
	for status, class := range statuses {
		text = strings.ReplaceAll(text, status+" ", class+" ")
		text = strings.ReplaceAll(text, status+".", class+".")
		text = strings.ReplaceAll(text, status+",", class+",")
	}
	var paragraphs []string
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(text, `\`, `\\`), "\n\n") {
		paragraphs = append(paragraphs, strings.Join(wrapped(paragraph, pythonWidth-indent-6), "\n"+strings.Repeat(" ", indent)))
	}
	all := strings.Join(paragraphs, "\n\n"+strings.Repeat(" ", indent))
	if strings.Contains(all, "\n") {
		all += "\n" + strings.Repeat(" ", indent)
	}
	return `"""` + all + `"""`
}

// wrapped is a text in lines.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// texts are the texts of a list, or the one text.
func texts(v any) []string {
	switch v := v.(type) {
	case []string:
		return slices.Clone(v)
	case []any:
		var all []string
		for _, one := range v {
			all = append(all, fmt.Sprint(one))
		}
		return all
	case nil:
		return nil
	}
	return []string{fmt.Sprint(v)}
}
