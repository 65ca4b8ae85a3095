package score

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func token(text string, logProb float64) Token { return Token{text, &logProb} }

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
		tokens = append(tokens, token("AA", -0.1), token("", -0.1), token("Ä", -0.1), token("A.", math.NaN()), Token{Text: "A."})
		ps, mass := Labels(labels, rapid.Permutation(tokens).Draw(t, "order"))
		if ps == nil {
			t.Fatal("unusable")
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
		"no tokens":                            {nil, nil},
		"no label among the tokens":            {[]Token{token("C", -0.1), token("Answer", -1)}, nil},
		"a missing label has 0":                {[]Token{token("B", -3)}, []float64{0, 1}},
		"-9999 is 0":                           {[]Token{token("A", -9999), token("B", -3)}, []float64{0, 1}},
		"-9999 everywhere is no label":         {[]Token{token("A", -9999), token("B", -9999)}, nil},
		"minus infinity is 0":                  {[]Token{token("A", math.Inf(-1)), token("B", -3)}, []float64{0, 1}},
		"NaN of a label is unusable":           {[]Token{token("A", math.NaN()), token("B", -3)}, nil},
		"a label without a number is unusable": {[]Token{{Text: "A"}, token("B", -3)}, nil},
		"NaN of another token is passed":       {[]Token{token("x", math.NaN()), token("B", -3)}, []float64{0, 1}},
		"a little above 0 is rounding":         {[]Token{token("A", 1e-6)}, []float64{1, 0}},
		"far above 0 is nonsense":              {[]Token{token("A", 0.1)}, nil},
		"infinity is nonsense":                 {[]Token{token("A", math.Inf(1))}, nil},
		"more than all probability together":   {[]Token{token("A", 0), token("B", -1)}, nil},
		"equal labels":                         {[]Token{token("b", -1), token(" A", -1)}, []float64{0.5, 0.5}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ps, _ := Labels(Letters(2), c.tokens)
			if (ps == nil) != (c.want == nil) {
				t.Fatalf("got %v", ps)
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
	if len(Letters(40)) != 26 {
		t.Error("there are 26 letters")
	}
}
