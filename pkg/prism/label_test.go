package prism_test

import (
	"testing"

	"github.com/prism-results/prism/pkg/prism"
)

// spec: label-value
func TestALabelIsReadAsPeopleWriteIt(t *testing.T) {
	t.Parallel()
	level := func(key, label string, value float64) prism.Level {
		return prism.Level{Key: key, Label: label, Value: &value}
	}
	scale := func(levels ...prism.Level) prism.Question { return prism.Question{Type: prism.Scale, Levels: levels} }
	anger := scale(level("calm", "Calm", 1), level("annoyed", "A bit annoyed", 2), level("furious", "Furious", 3.5))
	const angers = "Expected 'calm' | 'annoyed' | 'furious'"
	topic := prism.Question{Type: prism.Choice, Options: []prism.Option{
		{Key: "bill", Label: "Billing"}, {Key: "BILL", Label: "The bill"}, {Key: "address", Label: "Änderung"}, {Key: "other", Label: "address"},
	}}
	const topics = "Expected 'bill' | 'BILL' | 'address' | 'other'"
	for _, c := range []struct {
		name     string
		question prism.Question
		text     string
		want     string
	}{
		{"a key", anger, "calm", "calm"},
		{"a label", anger, "A bit annoyed", "annoyed"},
		{"a key in another case", anger, "CALM", "calm"},
		{"a label in another case", anger, " a bit Annoyed ", "annoyed"},
		{"a value", anger, "1", "calm"},
		{"a value with a point", anger, "3.5", "furious"},
		{"a value as a spreadsheet writes it", anger, "2.0", "annoyed"},
		{"no value", anger, "3", angers},
		{"a number that is not decimal", anger, "0x1", angers},
		{"no number", anger, "NaN", angers},
		{"an empty text", anger, "", angers},
		{"a number of levels that are called numbers", scale(level("a", "0", 1), level("b", " 1 ", 2), level("c", "2", 3)), "1", "b"},
		{"a value of levels that are called numbers", scale(level("a", "0", 1), level("b", " 1 ", 2), level("c", "2", 3)), "3", "Expected 'a' | 'b' | 'c'"},
		{"a value of levels with numbers as keys", scale(level("10", "Low", 1), level("20", "High", 2)), "2", "Expected '10' | '20'"},
		{"a key before the other in another case", topic, "BILL", "BILL"},
		{"two keys in another case", topic, "Bill", topics},
		{"a key before a label", topic, "address", "address"},
		{"a key and another label in another case", topic, "Address", topics},
		{"a letter outside ASCII", topic, "änderung", "address"},
		{"a place of an option", topic, "1", topics},
	} {
		got, problem := c.question.ReadLabel(c.text)
		if got+problem != c.want {
			t.Errorf("%s: %q is %q, %q, want %q", c.name, c.text, got, problem, c.want)
		}
	}
}
