package yamlfile

import (
	"fmt"
	"slices"
	"testing"

	"github.com/goccy/go-yaml/parser"
)

func TestNodesAreReadWithTheirLinesAndProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string // the members of the document, or the problems
	}{
		{"texts", "a: x\nb: |\n  y\nc: \"1\"\n", []string{"1 a=x", "2 b=y\n", "4 c=1"}},
		{"one member", "a: x\n", []string{"1 a=x"}},
		{"an object in one line", "{a: x,\n b: y}\n", []string{"1 a=x", "2 b=y"}},
		{"null is nothing", "a: null\nb: ~\nc:\n", []string{"1 a=", "2 b=", "3 c="}},
		{"an alias", "a: &x y\nb: *x\n", []string{"1 a=y", "2 b=y"}},
		{"an alias of nothing", "a: x\nb: *x\n", []string{"2: b: names an anchor that is not above it"}},
		{"a tag", "a: x\nb: !!str y\n", []string{"2: b: must have no tag"}},
		{"a number", "\na: 1\n", []string{"2: a: must be a text; put it in quotes"}},
		{"an object", "a:\n  b: x\n", []string{"2: a: must be a text; put it in quotes"}},
		{"a name twice", "a: x\nb: y\na: z\n", []string{"3: a: is given twice"}},
		{"a list", "- a\n", []string{"1: must have members"}},
		{"too large", "a: &a x\nb: *a\nc: *a\nd: *a\ne: *a\nf: *a\n", []string{"6: f: is too large"}},
	} {
		bodies, problem := Parse([]byte(c.text), parser.AllowDuplicateMapKey())
		if problem != nil || len(bodies) != 1 {
			t.Fatalf("%s: %v", c.name, problem)
		}
		r := Reader{MaxNodes: 10}
		var got []string
		for _, m := range r.Members(bodies[0], "") {
			text := ""
			if value := r.Plain(m.Value, m.Path); value != nil {
				text = r.Text(value, m.Path)
			}
			got = append(got, fmt.Sprintf("%d %s=%s", m.Line, m.Name, text))
		}
		if len(r.Problems) > 0 {
			got = nil
		}
		for _, p := range r.Problems {
			got = append(got, fmt.Sprintf("%d: %s", p.Line, p.Text))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAFileThatIsNoYAMLHasOneProblem(t *testing.T) {
	t.Parallel()
	for text, line := range map[string]int{"a: x\nb: [\n": 2, "a: \"x\n": 1, "a: x\na: y\n": 2} {
		if bodies, problem := Parse([]byte(text)); problem == nil || problem.Line != line || bodies != nil {
			t.Errorf("%q: %v, %v", text, bodies, problem)
		}
	}
	if bodies, problem := Parse([]byte("a: x\n---\n")); problem != nil || len(bodies) != 1 {
		t.Errorf("empty documents: %v, %v", bodies, problem)
	}
}
