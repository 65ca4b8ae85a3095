package score

import (
	"math"
	"strings"
)

// MaxLabels is how many labels a question can have: the letters A to Z.
const MaxLabels = 26

// Token is a possible next token of a model with its natural log-probability.
type Token struct {
	Text    string
	LogProb float64
}

// Letters are the labels of n options or levels in definition order: A, B, C … At most MaxLabels.
func Letters(n int) []string {
	labels := make([]string, min(n, MaxLabels))
	for i := range labels {
		labels[i] = string(rune('A' + i))
	}
	return labels
}

// Labels computes a probability for each label from the most likely tokens (spec: chat-labels). The probabilities sum to 1;
// mass is the sum before normalising, which is the part of the model's probability that the labels had.
//
// Hosts send -9999 for "very unlikely", which is a probability of 0. A log-probability above 0 is taken as rounding up to
// 5%, like the sums of other providers. A larger one, or no label among the tokens, is ErrUnusable.
func Labels(labels []string, tokens []Token) (ps []float64, mass float64, err error) {
	ps = make([]float64, len(labels))
	for _, t := range tokens {
		i := labelOf(labels, t.Text)
		if i < 0 {
			continue
		}
		p := math.Exp(t.LogProb)
		if !(p <= 1+tolerance+slack) { // NaN is not <=
			return nil, 0, ErrUnusable
		}
		ps[i] += min(p, 1)
	}
	for _, p := range ps {
		mass += p
	}
	if mass == 0 || mass > 1+tolerance+slack {
		return nil, 0, ErrUnusable
	}
	for i := range ps {
		ps[i] /= mass
	}
	return ps, min(mass, 1), nil
}

func labelOf(labels []string, token string) int {
	token = strings.TrimSpace(token)
	for i, l := range labels {
		if strings.EqualFold(token, l) {
			return i
		}
	}
	return -1
}
