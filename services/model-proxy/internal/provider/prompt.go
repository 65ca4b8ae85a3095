package provider

import (
	"slices"
	"strings"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// appendInput appends what the questions are about as a JSON object: the fields by key, in the version's order, after
// `context` when one was sent. It is JSON in prompts too, so that no value can pass itself off as another field. A field that
// is itself called context keeps its name; the call's context is then `context_`. examples, if there are any, are the first member, as JSON.
func appendInput(b []byte, a contract.Ask, examples []byte) []byte {
	fields := a.Fields
	if a.Context != "" {
		fields = slices.Insert(slices.Clip(fields), 0, prism.FieldValue{Key: freeName("context", fields), Value: a.Context})
	}
	b = append(b, '{')
	if examples != nil {
		b = append(strictjson.AppendString(b, freeName("examples", fields)), ':')
		b = append(b, examples...)
	}
	for i, f := range fields {
		if i > 0 || examples != nil {
			b = append(b, ',')
		}
		b = append(strictjson.AppendString(b, f.Key), ':')
		b = strictjson.AppendString(b, f.Value)
	}
	return append(b, '}')
}

// freeName is a name that no field has.
func freeName(name string, fields []prism.FieldValue) string {
	for slices.ContainsFunc(fields, func(f prism.FieldValue) bool { return f.Key == name }) {
		name += "_"
	}
	return name
}

// inText escapes JSON for the inside of a JSON string.
func inText(raw []byte) []byte {
	quoted := strictjson.AppendString(nil, string(raw))
	return quoted[1 : len(quoted)-1]
}

// Paragraphs joins two texts with an empty line, unless one of them is empty.
func Paragraphs(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n\n" + second
}

// Prompt shows the input and then the questions, each with what about says of it.
func Prompt(questions []prism.Question, describe func(prism.Question) string) string {
	var s strings.Builder
	s.WriteString("Input:\n" + Input + "\n\nQuestions, by their key:\n")
	for _, q := range questions {
		s.WriteString("\n" + q.Key + ": " + q.Text + "\n" + describe(q))
		if q.Type.Classes() == prism.Ordinal {
			s.WriteString("The levels, lowest first:\n")
		}
		for _, m := range q.Members() {
			s.WriteString("- " + m.Key + ": " + m.Text() + "\n")
		}
	}
	return s.String()
}
