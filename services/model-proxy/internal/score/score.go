// Package score turns probabilities into answers: it checks them, normalises them and chooses an option
// (spec: probability-checks, chosen-key, confidence). An answer is nil when the probabilities fail a check.
package score

import (
	"math"

	"github.com/prism-results/prism/pkg/prism"
)

// excess is how far a probability of tokens, or their sum, may be above 1, as rounding. slack covers the rounding of binary sums, and
// beyond is how far a stated probability may be outside of 0 and 1.
const (
	excess = 0.05
	slack  = 1e-9
	beyond = 1e-6
)

// tolerance is how far from 1 the sum of n probabilities may be, inclusive: hosts round each to two decimals.
func tolerance(n int) float64 { return min(max(0.005*float64(n), 0.05), 0.15) }

// Options is the answer to a question with options or levels with these probabilities by option or level key. Every key of the
// question must have a probability from 0 to 1, and their sum must be within the tolerance of 1. Other keys are ignored.
func Options(q prism.Question, byKey map[string]float64) *prism.Answer {
	keys := q.AnswerKeys()
	ps := make([]float64, len(keys))
	for i, key := range keys {
		p, ok := byKey[key]
		if !ok {
			return nil
		}
		ps[i] = p
	}
	return ordered(q, keys, ps)
}

// Ordered is the answer with a probability for each of q.ReplyKeys, in their order. It normalises ps itself.
func Ordered(q prism.Question, ps []float64) *prism.Answer { return ordered(q, q.AnswerKeys(), ps) }

func ordered(q prism.Question, keys []string, ps []float64) *prism.Answer {
	if q.Type.Classes() == prism.Binary {
		return Yes(q, ps[0])
	}
	if len(keys) == 0 || len(ps) != len(keys) {
		return nil
	}
	var sum float64
	for i, p := range ps {
		if !(p >= -beyond && p <= 1+beyond) { // NaN is not
			return nil
		}
		ps[i] = min(max(p, 0), 1)
		sum += ps[i]
	}
	if math.Abs(sum-1) > tolerance(len(ps))+slack {
		return nil
	}
	a := &prism.Answer{Question: q.Key, Type: q.Type, Probabilities: make([]prism.KeyProbability, len(keys))}
	best := 0
	prism.Normalize(ps)
	for i, key := range keys {
		a.Probabilities[i].Key = key
		ps[i] += 0            // turns a negative zero into a plain one
		if ps[i] > ps[best] { // the first in definition order wins a tie (spec: chosen-key)
			best = i
		}
	}
	a.Chosen = keys[best]
	a.SetProbabilities(ps, a.Probabilities[:0])
	return a
}

// Yes is the answer to a yes_no question with this probability of yes, which must be within [0, 1].
func Yes(q prism.Question, p float64) *prism.Answer {
	if !(p >= -beyond && p <= 1+beyond) { // NaN is not
		return nil
	}
	return &prism.Answer{Question: q.Key, Type: q.Type, Probability: min(max(p, 0), 1) + 0}
}

// Sampled is the answer to a question of which a model gave samples: counts are how often it chose each of q.ReplyKeys, asked is how
// many samples were drawn. Options that were never chosen are not impossible, so that the probabilities are the mean of the posterior
// with Perks' prior of 1/K for each of K options: (k + 1/K)/(n + 1) (spec: sampled-answers; Perks, "Some observations on inverse
// probability", Journal of the Institute of Actuaries 73, 1947). There is no usable answer if less than half of the samples are.
func Sampled(q prism.Question, counts []int, asked int) *prism.Answer {
	n := 0
	for _, k := range counts {
		n += k
	}
	if n == 0 || 2*n < asked {
		return nil
	}
	ps := make([]float64, len(counts))
	for i, k := range counts {
		ps[i] = (float64(k) + 1/float64(len(counts))) / float64(n+1)
	}
	return ordered(q, q.AnswerKeys(), ps)
}

// least is the smallest probability of a label in Pool; smaller ones are raised to it. A label that is not among the likely tokens
// of one order would otherwise be impossible, whatever the other orders say.
const least = 1e-6

// Pool joins the answers that several orders of a question's labels gave, and tells how far they disagreed (spec: label-orders,
// order-disagreement). There is at least one answer, and the first has its keys in definition order.
//
// The pooled probability of a label is the geometric mean of its probabilities, normalised: the logarithmic opinion pool with
// equal weights (Genest and Zidek, "Combining Probability Distributions", Statistical Science 1(1), 1986). A factor that
// each label gets in exactly one of the orders cancels out. The disagreement is the mean total variation distance of the
// answers from the pool, from 0 (all are the same) to 1.
func Pool(orders []*prism.Answer) (pooled *prism.Answer, disagreement float64) {
	first := orders[0]
	var keys []string
	for _, p := range first.Probabilities {
		keys = append(keys, p.Key)
	}
	probabilities := func(a *prism.Answer) []float64 {
		ps := a.ProbabilitiesOf(keys)
		if len(ps) == 1 {
			ps = append(ps, 1-ps[0]) // of no
		}
		return ps
	}
	pool := make([]float64, len(probabilities(first)))
	for _, a := range orders {
		for i, p := range probabilities(a) {
			pool[i] += math.Log(max(p, least)) / float64(len(orders))
		}
	}
	for i := range pool {
		pool[i] = math.Exp(pool[i])
	}
	prism.Normalize(pool)
	for _, a := range orders {
		for i, p := range probabilities(a) {
			disagreement += math.Abs(p-pool[i]) / 2 / float64(len(orders))
		}
	}
	q := prism.Question{Key: first.Question, Type: first.Type}
	return ordered(q, keys, pool), min(disagreement, 1)
}
