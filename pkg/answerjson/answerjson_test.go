package answerjson_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

func sample() prism.Answers {
	return prism.Answers{
		{
			Question: "z", Type: prism.Choice, Chosen: "b", Confidence: 0.8,
			Probabilities: []prism.KeyProbability{{Key: "b", Probability: 0.9}, {Key: "a", Probability: 0.1}},
		},
		{Question: "y", Type: prism.YesNo, Probability: 0.25},
		{
			Question: "x", Type: prism.Scale, Chosen: "low",
			Probabilities: []prism.KeyProbability{{Key: "low", Probability: 1}, {Key: "high", Probability: 1e-7}},
		},
		{
			Question: "w", Type: prism.Tags,
			Probabilities: []prism.KeyProbability{{Key: "a", Probability: 0.5}, {Key: "b", Probability: 0.25}, {Key: "c", Probability: 0.75}},
		},
		{Question: "v", Type: prism.Tags, Probabilities: []prism.KeyProbability{{Key: "a", Probability: 0.25}}},
	}
}

const sampleText = `{"z":{"type":"choice","value":"b","probabilities":{"b":0.9,"a":0.1},"confidence":0.8},` +
	`"y":{"type":"yes_no","probability":0.25},` +
	`"x":{"type":"scale","level":"low","probabilities":{"low":1,"high":1e-7}},` +
	`"w":{"type":"tags","values":["c","a"],"probabilities":{"a":0.5,"b":0.25,"c":0.75}},` +
	`"v":{"type":"tags","values":[],"probabilities":{"a":0.25}}}`

// spec: raw-answer-shapes
func TestEachTypeHasTheMembersOfTheContractInItsOrder(t *testing.T) {
	t.Parallel()
	if got := string(answerjson.Append([]byte("x"), sample())); got != "x"+sampleText {
		t.Errorf("got %s", got)
	}
	if got := string(answerjson.Append(nil, nil)); got != "{}" {
		t.Errorf("no answers: %s", got)
	}
}

