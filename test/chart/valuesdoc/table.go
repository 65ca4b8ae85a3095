package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The table stands between these lines.
const begin, end = "<!-- values: made from values.yaml -->\n", "<!-- end of values -->\n"

// Insert replaces what stands between the marks of a page.
func Insert(page, table []byte) ([]byte, error) {
	before, rest, found := bytes.Cut(page, []byte(begin))
	_, after, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		return nil, fmt.Errorf("the lines %q and %q are not both there", begin, end)
	}
	return bytes.Join([][]byte{before, []byte(begin), table, []byte(end), after}, nil), nil
}

// Table is a Markdown table of every value with its default and its comment. A value without a comment is an error.
//
// A map with comments inside is a heading for its members; one without is itself a value. The comment of a heading is a
// row of its own, without a default.
func Table(values []byte) ([]byte, error) {
	var page yaml.Node
	if err := yaml.Unmarshal(values, &page); err != nil {
		return nil, err
	}
	if len(page.Content) != 1 || page.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("values are a map")
	}
	w := &writer{}
	w.line("value", "meaning", "default")
	w.out.WriteString("|---|---|---|\n")
	w.members("", page.Content[0])
	return w.out.Bytes(), errors.Join(w.faults...)
}

type writer struct {
	out    bytes.Buffer
	faults []error
}

func (w *writer) members(path string, m *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		name, meaning := path+key.Value, comment(key)
		if heads(value) {
			if meaning != "" {
				w.line("**`"+name+"`**", meaning, "")
			}
			w.members(name+".", value)
			continue
		}
		if meaning == "" {
			w.faults = append(w.faults, fmt.Errorf("line %d: %s has no comment", key.Line, name))
		}
		fallback, err := compact(value)
		if err != nil {
			w.faults = append(w.faults, fmt.Errorf("line %d: %s: %w", key.Line, name, err))
		}
		w.line("`"+name+"`", meaning, "`"+fallback+"`")
	}
}

// heads tells a map that is written over several lines, as headings are, from one that is a value.
func heads(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0
}

// comment is the text right above a key. The first key of a file also gets the file's own comment, a paragraph above.
func comment(key *yaml.Node) string {
	paragraphs := strings.Split(strings.TrimSpace(key.HeadComment), "\n\n")
	var words []string
	for line := range strings.Lines(paragraphs[len(paragraphs)-1]) {
		words = append(words, strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "#"))...)
	}
	return strings.Join(words, " ")
}

// compact is a value on one line, with its members in their order.
func compact(n *yaml.Node) (string, error) {
	switch n.Kind {
	case yaml.MappingNode:
		var members []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			value, err := compact(n.Content[i+1])
			if err != nil {
				return "", err
			}
			members = append(members, n.Content[i].Value+": "+value)
		}
		return "{" + strings.Join(members, ", ") + "}", nil
	case yaml.SequenceNode:
		var items []string
		for _, item := range n.Content {
			value, err := compact(item)
			if err != nil {
				return "", err
			}
			items = append(items, value)
		}
		return "[" + strings.Join(items, ", ") + "]", nil
	default:
		var scalar any
		if err := n.Decode(&scalar); err != nil {
			return "", err
		}
		text, err := json.Marshal(scalar)
		return string(text), err
	}
}

func (w *writer) line(cells ...string) {
	for i, cell := range cells {
		cells[i] = " " + strings.ReplaceAll(cell, "|", `\|`) + " "
	}
	w.out.WriteString("|" + strings.Join(cells, "|") + "|\n")
}
