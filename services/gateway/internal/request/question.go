package request

import (
	"fmt"
	"math"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// fieldDefinitions reads the fields of a version: 1 to 50 of {key, label?} (spec: version-fields). A key names a column of
// tabular rows, so the names of the other columns are refused like those of earlier fields (spec: names-in-a-row).
func (r *reader) fieldDefinitions(m memberReader, it item) []prism.Field {
	taken := takenBy(prism.ReservedNames()...)
	items := m.items(r, it)
	fields := make([]prism.Field, 0, len(items))
	for _, it := range items {
		if !r.is(it, kindObject) {
			continue
		}
		f := prism.Field{Key: r.key(it.at("key"), taken, textUniqueRow)}
		m.object.some(r, it, &f, "label")
		fields = append(fields, f)
	}
	return fields
}

// questions reads the questions of a version: 1 to 64, with at most 2,000 options and levels together (spec: version-questions).
func (r *reader) questions(m memberReader, it item) []prism.Question {
	taken := takenBy()
	items := m.items(r, it)
	questions := make([]prism.Question, 0, len(items))
	for _, it := range items {
		questions = append(questions, r.question(m.object, it, taken))
	}
	if prism.CountMembers(questions) > prism.MaxMembers {
		r.add(it.path, fmt.Sprintf(textTooManyOptions, prism.MaxMembers))
	}
	return questions
}

// question reads {key, type, text} and the members of its type. Members of other types are ignored as unknown ones.
func (r *reader) question(s *structReader, it item, taken map[string]bool) prism.Question {
	if !r.is(it, kindObject) {
		return prism.Question{}
	}
	q := prism.Question{Key: r.key(it.at("key"), taken, textUnique)}
	s.some(r, it, &q, "type", "text")
	if s.member("options").IsOf(string(q.Type)) {
		r.options(s, it, &q)
	}
	if levels := s.member("levels"); levels.IsOf(string(q.Type)) {
		q.Levels = r.levels(levels, it.at("levels"))
	}
	return q
}

// options reads the options of a choice, 2 to 255 with the one that insufficient_information adds, or of a tags, 1 to 100 (spec:
// question-choice, question-tags).
func (r *reader) options(s *structReader, it item, q *prism.Question) {
	// The flag's problems come after those of the options, so the flag is evaluated here and read below.
	flag, flagged := it.at("insufficient_information"), s.member("insufficient_information").IsOf(string(q.Type))
	options, taken := s.member("options"), takenBy()
	bounds := options.With(string(q.Type))
	most := int(*bounds.Max)
	if flagged && flag.hasValue() && flag.text[0] == 't' {
		most--
		taken[prism.InsufficientInformation] = true
	}
	items := r.array(it.at("options"), least(bounds), most)
	q.Options = make([]prism.Option, 0, len(items))
	groups := map[string]bool{}
	for _, it := range items {
		if !r.is(it, kindObject) {
			continue
		}
		option := prism.Option{Key: r.key(it.at("key"), taken, textUnique)}
		options.object.some(r, it, &option, "label", "description", "group")
		if option.Group != "" && !groups[option.Group] {
			if groups[option.Group] = true; len(groups) == prism.MaxGroups+1 { // said once
				r.add(it.child("group"), fmt.Sprintf(textTooManyGroups, prism.MaxGroups))
			}
		}
		q.Options = append(q.Options, option)
	}
	if flagged {
		s.some(r, it, q, "insufficient_information")
	}
}

// levels reads the levels of a scale: 2 to 10 in rising order (spec: question-scale).
func (r *reader) levels(m memberReader, it item) []prism.Level {
	taken, before := takenBy(), math.Inf(-1)
	items := m.items(r, it)
	levels := make([]prism.Level, 0, len(items))
	for i, it := range items {
		if !r.is(it, kindObject) {
			continue
		}
		level := prism.Level{Key: r.key(it.at("key"), taken, textUnique)}
		m.object.some(r, it, &level, "label")
		at, value := it.at("value"), float64(i+1)
		if at.hasValue() {
			var ok bool
			if value, ok = r.number(at); !ok {
				continue
			}
		}
		if value <= before {
			r.add(at.path, textRising)
		}
		before, level.Value = value, &value
		levels = append(levels, level)
	}
	return levels
}

func takenBy(keys ...string) map[string]bool {
	taken := make(map[string]bool)
	for _, k := range keys {
		taken[k] = true
	}
	return taken
}

// key reads the key of a field, question, option or level (spec: definition-keys). clash is the problem of a key that is
// taken.
func (r *reader) key(it item, taken map[string]bool, clash string) string {
	s, ok := r.matching(it, api.Forms["key"])
	if !ok {
		return ""
	}
	if taken[s] {
		r.add(it.path, clash)
	}
	taken[s] = true
	return s
}
