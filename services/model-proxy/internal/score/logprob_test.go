package score

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// spec: chat-labels
func TestLabelsAreNormalisedAndTellTheirMass(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		labels := Letters(rapid.IntRange(2, MaxLabels).Draw(t, "labels"))
		weights := distribution(t, len(labels), rapid.Float64Range(0.001, 1).Draw(t, "mass"))
		var tokens []Token
		for i, l := range labels {
			// A label's weight may come in several forms of it.
			forms := rapid.SliceOfN(rapid.SampledFrom([]string{l, " " + l, strings.ToLower(l), l + "\n", "\t" + l}), 1, 4).Draw(t, "forms")
			for _, f := range forms {
				tokens = append(tokens, Token{f, math.Log(weights[i] / float64(len(forms)))})
			}
		}
		tokens = append(tokens, Token{"AA", -0.1}, Token{"", -0.1}, Token{"Ä", -0.1}, Token{"A.", math.NaN()})
		ps, mass, err := Labels(labels, rapid.Permutation(tokens).Draw(t, "order"))
		if err != nil {
			t.Fatal(err)
		}
		var sum, want float64
		for _, w := range weights {
			want += w
		}
		for i, p := range ps {
			sum += p
			if math.Abs(p-weights[i]/want) > 1e-9 {
				t.Fatalf("label %d is %v, want %v", i, p, weights[i]/want)
			}
		}
		if math.Abs(sum-1) > 1e-9 || math.Abs(mass-want) > 1e-9 {
			t.Fatalf("sum %v, mass %v, want 1 and %v", sum, mass, want)
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
		"no label among the tokens":          {[]Token{{"C", -0.1}, {"Answer", -1}}, nil},
		"a missing label has 0":              {[]Token{{"B", -3}}, []float64{0, 1}},
		"-9999 is 0":                         {[]Token{{"A", -9999}, {"B", -3}}, []float64{0, 1}},
		"-9999 everywhere is no label":       {[]Token{{"A", -9999}, {"B", -9999}}, nil},
		"minus infinity is 0":                {[]Token{{"A", math.Inf(-1)}, {"B", -3}}, []float64{0, 1}},
		"NaN of a label is unusable":         {[]Token{{"A", math.NaN()}, {"B", -3}}, nil},
		"NaN of another token is passed":     {[]Token{{"x", math.NaN()}, {"B", -3}}, []float64{0, 1}},
		"a little above 0 is rounding":       {[]Token{{"A", 1e-6}}, []float64{1, 0}},
		"far above 0 is nonsense":            {[]Token{{"A", 0.1}}, nil},
		"infinity is nonsense":               {[]Token{{"A", math.Inf(1)}}, nil},
		"more than all probability together": {[]Token{{"A", 0}, {"B", -1}}, nil},
		"equal labels":                       {[]Token{{"b", -1}, {" A", -1}}, []float64{0.5, 0.5}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ps, _, err := Labels(Letters(2), c.tokens)
			if (err != nil) != (c.want == nil) {
				t.Fatalf("got %v, %v", ps, err)
			}
			for i := range c.want {
				if math.Abs(ps[i]-c.want[i]) > 1e-12 {
					t.Errorf("got %v, want %v", ps, c.want)
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
	if len(Letters(40)) != MaxLabels {
		t.Error("there are 26 letters")
	}
}
