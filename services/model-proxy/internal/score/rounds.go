package score

import (
	"cmp"
	"slices"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// noneLabel is what a model reads of the label that says that no option of a group is right.
const noneLabel = "None of these"

// Group is the question that asks some of a question's options, with one label more at the end, which says that none of them is right
// (spec: option-groups).
func Group(q prism.Question, options []prism.Option) prism.Question {
	q.Options = append(slices.Clip(options), prism.Option{Key: noneKey(q), Label: noneLabel})
	q.InsufficientInformation = false // it is for the last round
	return q
}

// noneKey is a key that no option has.
func noneKey(q prism.Question) string {
	key := "none_of_these"
	for slices.ContainsFunc(q.Options, func(o prism.Option) bool { return o.Key == key }) {
		key += "_"
	}
	return key
}

// Shares are the probabilities of a question's options after the first round, in their order: those in their groups, divided by their sum
// over all groups. ok is false if the model said that the right one is in no group: in each of them the options have less than least, or
// nothing (spec: option-groups).
func Shares(q prism.Question, groups []*prism.Answer, least float64) (shares []float64, ok bool) {
	byKey, total, none := make(map[string]float64, len(q.Options)), 0.0, noneKey(q)
	for _, g := range groups {
		sum := 0.0
		for _, p := range g.Probabilities {
			if p.Key != none {
				byKey[p.Key], sum = p.Probability, sum+p.Probability
			}
		}
		total, ok = total+sum, ok || sum > 0 && sum >= least
	}
	if !ok {
		return nil, false
	}
	shares = make([]float64, len(q.Options))
	for i, o := range q.Options {
		shares[i] = byKey[o.Key] / total
	}
	return shares, true
}

// LastRound is the question that asks the most probable options together, in the order of the definition: at most contract.Candidates, and
// at most `most` labels. Of equally probable ones the first in definition order are taken.
func LastRound(q prism.Question, shares []float64, maxOptions int) prism.Question {
	n := contract.Candidates
	if q.InsufficientInformation {
		maxOptions--
	}
	order := make([]int, len(shares))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(shares[b], shares[a]) })
	order = order[:min(n, maxOptions, len(order))]
	slices.Sort(order)
	last := q
	last.Options = make([]prism.Option, len(order))
	for i, at := range order {
		last.Options[i] = q.Options[at]
	}
	return last
}

// Rounds is the answer to a question whose options were asked in groups, and then the most probable ones together: these share what they
// had in the first round as the last one says, and so does insufficient_information, which had nothing. The others keep their share.
func Rounds(q prism.Question, shares []float64, last *prism.Answer) *prism.Answer {
	asked := make(map[string]float64, len(last.Probabilities))
	for _, p := range last.Probabilities {
		asked[p.Key] = p.Probability
	}
	total := 0.0
	for i, o := range q.Options {
		if _, ok := asked[o.Key]; ok {
			total += shares[i]
		}
	}
	ps := make([]float64, 0, len(shares)+1)
	for i, o := range q.Options {
		if p, ok := asked[o.Key]; ok {
			ps = append(ps, total*p)
		} else {
			ps = append(ps, shares[i])
		}
	}
	if q.InsufficientInformation {
		ps = append(ps, total*asked[prism.InsufficientInformation])
	}
	return Ordered(q, ps)
}

// MostStated is how many options of a question a model states the probabilities of (spec: stated-options).
const MostStated = 10

// Stated is the answer to a question with many options, of which a model stated the most probable ones: the others share equally what is
// left. There is no usable answer if an option that it did not state would be the most probable one. Keys that no option has are ignored.
func Stated(q prism.Question, byKey map[string]float64) *prism.Answer {
	keys := q.AnswerKeys()
	ps, sum, top, stated := make([]float64, len(keys)), 0.0, 0.0, 0
	for i, key := range keys {
		if p, ok := byKey[key]; ok {
			ps[i], sum, top = p, sum+p, max(top, p)
			stated++
		}
	}
	if !(sum >= 0) || stated == 0 { // NaN is not
		return nil
	}
	each := 0.0
	if stated < len(keys) {
		each = max(1-sum, 0) / float64(len(keys)-stated)
	}
	if each > top {
		return nil
	}
	for i, key := range keys {
		if _, ok := byKey[key]; !ok {
			ps[i] = each
		}
	}
	return Ordered(q, ps)
}