func TestStoredAnswersReadBackInOrder(t *testing.T) {
	t.Parallel()
	got, err := answerjson.Parse([]byte(sampleText))
	if err != nil || !reflect.DeepEqual(got, sample()) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestWhatAnotherReleaseMayHaveStoredIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stored string
		want         prism.Answer
	}{
		{"white space", " { \"q\" :\r\n\t{ \"type\" : \"yes_no\" , \"probability\" : 1 } } \n", prism.Answer{Question: "q", Type: prism.YesNo, Probability: 1}},
		{"members in another order", `{"q":{"probability":1,"type":"yes_no"}}`, prism.Answer{Question: "q", Type: prism.YesNo, Probability: 1}},
		{"unknown members", `{"q":{"type":"yes_no","why":{"a":[1,"x",null]},"probability":1}}`, prism.Answer{Question: "q", Type: prism.YesNo, Probability: 1}},
		{"unknown type", `{"q":{"type":"ranking","value":"a","probability":1}}`, prism.Answer{Question: "q", Type: "ranking"}},
		{"an unknown type with a list", `{"q":{"type":"ranking","values":[{"a":1}],"probabilities":{"a":1}}}`, prism.Answer{Question: "q", Type: "ranking"}},
		{
			"a tags in another order", `{"q":{"probabilities":{"a":1},"values":["a"],"type":"tags"}}`,
			prism.Answer{Question: "q", Type: prism.Tags, Probabilities: []prism.KeyProbability{{Key: "a", Probability: 1}}},
		},
		{"members of another type", `{"q":{"type":"yes_no","probability":1,"value":"a","level":"b","confidence":1,"probabilities":{"a":1}}}`, prism.Answer{Question: "q", Type: prism.YesNo, Probability: 1}},
		{"escapes", `{"\u0071\"":{"type":"yes_\u006eo","probability":1}}`, prism.Answer{Question: `q"`, Type: prism.YesNo, Probability: 1}},
		{"numbers as JSON has them", `{"q":{"type":"yes_no","probability":5E-1}}`, prism.Answer{Question: "q", Type: prism.YesNo, Probability: 0.5}},
	} {
		got, err := answerjson.Parse([]byte(c.stored))
		if err != nil || !reflect.DeepEqual(got, prism.Answers{c.want}) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

func TestWhatNoReleaseStoresIsRefusedWithoutRepeatingIt(t *testing.T) {
	t.Parallel()
	for name, stored := range map[string]string{
		"nothing":                       ``,
		"white space":                   ` `,
		"null":                          `null`,
		"an array":                      `[{}]`,
		"a string":                      `"SECRET"`,
		"no JSON":                       `SECRET`,
		"cut short":                     `{"q":{"type":"yes_no","probability":1}`,
		"cut short in a string":         `{"q":{"type":"yes_`,
		"another value after it":        `{}{}`,
		"a comma after it":              `{},`,
		"text after it":                 `{} SECRET`,
		"a NUL after it":                "{}\x00",
		"a byte-order mark":             "\xef\xbb\xbf{}",
		"a trailing comma":              `{"q":{"type":"yes_no","probability":1},}`,
		"a question twice":              `{"SECRET":{"type":"yes_no","probability":1},"SECRET":{"type":"yes_no","probability":1}}`,
		"a question twice, one escaped": `{"q":{"type":"yes_no","probability":1},"\u0071":{"type":"yes_no","probability":1}}`,
		"a member twice":                `{"q":{"type":"yes_no","probability":1,"probability":0}}`,
		"an option twice":               `{"q":{"type":"scale","level":"a","probabilities":{"a":1,"a":0}}}`,
		"an answer that is null":        `{"q":null}`,
		"an answer that is a number":    `{"q":1}`,
		"no type":                       `{"q":{"probability":1}}`,
		"a type that is a number":       `{"q":{"type":1}}`,
		"a yes_no without probability":  `{"q":{"type":"yes_no"}}`,
		"a choice without value":        `{"q":{"type":"choice","probabilities":{"a":1},"confidence":1}}`,
		"a choice with a level":         `{"q":{"type":"choice","level":"a","probabilities":{"a":1},"confidence":1}}`,
		"a choice without confidence":   `{"q":{"type":"choice","value":"a","probabilities":{"a":1}}}`,
		"a scale without probabilities": `{"q":{"type":"scale","level":"a"}}`,
		"a tags without values":         `{"q":{"type":"tags","probabilities":{"a":1}}}`,
		"a tags with one value":         `{"q":{"type":"tags","values":"a","probabilities":{"a":1}}}`,
		"a tags with a number":          `{"q":{"type":"tags","values":[1],"probabilities":{"a":1}}}`,
		"a tags with values of null":    `{"q":{"type":"tags","values":null,"probabilities":{"a":1}}}`,
		"a tags without probabilities":  `{"q":{"type":"tags","values":["a"]}}`,
		"a scale with a value":          `{"q":{"type":"scale","value":"a","probabilities":{"a":1}}}`,
		"a probability in quotes":       `{"q":{"type":"yes_no","probability":"SECRET"}}`,
		"a probability that is null":    `{"q":{"type":"yes_no","probability":null}}`,
		"a number too large":            `{"q":{"type":"yes_no","probability":1e400}}`,
		"no number":                     `{"q":{"type":"yes_no","probability":NaN}}`,
		"probabilities in an array":     `{"q":{"type":"scale","level":"a","probabilities":[1]}}`,
		"invalid UTF-8":                 "{\"q\xff\":{\"type\":\"yes_no\",\"probability\":1}}",
		"half a surrogate pair":         `{"q\ud800":{"type":"yes_no","probability":1}}`,
		"nesting without end":           `{"q":{"type":"yes_no","x":` + strings.Repeat(`[`, 100_000),
	} {
		got, err := answerjson.Parse([]byte(stored))
		if !errors.Is(err, answerjson.ErrShape) || got != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAParserForgetsTheAnswersBefore(t *testing.T) {
	t.Parallel()
	var p answerjson.Parser
	for range 3 {
		if got, err := p.Parse([]byte(sampleText)); err != nil || !reflect.DeepEqual(got, sample()) {
			t.Errorf("got %+v, %v", got, err)
		}
		if _, err := p.Parse([]byte(`{"q":{"type":"scale","probabilities":{"a":`)); !errors.Is(err, answerjson.ErrShape) {
			t.Error(err)
		}
		if got, err := p.Parse([]byte(`{}`)); err != nil || len(got) != 0 {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

func TestAParserLeavesItsInputAlone(t *testing.T) {
	t.Parallel()
	stored := []byte(sampleText)
	got, err := answerjson.Parse(stored)
	if err != nil || string(stored) != sampleText {
		t.Fatalf("%s, %v", stored, err)
	}
	clear(stored) // a driver reuses its buffer
	if !reflect.DeepEqual(got, sample()) {
		t.Errorf("got %+v", got)
	}
}

// anyAnswers draws answers of every type with any unique keys and any finite numbers.
func anyAnswers(t *rapid.T) prism.Answers {
	key := rapid.OneOf(rapid.StringMatching(`[a-z][a-z0-9_]{0,63}`), rapid.String())
	finite := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64)
	probabilities := func() []prism.KeyProbability {
		ps := []prism.KeyProbability{}
		for _, k := range rapid.SliceOfNDistinct(key, 1, 26, rapid.ID).Draw(t, "options") {
			ps = append(ps, prism.KeyProbability{Key: k, Probability: finite.Draw(t, "p") + 0})
		}
		return ps
	}
	answers := prism.Answers{}
	for _, q := range rapid.SliceOfNDistinct(key, 0, 8, rapid.ID).Draw(t, "questions") {
		a := prism.Answer{Question: q, Type: rapid.SampledFrom([]prism.QuestionType{prism.Choice, prism.YesNo, prism.Scale, prism.Tags}).Draw(t, "type")}
		switch a.Type {
		case prism.Choice:
			a.Chosen, a.Probabilities, a.Confidence = key.Draw(t, "chosen"), probabilities(), finite.Draw(t, "confidence")+0
		case prism.Scale:
			a.Chosen, a.Probabilities = key.Draw(t, "chosen"), probabilities()
		case prism.Tags:
			a.Probabilities = probabilities()
		case prism.YesNo:
			a.Probability = finite.Draw(t, "probability") + 0
		}
		answers = append(answers, a)
	}
	return answers
}

func TestWhatIsAppendedIsValidJSONAndParsesToTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		answers := anyAnswers(t)
		stored := answerjson.Append(nil, answers)
		if !strictjson.Value(stored).IsValid() {
			t.Fatalf("%s", stored)
		}
		got, err := answerjson.Parse(stored)
		if err != nil {
			t.Fatal(err)
		}
		if len(answers) != 0 && !reflect.DeepEqual(got, answers) {
			t.Fatalf("got  %+v\nwant %+v", got, answers)
		}
		if again := answerjson.Append(nil, got); string(again) != string(stored) {
			t.Fatalf("%s\nbecame %s", stored, again)
		}
	})
}

// Whatever parses is written and read back to the same answers.
func FuzzParse(f *testing.F) {
	f.Add([]byte(sampleText))
	f.Add([]byte(`{"q":{"type":"yes_no","probability":-0.0e-5,"x":[{"y":null}]}}`))
	f.Add([]byte(`{"\u0071":{"type":"scale","level":"\n","probabilities":{}}}`))
	f.Fuzz(func(t *testing.T, stored []byte) {
		first, err := answerjson.Parse(stored)
		if err != nil {
			return
		}
		canonical := answerjson.Append(nil, first)
		second, err := answerjson.Parse(canonical)
		if err != nil {
			t.Fatalf("%s: %v", canonical, err)
		}
		if again := answerjson.Append(nil, second); string(again) != string(canonical) {
			t.Fatalf("%s became %s", canonical, again)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	stored := []byte(sampleText)
	var p answerjson.Parser
	b.SetBytes(int64(len(stored)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Parse(stored); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	answers := sample()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = answerjson.Append(buf[:0], answers)
	}
}
