// Package definition reads prisms from YAML files and writes them.
package definition

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/prism-results/prism/pkg/api"
)

// FromPrism is the definition of a stored prism, without default values: two definitions mean the same if they are equal.
func FromPrism(p api.Prism) api.NewPrism {
	questions := make([]api.Question, len(p.Version.Questions))
	for i, q := range p.Version.Questions {
		q.Levels = withoutDefaults(q.Levels)
		questions[i] = q
	}
	lens := api.Lens{Columns: make([]api.Column, len(p.Lens.Columns))}
	for i, c := range p.Lens.Columns {
		c.YesAt, c.NoAt = nilIf(c.YesAt, 0.6), nilIf(c.NoAt, 0.4)
		lens.Columns[i] = c
	}
	var examples []api.Example
	for _, e := range p.Version.Examples {
		if !e.Emptied() { // as a file without it
			examples = append(examples, e)
		}
	}
	return api.NewPrism{Slug: p.Slug, Name: text(p.Name), Searchable: p.Searchable, NewVersion: api.NewVersion{
		Definition: api.Definition{
			Instructions: text(p.Version.Instructions), Model: text(p.Version.Model), Escalate: p.Version.Escalate,
			Fields: p.Version.Fields, Questions: questions, Examples: examples,
		},
		Lens: &lens,
	}}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// withoutDefaults removes the values of levels if all are the default values 1, 2, 3 …
func withoutDefaults(levels []api.Level) []api.Level {
	var bare []api.Level
	for i, l := range levels {
		if nilIf(l.Value, float64(i+1)) != nil {
			return levels
		}
		l.Value = nil
		bare = append(bare, l)
	}
	return bare
}

func nilIf(v *float64, standard float64) *float64 {
	if v != nil && *v == standard {
		return nil
	}
	return v
}

// YAML writes a definition as a file for Decode. Equal definitions have equal texts.
func YAML(p api.NewPrism) string {
	examples := make([]example, len(p.Examples))
	for i, e := range p.Examples {
		examples[i] = exampleOf(e)
	}
	p.Examples = nil
	tree, err := yaml.ValueToNode(struct {
		Slug           string `yaml:"slug"`
		Name           string `yaml:"name,omitempty"`
		Searchable     *bool  `yaml:"searchable,omitempty"`
		api.Definition `yaml:",inline"`
		Examples       []example `yaml:"examples,omitempty"`
		Lens           *api.Lens `yaml:"lens,omitempty"`
	}{p.Slug, p.Name, p.Searchable, p.Definition, examples, p.Lens}, yaml.IndentSequence(true), yaml.AutoInt())
	if err != nil {
		panic("definition: a definition has no YAML form: " + err.Error())
	}
	ast.Walk(quoter{}, tree)
	return tree.String() + "\n"
}

// example is an example as files have it.
type example struct {
	Fields  yaml.MapSlice `yaml:"fields"`
	Answers yaml.MapSlice `yaml:"answers"`
	Result  string        `yaml:"result_id,omitempty"`
}

func exampleOf(e api.Example) (written example) {
	for _, f := range e.Fields {
		written.Fields = append(written.Fields, yaml.MapItem{Key: f.Key, Value: f.Value})
	}
	for _, a := range e.Answers {
		var value any
		if json.Unmarshal(a.Value, &value) != nil {
			value = a.Text()
		}
		written.Answers = append(written.Answers, yaml.MapItem{Key: a.Question, Value: value})
	}
	if !e.Result.IsZero() {
		written.Result = e.Result.String()
	}
	return written
}

var (
	// plain texts need no quotes: they begin with a letter and contain no character with a meaning in YAML.
	plain = regexp.MustCompile(`^\pL(?:[\pL\pN ,.;!?()/+_%=€$'-]*[\pL\pN.;!?()/+_%=€$'-])?$`)
	// words look like texts, but YAML reads them as other values.
	words = regexp.MustCompile(`(?i)^(?:true|false|null|yes|no|on|off|y|n)$`)
	// lines are texts of several lines that fit into a YAML block.
	lines = regexp.MustCompile(`^(?:[\pL\pN\pP\pS][\pL\pN\pP\pS ]*\n)+$`)
)

// Plain tells that a text needs no quotes in YAML.
func Plain(text string) bool { return plain.MatchString(text) && !words.MatchString(text) }

// quoter quotes texts, because the library leaves quotes out that YAML requires, and does not escape control characters.
type quoter struct{}

func (q quoter) Visit(n ast.Node) ast.Visitor {
	s, ok := n.(*ast.StringNode)
	if !ok {
		return q
	}
	text, err := strconv.Unquote(s.Value)
	if err != nil { // the library did not quote it
		text = s.Value
	}
	s.Value = text
	if !Plain(text) && (!lines.MatchString(text) || strings.Contains(text, " \n")) {
		s.Token.Type = token.DoubleQuoteType
	}
	return q
}
