package score

import (
	"math"
	"strings"
)

// Token is a possible next token of a model with its natural log-probability, as chat completions encode it.
type Token struct {
	Text    string   `json:"token"`
	LogProb *float64 `json:"logprob"`
}

// Letters are the labels of n options or levels in definition order: A, B, C … At most 26.
func Letters(n int) []string { return strings.Split("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:min(n, 26)], "") }

// Labels computes a probability for each label from the most likely tokens (spec: chat-labels). The probabilities sum to 1;
// mass is the sum before normalising, which is the part of the model's probability that the labels had.
//
// Hosts send -9999 for "very unlikely", which becomes a probability of 0. A probability above 1 by up to 5% is taken as rounding,
// like the sums of other providers. The probabilities are nil if one is larger, if a label has no log-probability, and if no
// label is among the tokens.
func Labels(labels []string, tokens []Token) (ps []float64, mass float64) {
	ps = make([]float64, len(labels))
	for _, t := range tokens {
		i := labelOf(labels, t.Text)
		if i < 0 {
			continue
		}
		if t.LogProb == nil {
			return nil, 0
		}
		p := math.Exp(*t.LogProb)
		if !(p <= 1+tolerance+slack) { // NaN is not <=
			return nil, 0
		}
		ps[i] += min(p, 1)
		mass += min(p, 1)
	}
	if mass == 0 || mass > 1+tolerance+slack {
		return nil, 0
	}
	for i := range ps {
		ps[i] /= mass
	}
	return ps, min(mass, 1)
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
