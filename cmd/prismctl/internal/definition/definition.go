// Package definition reads prisms from YAML files, writes them, and compares two of them.
package definition

import (
	"reflect"

	"github.com/prism-results/prism/client"
)

// Of is the definition of a stored prism.
func Of(p client.Prism) client.NewPrism {
	return client.NewPrism{Slug: p.Slug, Name: text(p.Name), NewVersion: client.NewVersion{
		Instructions: text(p.Version.Instructions), Fields: p.Version.Fields, Questions: p.Version.Questions, Lens: &p.Lens,
	}}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Normal is the definition without default values, and with the derived Lens if it has none. Two definitions mean the same if
// their normal forms are equal.
func Normal(p client.NewPrism) client.NewPrism {
	questions := make([]client.Question, len(p.Questions))
	for i, q := range p.Questions {
		q.Levels = normalLevels(q.Levels)
		questions[i] = q
	}
	p.Questions = questions
	lens := Derive(p.Questions)
	if p.Lens != nil {
		lens = client.Lens{Columns: make([]client.Column, len(p.Lens.Columns))}
		for i, c := range p.Lens.Columns {
			c.YesAt, c.NoAt = unless(c.YesAt, 0.6), unless(c.NoAt, 0.4)
			lens.Columns[i] = c
		}
	}
	p.Lens = &lens
	return p
}

// normalLevels removes the default values 1, 2, 3 …, or sets all values if one is not its default.
func normalLevels(levels []client.Level) []client.Level {
	bare, full := make([]client.Level, len(levels)), make([]client.Level, len(levels))
	counts := true
	for i, l := range levels {
		value := float64(i + 1)
		if l.Value != nil {
			counts = counts && *l.Value == value
			value = *l.Value
		}
		full[i], bare[i] = l, l
		full[i].Value, bare[i].Value = &value, nil
	}
	switch {
	case len(levels) == 0:
		return nil
	case counts:
		return bare
	default:
		return full
	}
}

func unless(v *float64, standard float64) *float64 {
	if v != nil && *v == standard {
		return nil
	}
	return v
}

// Derive is the Lens of a prism that is created without one (spec: derived-lens).
func Derive(questions []client.Question) client.Lens {
	var l client.Lens
	for _, q := range questions {
		more := client.Column{Name: q.Key + "_probability", Question: q.Key, Show: client.ShowProbability}
		if q.Type == client.Scale {
			more = client.Column{Name: q.Key + "_average", Question: q.Key, Show: client.ShowAverage}
		}
		l.Columns = append(l.Columns, client.Column{Name: q.Key, Question: q.Key, Show: client.ShowAnswer}, more)
	}
	return l
}

// SameVersion tells whether two definitions in normal form have the same fields, questions and instructions.
func SameVersion(a, b client.NewPrism) bool {
	a.Lens, b.Lens = nil, nil
	return YAML(client.NewPrism{NewVersion: a.NewVersion}) == YAML(client.NewPrism{NewVersion: b.NewVersion})
}

// SameLens tells whether two definitions in normal form have the same Lens.
func SameLens(a, b client.NewPrism) bool { return reflect.DeepEqual(a.Lens, b.Lens) }
