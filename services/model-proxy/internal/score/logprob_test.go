package score

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/prism"
)

func token(text string, logProb float64) Token { return Token{text, logProb} }

// spec: chat-labels
func TestLabelsAreNormalisedAndTellTheirMass(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		labels := Letters(rapid.IntRange(2, 26).Draw(t, "labels"))
		weights := distribution(t, len(labels), rapid.Float64Range(0.001, 1).Draw(t, "mass"))
		var tokens []Token
		for i, l := range labels {
			// A label's weight may come in several forms of it.
			forms := rapid.SliceOfN(rapid.SampledFrom([]string{l, " " + l, strings.ToLower(l), l + "\n", "\t" + l}), 1, 4).Draw(t, "forms")
			for _, f := range forms {
				tokens = append(tokens, token(f, math.Log(weights[i]/float64(len(forms)))))
			}
		}
		tokens = append(tokens, token("AA", -0.1), token("", -0.1), token("Ä", -0.1), token("A.", math.NaN()))
		of := Labels(choice(len(labels)), labels, rapid.Permutation(tokens).Draw(t, "order"))
		if of.Answer == nil || len(of.Absent) > 0 {
			t.Fatalf("got %+v", of)
		}
		var want float64
		for _, w := range weights {
			want += w
		}
		for i, p := range of.Answer.Probabilities {
			if math.Abs(p.Probability-weights[i]/want) > 1e-9 {
				t.Fatalf("label %d is %v, want %v", i, p, weights[i]/want)
			}
		}
		if math.Abs(of.Mass-want) > 1e-9 {
			t.Fatalf("mass %v, want %v", of.Mass, want)
		}
	})
}

func TestLogProbabilitiesAtTheirLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tokens []Token
		want   []float64 // nil: no usable answer
	}{
		"no tokens":                          {nil, nil},
		"no label among the tokens":          {[]Token{token("C", -0.1), token("Answer", -1)}, nil},
		"-9999 is 0":                         {[]Token{token("A", -9999), token("B", -3)}, []float64{0, 1}},
		"-9999 everywhere is no label":       {[]Token{token("A", -9999), token("B", -9999)}, nil},
		"minus infinity is 0":                {[]Token{token("A", math.Inf(-1)), token("B", -3)}, []float64{0, 1}},
		"NaN of a label is unusable":         {[]Token{token("A", math.NaN()), token("B", -3)}, nil},
		"NaN of another token is passed":     {[]Token{token("x", math.NaN()), token("B", 0)}, []float64{0, 1}},
		"a little above 0 is rounding":       {[]Token{token("A", 1e-6)}, []float64{1, 0}},
		"far above 0 is nonsense":            {[]Token{token("A", 0.1)}, nil},
		"infinity is nonsense":               {[]Token{token("A", math.Inf(1))}, nil},
		"more than all probability together": {[]Token{token("A", 0), token("B", -1)}, nil},
		"equal labels":                       {[]Token{token("b", -1), token(" A", -1)}, []float64{0.5, 0.5}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := Labels(choice(2), Letters(2), c.tokens).Answer
			if (a == nil) != (c.want == nil) {
				t.Fatalf("got %v", a)
			}
			for i := range c.want {
				if math.Abs(a.Probabilities[i].Probability-c.want[i]) > 1e-12 {
					t.Errorf("got %v, want %v", a, c.want)
				}
			}
		})
	}
}

// spec: absent-labels
func TestAbsentLabelsShareWhatIsLeft(t *testing.T) {
	t.Parallel()
	log := math.Log
	yesNo := prism.Question{Key: "q", Type: prism.YesNo}
	for name, c := range map[string]struct {
		q      prism.Question
		tokens []Token
		want   []float64 // in definition order, or the probability of yes; nil: no usable answer
		absent []string
	}{
		"what is left":                {choice(3), []Token{token("A", log(0.9))}, []float64{0.9, 0.05, 0.05}, []string{"o1", "o2"}},
		"other tokens take of it":     {choice(3), []Token{token("A", log(0.8)), token("x", log(0.1))}, []float64{0.8 / 0.9, 0.05 / 0.9, 0.05 / 0.9}, []string{"o1", "o2"}},
		"no more than the least":      {choice(3), []Token{token("B", log(0.5)), token("x", log(0.01))}, []float64{0.01 / 0.52, 0.5 / 0.52, 0.01 / 0.52}, []string{"o0", "o2"}},
		"none is left":                {choice(2), []Token{token("B", log(0.6)), token("x", log(0.4))}, []float64{0, 1}, []string{"o0"}},
		"more than all was returned":  {choice(2), []Token{token("B", log(0.7)), token("x", log(0.4))}, []float64{0, 1}, []string{"o0"}},
		"one before might be chosen":  {choice(2), []Token{token("B", log(0.4))}, nil, []string{"o0"}},
		"one behind would not be":     {choice(2), []Token{token("A", log(0.25))}, []float64{0.5, 0.5}, []string{"o1"}},
		"a level":                     {scale(2), []Token{token("A", log(0.75))}, []float64{0.75, 0.25}, []string{"o1"}},
		"no":                          {yesNo, []Token{token("Yes", log(0.75))}, []float64{0.75}, []string{"no"}},
		"yes":                         {yesNo, []Token{token("no", log(0.75))}, []float64{0.25}, []string{"yes"}},
		"yes might be as probable":    {yesNo, []Token{token("No", log(0.5))}, nil, []string{"yes"}},
		"no might be as probable":     {yesNo, []Token{token("Yes", log(0.25))}, nil, []string{"no"}},
		"no might be nearly as so":    {yesNo, []Token{token("Yes", log(0.51))}, []float64{0.51}, []string{"no"}},
		"no label leaves none absent": {yesNo, []Token{token("x", log(0.5))}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			labels := Letters(len(c.q.AnswerKeys()))
			if c.q.Type == prism.YesNo {
				labels = []string{"Yes", "No"}
			}
			got := Labels(c.q, labels, c.tokens)
			if (got.Answer == nil) != (c.want == nil) || !slices.Equal(got.Absent, c.absent) {
				t.Fatalf("got %+v, %v absent", got.Answer, got.Absent)
			}
			for i, want := range c.want {
				p := got.Answer.Probability
				if c.q.Type != prism.YesNo {
					p = got.Answer.Probabilities[i].Probability
				}
				if math.Abs(p-want) > 1e-12 {
					t.Errorf("got %+v, want %v", got.Answer, c.want)
				}
			}
		})
	}
}

func TestLettersGoFromAToZ(t *testing.T) {
	t.Parallel()
	if got := strings.Join(Letters(26), ""); got != "ABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		t.Error(got)
	}
	if len(Letters(40)) != 26 {
		t.Error("there are 26 letters")
	}
}
