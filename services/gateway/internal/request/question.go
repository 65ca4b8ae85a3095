package request

import (
	"math"

	"github.com/prism-results/prism/pkg/prism"
)

// fieldDefinitions reads the fields of a version: 1 to 50 of {key, label?} (spec: version-fields). A key names a column of
// tabular rows, so the names of the other columns are refused like those of earlier fields (spec: names-in-a-row).
func (r *reader) fieldDefinitions(it item) []prism.Field {
	taken := takenBy(prism.ReservedNames()...)
	items := r.array(it, 1, maxFields)
	fields := make([]prism.Field, 0, len(items))
	for _, it := range items {
		if !r.is(it, kindObject) {
			continue
		}
		fields = append(fields, prism.Field{
			Key:   r.key(it.at("key"), taken, textUniqueRow),
			Label: r.optionalStr(it.at("label"), 0, maxLabel),
		})
	}
	return fields
}

// questions reads the questions of a version: 1 to 64 (spec: version-questions).
func (r *reader) questions(it item) []prism.Question {
	taken := takenBy()
	items := r.array(it, 1, maxQuestions)
	questions := make([]prism.Question, 0, len(items))
	for _, it := range items {
		questions = append(questions, r.question(it, taken))
	}
	return questions
}

// question reads {key, type, text} and the members of its type. Members of other types are ignored as unknown ones.
func (r *reader) question(it item, taken map[string]bool) prism.Question {
	if !r.is(it, kindObject) {
		return prism.Question{}
	}
	q := prism.Question{
		Key:  r.key(it.at("key"), taken, textUnique),
		Type: oneOfStr(r, it.at("type"), []prism.QuestionType{prism.Choice, prism.YesNo, prism.Scale}),
	}
	q.Text, _ = r.str(it.at("text"), 1, maxSentence)
	switch q.Type {
	case prism.Choice:
		r.choice(it, &q)
	case prism.Scale:
		q.Levels = r.levels(it.at("levels"))
	case prism.YesNo:
	}
	return q
}

// choice reads the options: 2 to 26, with the one that insufficient_information adds (spec: question-choice).
func (r *reader) choice(it item, q *prism.Question) {
	// The flag's problems come after those of the options, so the flag is evaluated here and read below.
	flag := it.at("insufficient_information")
	most, taken := maxOptions, takenBy()
	if flag.given() && flag.text[0] == 't' {
		most--
		taken[prism.InsufficientInformation] = true
	}
	items := r.array(it.at("options"), minOptions, most)
	q.Options = make([]prism.Option, 0, len(items))
	for _, it := range items {
		if !r.is(it, kindObject) {
			continue
		}
		option := prism.Option{Key: r.key(it.at("key"), taken, textUnique)}
		option.Label, _ = r.str(it.at("label"), 1, maxLabel)
		option.Description = r.optionalStr(it.at("description"), 0, maxSentence)
		q.Options = append(q.Options, option)
	}
	q.InsufficientInformation = r.optionalBoolean(flag)
}

// levels reads the levels of a scale: 2 to 10 in rising order (spec: question-scale).
func (r *reader) levels(it item) []prism.Level {
	taken, before := takenBy(), math.Inf(-1)
	items := r.array(it, minLevels, maxLevels)
	levels := make([]prism.Level, 0, len(items))
	for i, it := range items {
		if !r.is(it, kindObject) {
			continue
		}
		level := prism.Level{Key: r.key(it.at("key"), taken, textUnique), Value: float64(i + 1)}
		level.Label, _ = r.str(it.at("label"), 1, maxLabel)
		value := it.at("value")
		if value.given() {
			var ok bool
			if level.Value, ok = r.number(value); !ok {
				continue
			}
		}
		if level.Value <= before {
			r.add(value.path, textRising)
		}
		before = level.Value
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
	s, ok := r.matching(it, keyPattern)
	if !ok {
		return ""
	}
	if taken[s] {
		r.add(it.path, clash)
	}
	taken[s] = true
	return s
}
