package request

import (
	"slices"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/foreign"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// modelPrefix begins the name of a model that answers questions of the call (spec: adhoc-call).
const modelPrefix = "model/"

// The bounds of what becomes part of a definition (see prism.Question).
const (
	maxText        = 10_000
	maxDescription = 10_000
	maxLevels      = 10
)

// The fields of a call without named ones.
const (
	fieldOfDecisions = "input"
	fieldOfSystemOne = "state"
)

// The shapes of questions.
var (
	decisionQuestionsShape = &shape{maxElements: maxQuestions, element: &shape{members: []member{
		{"type", scalar},
		{"name", scalar},
		{"instructions", asSent},
		{"choices", &shape{maxElements: prism.MaxOptions, element: &shape{members: members("value", "description")}}},
		{"levels", &shape{maxElements: maxLevels, element: &shape{members: members("label", "description")}}},
	}}}
	systemOneQuestionShape = &shape{members: []member{{"type", scalar}, {"instructions", asSent}, {"criteria", asSent}}}
	noulCriteriaShape      = &shape{members: []member{{"true", asSent}, {"false", asSent}}}
	scoreCriteriaShape     = &shape{maxElements: maxLevels, element: asSent}
)

// isAdHoc reports whether a call names a model, whose name it reads.
func (r *reader) isAdHoc(it item) (model string, is bool) {
	if !it.sent() || it.kind() != kindString {
		return "", false
	}
	s, clean := unquote(it.text)
	model, is = strings.CutPrefix(s, modelPrefix)
	if !is {
		return "", false
	}
	if !clean {
		r.add(it.path, textUnclean)
	}
	if !api.Forms["slug"].MatchString(model) {
		r.add(it.path, textPattern(api.Forms["slug"]))
	}
	return model, true
}

// adHocDecision reads a call in OpenAI's format that names a model.
func (r *reader) adHocDecision(c *api.ForeignCall, model string, sent item) {
	c.AdHoc = &api.AdHoc{Definition: prism.Definition{Model: model, Fields: []prism.Field{{Key: fieldOfDecisions}}}}
	if text := r.input(sent.at("input")); text != nil {
		c.Fields = api.FieldValues{{Key: fieldOfDecisions, Value: *text}}
	}
	it := sent.at("questions")
	if r.is(it, kindArray) {
		n, _ := parseJSON(it.text, decisionQuestionsShape) // a part of what was parsed
		for at, q := range r.array(item{it.path, n, decisionQuestionsShape}, 1, maxQuestions) {
			r.decisionQuestion(c.AdHoc, at, q)
		}
	}
	r.adHocBounds(c.AdHoc, it.path)
}

func (r *reader) decisionQuestion(c *api.AdHoc, at int, it item) {
	if !r.is(it, kindObject) {
		return
	}
	var names api.NamesOfQuestion
	q := prism.Question{Key: foreign.QuestionKey(at), Type: foreign.TypeOf(api.Decisions, oneOfStr(r, it.at("type"), foreign.Types(api.Decisions)))}
	if name := it.at("name"); name.hasValue() {
		s, _ := r.str(name, 1, maxName)
		names.Name = &s
	}
	instructions := it.at("instructions")
	before := r.inValues
	if q.Text = strings.Join(r.parts(instructions), "\n\n"); r.inValues == before {
		r.checkString(instructions.path, q.Text, true, 1, maxText)
	}
	switch q.Type.Classes() {
	case prism.Nominal:
		taken := map[string]bool{}
		for i, choice := range r.array(it.at("choices"), 2, prism.MaxOptions) {
			if r.is(choice, kindObject) {
				o := prism.Option{Key: foreign.MemberKey(i), Label: r.choiceValue(choice.at("value"), taken)}
				o.Description = r.optionalText(choice.at("description"), maxDescription)
				q.Options, names.Values = append(q.Options, o), append(names.Values, string(choice.at("value").text))
			}
		}
	case prism.Ordinal:
		for i, level := range r.array(it.at("levels"), 2, maxLevels) {
			if r.is(level, kindObject) {
				label, _ := r.str(level.at("label"), 1, maxLabel)
				before := r.inValues
				text := prism.Option{Label: label, Description: r.optionalText(level.at("description"), maxLabel)}.Text()
				if r.inValues == before {
					r.checkString(level.at("description").path, text, true, 0, maxLabel)
				}
				q.Levels = append(q.Levels, newLevel(i, text))
				names.Values = append(names.Values, string(level.at("label").text))
			}
		}
	case prism.Binary, prism.Multiple:
	}
	c.Definition.Questions, c.Names = append(c.Definition.Questions, q), append(c.Names, names)
}

// newLevel is a level at a place, from 0.
func newLevel(at int, label string) prism.Level {
	return prism.Level{Key: foreign.MemberKey(at), Label: label, Value: new(float64(at + 1))}
}

// choiceValue reads the value of a choice, a text or a boolean: true and "true" are two.
func (r *reader) choiceValue(it item, taken map[string]bool) (label string) {
	if it.sent() && it.kind() == kindBoolean {
		label = string(it.text)
	} else if s, ok := r.str(it, 1, maxLabel); ok {
		label = s
	} else {
		return ""
	}
	id := string(it.text[:1]) + label
	if taken[id] {
		r.add(it.path, textUnique)
	}
	taken[id] = true
	return label
}

func (r *reader) optionalText(it item, most int) string {
	if !it.hasValue() {
		return ""
	}
	s, _ := r.str(it, 0, most)
	return s
}

// adHocSystemOne reads a call in TypeSafe's format that names a model.
func (r *reader) adHocSystemOne(c *api.ForeignCall, model string, sent item) {
	c.AdHoc = &api.AdHoc{Definition: prism.Definition{Model: model}}
	state := sent.at("state")
	values, text := r.state(state)
	it := sent.at("questions")
	if r.is(it, kindObject) {
		n, _ := parseJSON(it.text, stateShape) // a part of what was parsed
		if n.fields.uncleanName > 0 {
			r.add(it.path, textUnclean)
		}
		switch count := len(n.fields.sent); {
		case count == 0:
			r.addBound(it.path, "Object must contain at least %d member(s)", 1)
		case count > maxQuestions:
			r.addBound(it.path, textTooManyMembers, maxQuestions)
		}
		for at, s := range n.fields.sent[:min(len(n.fields.sent), maxQuestions)] {
			name := string(n.fields.plain(s))
			n, _ := parseJSON(n.fields.text(s.value), systemOneQuestionShape)
			r.systemOneQuestion(c.AdHoc, at, name, item{it.child(name), n, systemOneQuestionShape})
		}
	}
	c.AdHoc.Definition.Fields, c.Fields = fieldsOfState(c.AdHoc.Definition, values)
	if c.Fields == nil {
		if text == nil {
			text = new(string(state.text))
			r.checkString(state.path, *text, true, 0, maxField)
		}
		c.AdHoc.Definition.Fields = []prism.Field{{Key: fieldOfSystemOne}}
		c.Fields = api.FieldValues{{Key: fieldOfSystemOne, Value: *text}}
	}
	r.adHocBounds(c.AdHoc, it.path)
}

// fieldsOfState are the members of a state as fields; none if their names are no keys of fields beside these questions.
func fieldsOfState(d prism.Definition, values api.FieldValues) ([]prism.Field, api.FieldValues) {
	const maxFields = 50
	if len(values) == 0 || len(values) > maxFields {
		return nil, nil
	}
	d.Fields = nil
	for _, v := range values {
		if !api.Forms["key"].MatchString(v.Key) || slices.Contains(prism.ReservedNames(), v.Key) {
			return nil, nil
		}
		d.Fields = append(d.Fields, prism.Field{Key: v.Key})
	}
	if len(lens.ValidateDerived(d)) > 0 {
		return nil, nil
	}
	return d.Fields, values
}

func (r *reader) systemOneQuestion(c *api.AdHoc, at int, name string, it item) {
	if !r.is(it, kindObject) {
		return
	}
	r.checkString(it.path, name, true, 1, maxName)
	names := api.NamesOfQuestion{Name: &name}
	q := prism.Question{
		Key: foreign.QuestionKey(at), Type: foreign.TypeOf(api.SystemOne, oneOfStr(r, it.at("type"), foreign.Types(api.SystemOne))), Text: name,
	}
	instructions := it.at("instructions")
	if text := r.content(instructions); text != "" {
		q.Text = text
	}
	criteria := it.at("criteria")
	switch q.Type.Classes() {
	case prism.Binary:
		q.Text += r.noulCriteria(criteria)
	case prism.Nominal:
		if r.is(criteria, kindObject) {
			n, _ := parseJSON(criteria.text, stateShape)
			r.choiceCriteria(&q, &names, item{criteria.path, n, stateShape})
		}
	case prism.Ordinal:
		if r.is(criteria, kindArray) {
			n, _ := parseJSON(criteria.text, scoreCriteriaShape)
			for i, level := range r.array(item{criteria.path, n, scoreCriteriaShape}, 2, maxLevels) {
				label := r.content(level)
				r.checkString(level.path, label, true, 1, maxLabel)
				q.Levels, names.Values = append(q.Levels, newLevel(i, label)), append(names.Values, string(level.text))
			}
		}
	case prism.Multiple:
	}
	r.checkString(instructions.path, q.Text, true, 1, maxText)
	c.Definition.Questions, c.Names = append(c.Definition.Questions, q), append(c.Names, names)
}

// noulCriteria are the paragraphs about when the answer is yes, and when no.
func (r *reader) noulCriteria(it item) (text string) {
	if !it.hasValue() || !r.is(it, kindObject) {
		return ""
	}
	n, _ := parseJSON(it.text, noulCriteriaShape)
	it = item{it.path, n, noulCriteriaShape}
	for _, c := range []struct{ member, says string }{{"true", "Yes: "}, {"false", "No: "}} {
		if s := r.content(it.at(c.member)); s != "" {
			text += "\n\n" + c.says + s
		}
	}
	return text
}

func (r *reader) choiceCriteria(q *prism.Question, names *api.NamesOfQuestion, it item) {
	if it.fields.uncleanName > 0 {
		r.add(it.path, textUnclean)
	}
	switch count := len(it.fields.sent); {
	case count < 2:
		r.addBound(it.path, "Object must contain at least %d member(s)", 2)
	case count > prism.MaxOptions:
		r.addBound(it.path, textTooManyMembers, prism.MaxOptions)
	}
	for i, s := range it.fields.sent[:min(len(it.fields.sent), prism.MaxOptions)] {
		value := string(it.fields.plain(s))
		r.checkString(it.child(value), value, true, 1, maxLabel)
		o := prism.Option{Key: foreign.MemberKey(i), Label: value}
		o.Description = r.content(item{it.child(value), node{text: it.fields.text(s.value)}, asSent})
		r.checkString(it.child(value), o.Description, true, 0, maxDescription)
		q.Options, names.Values = append(q.Options, o), append(names.Values, string(strictjson.AppendString(nil, value)))
	}
}

// content is a text, or what else was sent as JSON; "" if nothing was.
func (r *reader) content(it item) string {
	if !it.hasValue() {
		return ""
	}
	if it.kind() != kindString {
		return string(it.text)
	}
	s, clean := unquote(it.text)
	if !clean {
		r.add(it.path, textUnclean)
	}
	return s
}

// adHocBounds checks what bounds all questions of a call together (spec: adhoc-limits).
func (r *reader) adHocBounds(c *api.AdHoc, path string) {
	if prism.CountMembers(c.Definition.Questions) > prism.MaxMembers {
		r.addBound(path, textTooManyOptions, prism.MaxMembers)
	}
	if _, size := contract.HashDefinition(c.Definition); size > prism.MaxAdHocBytes {
		r.add(path, "must have at most "+strconv.Itoa(prism.MaxAdHocBytes)+" bytes as the definition of a prism")
	}
}
