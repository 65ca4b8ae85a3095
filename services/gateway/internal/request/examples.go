package request

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// The problems of examples (spec: version-examples).
const (
	textNoAnswer        = "send at least one answer"
	textField           = "Unknown field"
	textTooManyBytes    = "must have at most %d bytes of JSON together"
	textExpectedLabel   = "Expected a label, received "
	maxFieldDefinitions = 50
)

// examples reads the examples of a version: at most 40 of {fields, answers, result_id?}, of 256 KiB together (spec: version-examples).
// Fields or questions of the definition that are nil have problems, and examples are not compared with them.
func (r *reader) examples(m memberReader, it item, d prism.Definition) []prism.Example {
	before := len(r.problems)
	items := m.items(r, it)
	examples := make([]prism.Example, 0, len(items))
	for _, it := range items {
		examples = append(examples, r.example(m.object, it, d))
	}
	if len(r.problems) == before {
		if encoded, err := strictjson.Marshal(examples); err != nil || len(encoded) > prism.MaxExampleBytes {
			r.addBound(it.path, textTooManyBytes, prism.MaxExampleBytes)
		}
	}
	return examples
}

func (r *reader) example(s *structReader, it item, d prism.Definition) (e prism.Example) {
	if !r.is(it, kindObject) {
		return e
	}
	if fields := it.at("fields"); r.is(fields, kindObject) {
		e.Fields = r.exampleFields(fields, d)
	}
	if answers := it.at("answers"); r.is(answers, kindObject) {
		e.Answers = r.exampleAnswers(answers, d)
	}
	s.some(r, it, &e, "result_id")
	return e
}

// exampleFields reads a value for each field, as a call sends them, and puts them into the order of the version.
func (r *reader) exampleFields(it item, d prism.Definition) prism.ExampleFields {
	f := it.fields
	if len(f.sent) > maxFieldDefinitions {
		r.addBound(it.path, textTooManyMembers, maxFieldDefinitions)
		return nil
	}
	sent := map[string]string{}
	for _, s := range f.sent {
		name := string(f.plain(s))
		path := it.child(name)
		switch known := slices.ContainsFunc(d.Fields, func(f prism.Field) bool { return f.Key == name }); {
		case d.Fields != nil && !known:
			r.add(path, textField)
		case s.first != '"':
			r.add(path, textType(kindString, kindOf(s.first)))
		default:
			value, clean := unquote(f.text(s.value))
			r.checkString(path, value, clean, 0, maxField)
			sent[name] = value
			continue
		}
		sent[name] = ""
	}
	if f.uncleanName > 0 {
		r.add(it.path, textUnclean)
	}
	values := make(prism.ExampleFields, 0, len(d.Fields))
	for _, field := range d.Fields {
		value, ok := sent[field.Key]
		if !ok {
			r.add(it.child(field.Key), textRequired)
		}
		values = append(values, prism.FieldValue{Key: field.Key, Value: value})
	}
	return values
}

// sentLabel is a member of the answers of an example, as it was sent.
type sentLabel struct {
	question string
	value    []byte
}

// exampleAnswers reads labels of questions, and puts them into the order of the version.
func (r *reader) exampleAnswers(it item, d prism.Definition) prism.ExampleAnswers {
	sent, unclean := labelsIn(it.text)
	switch {
	case len(sent) > maxQuestions:
		r.addBound(it.path, textTooManyMembers, maxQuestions)
		return nil
	case len(sent) == 0 && !unclean:
		r.add(it.path, textNoAnswer)
	}
	answers := make(prism.ExampleAnswers, 0, len(sent))
	for _, l := range sent {
		path := it.child(l.question)
		q, known := d.Question(l.question)
		if d.Questions == nil || !known {
			if d.Questions != nil {
				r.add(path, textQuestion)
			}
			continue
		}
		if value, ok := r.exampleLabel(path, q, l.value); ok {
			answers = append(answers, prism.NewExampleAnswer(q, value))
		}
	}
	if unclean {
		r.add(it.path, textUnclean)
	}
	place := func(a prism.ExampleAnswer) int {
		return slices.IndexFunc(d.Questions, func(q prism.Question) bool { return q.Key == a.Question })
	}
	slices.SortFunc(answers, func(a, b prism.ExampleAnswer) int { return place(a) - place(b) })
	return answers
}

// exampleLabel reads a label of a question as its type does: a string, a boolean, or a list if labels of the type are lists.
func (r *reader) exampleLabel(path string, q prism.Question, sent []byte) (value string, ok bool) {
	switch kind := kindOf(sent[0]); kind {
	case kindString:
		s, clean := unquote(sent)
		if !r.checkString(path, s, clean, 1, maxLabel) {
			return "", false
		}
	case kindBoolean, kindArray:
	default:
		r.add(path, textExpectedLabel+string(kind))
		return "", false
	}
	value, problem := q.ReadLabel(prism.ExampleAnswer{Value: sent}.Text())
	if problem != "" {
		r.add(path, problem)
	}
	return value, problem == ""
}

// labelsIn are the members of an object in the order sent. Of equal names the last value counts. unclean tells whether there was a name
// with NUL or an unpaired surrogate.
func labelsIn(object []byte) (sent []sentLabel, unclean bool) {
	d := strictjson.NewDecoder(bytes.NewReader(object), strictjson.AllowDuplicateNames(true), strictjson.AllowInvalidUTF8(true))
	places := map[string]int{}
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	for d.PeekKind() == '"' {
		quoted, err := d.ReadValue()
		if err != nil {
			break
		}
		name, clean := unquote(quoted)
		value, err := d.ReadValue()
		if err != nil {
			break
		}
		value = value.Clone()
		if kindOf(value[0]) == kindArray {
			_ = value.Compact() // it is JSON
		}
		at, twice := places[name]
		switch {
		case !clean:
			unclean = true
		case twice:
			sent[at].value = value
		default:
			places[name] = len(sent)
			sent = append(sent, sentLabel{name, value})
		}
	}
	return sent, unclean
}

// What is read of an example is read by reader.example.
func readNothing(*reader, item, reflect.Value) {}

var (
	exampleFieldsReader  = valueReader{shape: &shape{fields: true}, read: readNothing}
	exampleAnswersReader = valueReader{shape: &shape{whole: true}, read: readNothing}
)
