package search

import (
	"context"
	"slices"
	"strconv"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	keptSchemas    = 1024
	versionsAtOnce = 100
)

// Schema is what a search knows of a prism: the questions of all its versions. The zero value is that of a search without a prism.
type Schema struct {
	finding.Schema
	versions map[int32]prism.Definition
	members  map[string][]api.ValueCount // of questions, those of the newest version first, with their labels
}

// schemaID names the versions of a prism.
type schemaID struct {
	prism    prism.PrismID
	versions int64
}

type schemas struct{ lru *lru.Cache[schemaID, *Schema] }

func newSchemas() schemas {
	lru, err := lru.New[schemaID, *Schema](keptSchemas)
	if err != nil {
		panic(err) // the size is positive
	}
	return schemas{lru}
}

// schemaOf is the schema of a prism; nil has none.
func (c schemas) schemaOf(ctx context.Context, s prisms.Store, account prism.AccountID, p *prism.Prism) (*Schema, error) {
	if p == nil {
		return &Schema{}, nil
	}
	id := schemaID{p.ID, p.VersionsHash}
	if known, ok := c.lru.Get(id); ok {
		return known, nil
	}
	var all []prism.Version
	for below, more := int32(0), true; more; {
		var versions []prism.Version
		var err error
		if versions, more, err = s.ListVersions(ctx, account, p.ID, below, versionsAtOnce); err != nil {
			return nil, err
		}
		all = append(all, versions...)
		below = all[len(all)-1].Number
	}
	known := newSchema(all)
	c.lru.Add(id, known)
	return known, nil
}

// newSchema reads versions, the newest first.
func newSchema(versions []prism.Version) *Schema {
	s := &Schema{versions: map[int32]prism.Definition{}, members: map[string][]api.ValueCount{}}
	var definitions []prism.Definition
	for _, v := range versions {
		s.versions[v.Number] = v.Definition
		definitions = append(definitions, v.Definition)
		for _, q := range v.Questions {
			if len(q.AnswerKeys()) == 0 { // its answers are counted by their numbers
				continue
			}
			labels := map[string]string{}
			for _, o := range q.Options {
				labels[o.Key] = o.Label
			}
			for _, l := range q.Levels {
				labels[l.Key] = l.Label
			}
			for _, key := range q.ReplyKeys() {
				known := slices.ContainsFunc(s.members[q.Key], func(m api.ValueCount) bool { return m.Value == key })
				if !known {
					s.members[q.Key] = append(s.members[q.Key], api.ValueCount{Value: key, Label: labels[key]})
				}
			}
		}
	}
	s.Schema = finding.NewSchema(definitions...)
	return s
}

// Parse reads the words and conditions of a search, and adds them to a filter, or returns all problems.
func (s *Schema) Parse(f store.Filter, sent api.ResultSearch) (filter Filter, problems []apierr.Problem) {
	filter.Filter, filter.Versions = f, s.versions
	if sent.Q != "" {
		words, problem := finding.ParseWords(sent.Q)
		if problem != "" {
			problems = append(problems, apierr.Problem{Path: "q", Text: problem})
		}
		filter.Words = words
	}
	where, wrong := s.ParseConditions(sent.Where)
	filter.Where = where
	return filter, append(problems, wrong...)
}

// values are the counts of a subject as they are shown: in the order of the newest version, and what no version names by itself.
func (s *Schema) values(subject finding.Subject, found []ValueCount) []api.ValueCount {
	counts := map[string]int64{}
	for _, v := range found {
		counts[v.Value] = v.N
	}
	shown := []api.ValueCount{}
	for _, m := range s.members[subject.Question] {
		if n := counts[m.Value]; n > 0 {
			m.Count = n
			if m.Label == "" {
				m.Label = m.Value
			}
			shown = append(shown, m)
		}
	}
	var others []api.ValueCount
	for value, n := range counts {
		if !slices.ContainsFunc(shown, func(m api.ValueCount) bool { return m.Value == value }) {
			others = append(others, api.ValueCount{Value: value, Label: labelOf(subject, value), Count: n})
		}
	}
	slices.SortFunc(others, func(a, b api.ValueCount) int { return compareValues(a.Value, b.Value) })
	return append(shown, others...)
}

// labelOf is what people call a value that no version names: the tenth of a probability says its bounds.
func labelOf(of finding.Subject, value string) string {
	tenth, err := strconv.ParseFloat(value, 64)
	if of.Question == "" || err != nil {
		return value
	}
	return value + " to " + strconv.FormatFloat(tenth+0.1, 'f', 1, 64)
}

// compareValues orders numbers as numbers.
func compareValues(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	switch {
	case errX == nil && errY == nil:
		return x - y
	case a < b:
		return -1
	}
	return 1
}
