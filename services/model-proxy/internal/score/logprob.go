package score

import (
	"math"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
)

// Token is a possible next token of a model.
type Token struct {
	Text    string
	LogProb float64 // natural; NaN if it is not known
}

// Letters are the labels of n options or levels in definition order: A, B, C … At most 26.
func Letters(n int) []string { return strings.Split("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:min(n, 26)], "") }

// Labelled is what the likely tokens of a model say about a question.
type Labelled struct {
	Answer *prism.Answer // nil if there is no usable one
	// Mass is the sum of the probabilities of the labels before they are normalised, which is the part of the model's probability
	// that they had.
	Mass float64
	// Absent are the keys of the labels that are not among the tokens, in definition order; yes and no of a yes_no.
	Absent []string
}

// Labels computes the answer to a question from the most likely tokens (spec: chat-labels). The labels belong to q.ReplyKeys, in
// their order.
//
// Hosts send -9999 for "very unlikely", which becomes a probability of 0. A probability above 1 by up to 5% is taken as rounding.
// There is no usable answer if one is larger, if a label has no log-probability, if no label is
// among the tokens, and if a label that is not among them might be the most probable one (spec: absent-labels).
func Labels(q prism.Question, labels []string, tokens []Token) (labelled Labelled) {
	ps, present := make([]float64, len(labels)), make([]bool, len(labels))
	least, returned, mass := 1.0, 0.0, 0.0
	for _, t := range tokens {
		p, i := math.Exp(t.LogProb), labelOf(labels, t.Text)
		if !(p <= 1+excess+slack) { // NaN is not <=
			if i < 0 {
				continue
			}
			return Labelled{}
		}
		p = min(p, 1)
		least, returned = min(least, p), returned+p
		if i >= 0 {
			ps[i], present[i], mass = ps[i]+p, true, mass+p
		}
	}
	if mass == 0 || mass > 1+excess+slack {
		return Labelled{}
	}
	labelled.Mass = min(mass, 1)
	keys := q.ReplyKeys()
	best, left := 0, max(1-returned, 0)
	for i, p := range ps {
		if !present[i] {
			labelled.Absent = append(labelled.Absent, keys[i])
		} else if !present[best] || p > ps[best] {
			best = i
		}
	}
	bound := min(least, left)
	for i := range ps {
		switch {
		case present[i]:
		case bound > ps[best], bound == ps[best] && (i < best || q.Type.Classes() == prism.Binary):
			return labelled
		default:
			ps[i] = min(bound, left/float64(len(labelled.Absent)))
		}
	}
	prism.Normalize(ps)
	labelled.Answer = ordered(q, keys, ps)
	return labelled
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
