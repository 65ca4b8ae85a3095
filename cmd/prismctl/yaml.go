package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/prism-results/prism/pkg/definition"
)

// writeYAML writes JSON as YAML: the members in the same order, and numbers with the same digits.
func writeYAML(w io.Writer, text []byte) error {
	y := yamlWriter{from: json.NewDecoder(bytes.NewReader(text))}
	y.from.UseNumber()
	if err := y.value(0, ""); err != nil {
		return err
	}
	_, err := y.WriteTo(w)
	return err
}

type yamlWriter struct {
	bytes.Buffer
	from *json.Decoder
}

// value writes the next value and ends its line. after is what stands before the value on the line: nothing, ":" or "-".
func (y *yamlWriter) value(depth int, after string) error {
	token, err := y.from.Token()
	if err != nil {
		return err
	}
	open, several := token.(json.Delim)
	if several && y.from.More() {
		return y.several(open, depth, after)
	}
	text := fmt.Sprint(token)
	switch t := token.(type) {
	case nil:
		text = "null"
	case string:
		text = yamlText(t)
	case json.Delim:
		end, err := y.from.Token()
		if err != nil {
			return err
		}
		text += fmt.Sprint(end)
	}
	if after != "" {
		text = " " + text
	}
	y.WriteString(text + "\n")
	return nil
}

// several writes the members of an object or the items of an array.
func (y *yamlWriter) several(open json.Delim, depth int, after string) error {
	if after == ":" {
		y.WriteByte('\n')
	}
	for i := 0; y.from.More(); i++ {
		if i == 0 && after == "-" {
			y.WriteByte(' ')
		} else {
			y.WriteString(strings.Repeat("  ", depth))
		}
		sign := "-"
		if open == '{' {
			key, err := y.from.Token()
			if err != nil {
				return err
			}
			y.WriteString(yamlText(key.(string)))
			sign = ":"
		}
		y.WriteString(sign)
		if err := y.value(depth+1, sign); err != nil {
			return err
		}
	}
	_, err := y.from.Token()
	return err
}

// yamlText is a text in YAML, in quotes unless YAML reads the bare text as the same text.
func yamlText(text string) string {
	if definition.Plain(text) {
		return text
	}
	var quoted strings.Builder
	quoted.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			quoted.WriteString(`\` + string(r))
		case r == '\n':
			quoted.WriteString(`\n`)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&quoted, `\U%08x`, r)
		default:
			quoted.WriteRune(r)
		}
	}
	quoted.WriteByte('"')
	return quoted.String()
}
