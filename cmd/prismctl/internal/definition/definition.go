// Package definition reads prisms from YAML files and writes them.
package definition

import (
	"github.com/prism-results/prism/client"
)

// Of is the definition of a stored prism, without default values: two definitions mean the same if they are equal.
func Of(p client.Prism) client.NewPrism {
	questions := make([]client.Question, len(p.Version.Questions))
	for i, q := range p.Version.Questions {
		q.Levels = withoutDefaults(q.Levels)
		questions[i] = q
	}
	lens := client.Lens{Columns: make([]client.Column, len(p.Lens.Columns))}
	for i, c := range p.Lens.Columns {
		c.YesAt, c.NoAt = unless(c.YesAt, 0.6), unless(c.NoAt, 0.4)
		lens.Columns[i] = c
	}
	return client.NewPrism{Slug: p.Slug, Name: text(p.Name), NewVersion: client.NewVersion{
		Instructions: text(p.Version.Instructions), Fields: p.Version.Fields, Questions: questions, Lens: &lens,
	}}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// withoutDefaults removes the values of levels if all are the default values 1, 2, 3 …
func withoutDefaults(levels []client.Level) []client.Level {
	var bare []client.Level
	for i, l := range levels {
		if unless(l.Value, float64(i+1)) != nil {
			return levels
		}
		l.Value = nil
		bare = append(bare, l)
	}
	return bare
}

func unless(v *float64, standard float64) *float64 {
	if v != nil && *v == standard {
		return nil
	}
	return v
}
