package tables

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/prism-results/prism/services/results/internal/tabular"
)

// inWords is a name of a program as people read it: topic_probability is "Topic probability". What a person has written, with a space or
// an upper case letter, stays (spec: xlsx-headings).
func inWords(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r == ' ' || unicode.IsUpper(r) }) {
		return name
	}
	words := strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' }), " ")
	if words == "" {
		return name
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// withHeadings gives columns whose heading a column before them has, whatever the case, a number: "Status (2)".
func withHeadings(before, columns []tabular.Column) []tabular.Column {
	taken := map[string]bool{}
	for _, c := range before {
		taken[strings.ToLower(c.Name)] = true
	}
	for i := range columns {
		heading := columns[i].Name
		for n := 2; taken[strings.ToLower(heading)]; n++ {
			heading = columns[i].Name + " (" + strconv.Itoa(n) + ")"
		}
		columns[i].Name = heading
		taken[strings.ToLower(heading)] = true
	}
	return columns
}
