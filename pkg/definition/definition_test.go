package definition

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

func decode(t *testing.T, text string) File {
	t.Helper()
	files, err := Decode("f.yaml", []byte(text))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d prisms, %v", len(files), err)
	}
	return files[0]
}

const small = "slug: a\nfields: [{key: f}]\nquestions:\n  - {key: q, type: yes_no, text: Really?}\n"

func TestProblemsHaveTheirLine(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, want string }{
		{"a misspelled member", small + "intructions: x\n", `f.yaml:5: has no member "intructions"`},
		{"a misspelled member within", "slug: a\nquestions:\n  - key: q\n    txt: x\n", `f.yaml:4: questions.0: has no member "txt"`},
		{"a number for a text", "slug: a\nname: 2026\n", "f.yaml:2: name: must be a text; put it in quotes"},
		{"a boolean for a text", "slug: a\nfields:\n- key: true\n", "f.yaml:3: fields.0.key: must be a text; put it in quotes"},
		{"a text for a number", "slug: a\nlens:\n  columns:\n  - yes_at: '0.5'\n", "f.yaml:4: lens.columns.0.yes_at: must be a number"},
		{"infinity", "slug: a\nlens: {columns: [{yes_at: .inf}]}\n", "f.yaml:2: lens.columns.0.yes_at: must be a number"},
		{"a power in quotes", "slug: a\nlens: {columns: [{yes_at: '1e-1'}]}\n", "f.yaml:2: lens.columns.0.yes_at: must be a number"},
		{"a power over all", "slug: a\nlens: {columns: [{yes_at: 1e999}]}\n", "f.yaml:2: lens.columns.0.yes_at: must be a number"},
		{"a text for a boolean", "slug: a\nquestions: [{insufficient_information: 'true'}]\n", "must be true or false"},
		{"a member for a list", "slug: a\nfields: {key: f}\n", "f.yaml:2: fields: must be a list"},
		{"a list for members", "- a\n", "f.yaml:1: must have members"},
		{"a member twice", "slug: a\nslug: b\n", "f.yaml:2: mapping key"},
		{"a merge", "a: &a {slug: a}\n<<: *a\n", `f.yaml:2: has no member "<<"`},
		{"no slug", "name: a\n", "f.yaml:1: slug is missing"},
		{"an unknown anchor", "slug: *a\n", "f.yaml:1: slug: names an anchor"},
		{"no YAML", "slug: [\n", "f.yaml:1: "},
		{"several", "slug: 1\nname: 2\n", "f.yaml:1: slug: must be a text; put it in quotes\nf.yaml:2: name: must be"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, err := Decode("f.yaml", []byte(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestWhatIsTaken(t *testing.T) {
	t.Parallel()
	t.Run("words that old YAML takes for booleans are texts", func(t *testing.T) {
		t.Parallel()
		if f := decode(t, "slug: a\nfields: [{key: no, label: on}, {key: y}]\n"); f.Prism.Fields[0] != (api.Field{Key: "no", Label: "on"}) {
			t.Errorf("got %+v", f.Prism.Fields)
		}
	})
	t.Run("null is the same as not given", func(t *testing.T) {
		t.Parallel()
		if f := decode(t, "slug: a\nname: null\nlens:\n"); f.Prism.Lens != nil || f.Prism.Name != "" {
			t.Errorf("got %+v", f.Prism)
		}
	})
	t.Run("aliases stand for what they name, in any number of documents", func(t *testing.T) {
		t.Parallel()
		files, err := Decode("f", []byte("slug: a\nfields: &f [{key: x}]\nquestions: []\n---\nslug: b\nfields:\n- &k {key: x}\n- *k\n"))
		if err != nil || len(files) != 2 || len(files[1].Prism.Fields) != 2 || files[1].Prism.Fields[1].Key != "x" {
			t.Errorf("got %+v, %v", files, err)
		}
	})
	t.Run("JSON is YAML", func(t *testing.T) {
		t.Parallel()
		f := decode(t, `{"slug": "a", "questions": [{"key": "q", "type": "scale", "levels": [{"key": "l", "value": -1.5e0}]}]}`)
		if *f.Prism.Questions[0].Levels[0].Value != -1.5 {
			t.Errorf("got %+v", f.Prism)
		}
	})
	t.Run("numbers may have a power of ten", func(t *testing.T) {
		t.Parallel()
		f := decode(t, "slug: a\nlens: {columns: [{yes_at: 6e-1, no_at: +4E-1}]}\n")
		if c := f.Prism.Lens.Columns[0]; *c.YesAt != 0.6 || *c.NoAt != 0.4 {
			t.Errorf("got %v, %v", *c.YesAt, *c.NoAt)
		}
	})
	t.Run("aliases that multiply are refused", func(t *testing.T) {
		t.Parallel()
		text := "slug: a\nfields: [&a {key: x}" + strings.Repeat(", *a", 999) + "]\n"
		bomb := "slug: a\nquestions:\n- &a {key: x, options: [" + strings.Repeat("{key: y},", 999) + "]}\n" + strings.Repeat("- *a\n", 999)
		if _, err := Decode("f", []byte(bomb)); err == nil || !strings.Contains(err.Error(), "is too large") {
			t.Errorf("got %v", err)
		}
		if _, err := Decode("f", []byte(text)); err != nil {
			t.Error(err)
		}
	})
}

func TestPlacesAreFound(t *testing.T) {
	t.Parallel()
	f := decode(t, small)
	for path, want := range map[string]string{
		"questions.0.key": "f.yaml:4", "questions.0.options.3.key": "f.yaml:4", "fields": "f.yaml:2", "lens.columns": "f.yaml:1", "": "f.yaml:1",
	} {
		if got := f.At(path); got != want {
			t.Errorf("%s is at %s, want %s", path, got, want)
		}
	}
}

// TestYAMLIsReadBack holds for definitions of random texts that writing and reading gives the same.
func TestYAMLIsReadBack(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"a", " ", "\n", "\t", ":", "#", "- ", "'", `"`, "é", "\u2028", "yes", "1", "~", "null", "%", "@", "|", ">", "\r", "😀", "{", "&a", "*a", "!", "\x1b", "\u0085", "---", "..."}
	text := func() string {
		var b strings.Builder
		for range 1 + random.IntN(6) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	for range 1000 {
		value := float64(random.IntN(100)) / 8
		p := api.NewPrism{Slug: text(), Name: text(), NewVersion: api.NewVersion{
			Definition: api.Definition{
				Instructions: text(),
				Model:        text(),
				Escalate:     []*api.Escalate{nil, {To: text(), Below: value}, {To: text(), Below: value, Questions: []string{text(), text()}}}[random.IntN(3)],
				Fields:       []api.Field{{Key: text(), Label: text()}},
				Questions: []api.Question{
					{Key: text(), Type: prism.Choice, Text: text(), Options: []api.Option{{Key: text(), Label: text(), Description: text()}}, InsufficientInformation: true},
					{Key: text(), Type: prism.Scale, Text: text(), Levels: []api.Level{{Key: text(), Label: text(), Value: &value}}},
				},
			},
			Lens: &api.Lens{Columns: []api.Column{{Name: text(), Question: text(), Show: prism.ShowAnswer, YesAt: &value}}},
		}}
		yaml := YAML(p)
		files, err := Decode("f", []byte(yaml))
		if err != nil || len(files) != 1 || !reflect.DeepEqual(files[0].Prism, p) {
			t.Fatalf("%v\n%s\ngot  %+v\nwant %+v", err, yaml, files, p)
		}
	}
}
