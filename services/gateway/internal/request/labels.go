package request

import (
	"reflect"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// The problems of labels (spec: labels-put, labels-add).
const (
	textNoLabel     = "send at least one label"
	textLabel       = "Expected string or boolean, received "
	textLabelOrNull = "Expected string, boolean or null, received "
)

// labelShape is that of a label, which may be a list of texts.
var labelShape = &shape{element: scalar, maxElements: prism.MaxOptions}

// labelsOfQuestions reads {question: label or null}.
func labelsOfQuestions(r *reader, labels item, to reflect.Value) {
	if !r.is(labels, kindObject) {
		return
	}
	if len(labels.fields.sent) == 0 && labels.fields.uncleanName == 0 {
		r.add(labels.path, textNoLabel)
	}
	var all api.LabelsOfQuestions
	r.eachQuestion(labels, func(question string, value item) {
		l := api.QuestionLabel{Question: question}
		if value.hasValue() {
			l.Value = r.label(value, textLabelOrNull)
		}
		all = append(all, l)
	})
	set(to, all)
}

// labelText reads a label that must be sent.
func labelText(r *reader, it item, to reflect.Value) {
	if !it.sent() {
		r.add(it.path, textRequired)
		return
	}
	to.SetString(r.label(it, textLabel))
}

// eachQuestion calls fn with each member of an object whose names are keys of questions, in the order sent. If there are more
// members than a version can have questions, that is the only problem, and fn is not called. All unclean names are one problem.
func (r *reader) eachQuestion(object item, fn func(question string, value item)) {
	f := object.fields
	if len(f.sent) > maxQuestions {
		r.addBound(object.path, textTooManyMembers, maxQuestions)
		return
	}
	for _, s := range f.sent {
		name := string(f.plain(s))
		value := node{text: []byte{s.first}}
		if s.value != (span{}) {
			value, _ = parseJSON(f.text(s.value), labelShape) // a part of what was parsed
		}
		fn(name, item{object.child(name), value, labelShape})
	}
	if f.uncleanName > 0 {
		r.add(object.path, textUnclean)
	}
}

// label reads a label: a string, a boolean as "true" or "false", or an array of strings as its JSON (spec: label-value). expected begins the
// text of the problem of any other type.
func (r *reader) label(it item, expected string) string {
	switch kind := it.kind(); kind {
	case kindString:
		s, _ := r.str(it, 1, maxLabel)
		return s
	case kindBoolean:
		if it.text[0] == 't' {
			return "true"
		}
		return "false"
	case kindArray:
		texts := []string{}
		for _, one := range r.array(it, 0, prism.MaxOptions) {
			s, _ := r.str(one, 1, maxLabel)
			texts = append(texts, s)
		}
		list, _ := strictjson.Marshal(texts) // of a list of texts cannot fail
		return string(list)
	default:
		r.add(it.path, expected+string(kind))
		return ""
	}
}
