package foreign

import (
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// AreOwn reports whether questions that were sent in a format are those of a definition (spec: own-questions). They are JSON.
func AreOwn(f api.Format, sent []byte, d prism.Definition) bool {
	own := Questions(d)
	if f == api.SystemOne {
		var asked map[string]systemOneQuestion
		if !read(sent, &asked) || len(asked) != len(own) {
			return false
		}
		return !slices.ContainsFunc(own, func(q Question) bool {
			s, ok := asked[q.Name()]
			return !ok || !s.is(q, d.Instructions)
		})
	}
	var asked []decisionQuestion
	if !read(sent, &asked) || len(asked) != len(own) {
		return false
	}
	for i, q := range own {
		if !asked[i].is(q, d.Instructions) {
			return false
		}
	}
	return true
}

func read(b []byte, to any) bool {
	return strictjson.Unmarshal(b, to, strictjson.AllowDuplicateNames(true)) == nil
}

type decisionQuestion struct {
	Type         string           `json:"type"`
	Name         *string          `json:"name"`
	Instructions strictjson.Value `json:"instructions"`
	Choices      []struct {
		Value       strictjson.Value `json:"value"`
		Description *string          `json:"description"`
	} `json:"choices"`
	Levels []struct {
		Label       string  `json:"label"`
		Description *string `json:"description"`
	} `json:"levels"`
}

func (s decisionQuestion) is(q Question, instructions string) bool {
	if s.Type != decisionTypes[q.Type.Classes()] || s.Name != nil && *s.Name != q.Name() || !isText(s.Instructions, q, instructions) {
		return false
	}
	members := q.Members()
	if len(s.Choices)+len(s.Levels) != len(members) {
		return false
	}
	for i, c := range s.Choices {
		var value string
		if !read(c.Value, &value) || q.Type.Classes() != prism.Nominal || value != members[i].Key || !describes(c.Description, members[i]) {
			return false
		}
	}
	for i, l := range s.Levels {
		if q.Type.Classes() != prism.Ordinal || l.Label != members[i].Label || !describes(l.Description, members[i]) {
			return false
		}
	}
	return true
}

type systemOneQuestion struct {
	Type         string           `json:"type"`
	Instructions strictjson.Value `json:"instructions"`
	Criteria     strictjson.Value `json:"criteria"`
}

func (s systemOneQuestion) is(q Question, instructions string) bool {
	if s.Type != systemOneTypes[q.Type.Classes()] || !isText(s.Instructions, q, instructions) {
		return false
	}
	members := q.Members()
	switch q.Type.Classes() {
	case prism.Nominal:
		var criteria map[string]*string
		if !read(s.Criteria, &criteria) || len(criteria) != len(members) {
			return false
		}
		return !slices.ContainsFunc(members, func(m prism.Option) bool {
			text, ok := criteria[m.Key]
			return !ok || !describes(text, m)
		})
	case prism.Ordinal:
		var criteria []string
		return read(s.Criteria, &criteria) && slices.EqualFunc(criteria, members, func(c string, m prism.Option) bool { return c == m.Label })
	case prism.Binary, prism.Multiple:
	}
	return len(s.Criteria) == 0 || s.Criteria.Kind() == 'n'
}

// isText reports whether instructions are the text of a question, by itself or behind the instructions of the version.
func isText(sent strictjson.Value, q Question, instructions string) bool {
	var text string
	return read(sent, &text) && (text == q.Text || instructions != "" && text == instructions+"\n\n"+q.Text)
}

// describes reports whether a description says nothing, or what the option says.
func describes(text *string, o prism.Option) bool {
	return text == nil || *text == o.Label || *text == o.Description || *text == o.Text()
}
