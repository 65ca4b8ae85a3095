// Package offline answers without a model: it counts the words that the input shares with questions, options and levels
// (spec: provider-offline). The same ask always has the same answers. It is meant for trying Prism out, for tests and for
// benchmarks.
//
// How it decides:
//
//   - Words are lower-cased and lightly stemmed: "refunded", "refunds" and "refund" are the same word. Stop words ("the",
//     "customer") are ignored. A few groups of near synonyms count for each other at half weight.
//   - choice: an option gets points for each of its words in the input, more points the fewer options have the word. Its words are those of
//     its key, label and description, and of the examples in which it is right.
//     `insufficient_information` has the most points when no option has a word in the input.
//   - yes_no: the probability of yes grows with the part of the question's words that is in the input.
//   - tags: the probability of each option grows in the same way with the part of the option's words that is in the input.
//   - scale: levels get points like options. Strong words in the input ("furious", "urgent") shift the answer up, and mild
//     words ("thanks", "calm") shift it down; when the top level has a mild word, the other way round. Without such words
//     the middle level is likeliest.
package offline

import (
	"context"
	"math"
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/score"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Name is the value of PRISM_MODEL_PROVIDER.
const Name = "offline"

const (
	sharpness   = 3.0 // a shared word multiplies an option's weight by e to this power
	maxPoints   = 6.0 // limit of an option's points
	noneShared  = 1.0 // points of insufficient_information when no option has a word in the input
	wordsShared = 0.3 // points of insufficient_information otherwise
)

// New makes the provider. It has one call, which does no I/O and never fails.
func New() provider.Provider {
	return provider.Provider{Name: Name, Probabilities: api.Simulated, Whole: true, Calls: func(a contract.Ask) []provider.Call {
		return []provider.Call{{
			Questions: a.Definition.Questions,
			Do: func(context.Context) (provider.Reply, *upstream.Fault) {
				return provider.Reply{Answers: answers(a)}, nil
			},
		}}
	}}
}

// plan has the words of a question that count.
type plan struct {
	text    []string
	options [][]string // the words of each option or level
}

// answers reads the definition, to know which words count, and then the input once.
func answers(a contract.Ask) []*prism.Answer {
	v := newVocabulary()
	plans := make([]plan, len(a.Definition.Questions))
	for i, q := range a.Definition.Questions {
		plans[i].text = v.learn(q.Text)
		said := wordsOfExamples(a.Definition.Examples, q)
		for _, o := range q.Options {
			plans[i].options = append(plans[i].options, v.learn(o.Key, o.Label, o.Description, said[o.Key]))
		}
		for _, l := range q.Levels {
			plans[i].options = append(plans[i].options, v.learn(l.Key, l.Label, said[l.Key]))
		}
	}
	v.read(a.Context)
	for _, f := range a.Fields {
		v.read(f.Value)
	}
	out := make([]*prism.Answer, len(plans))
	for i, q := range a.Definition.Questions {
		out[i] = v.answer(q, plans[i])
	}
	return out
}

// wordsOfExamples are the texts of the examples in which each option or level is right, or one of those that are.
func wordsOfExamples(examples []prism.Example, q prism.Question) map[string]string {
	said := map[string]string{}
	for _, e := range examples {
		value, ok := e.Label(q)
		if !ok || q.Type.Classes() == prism.Binary {
			continue
		}
		for _, key := range q.LabelReplies(value) {
			for _, f := range e.Fields {
				said[key] += " " + f.Value
			}
		}
	}
	return said
}

func (v vocabulary) answer(q prism.Question, p plan) *prism.Answer {
	if q.Type.Classes() == prism.Binary {
		return score.Yes(q, v.coverage(p.text))
	}
	if q.Type.Classes() == prism.Multiple {
		var each []prism.Answer
		for _, words := range p.options {
			each = append(each, prism.Answer{Probability: v.coverage(words)})
		}
		return new(q.Whole(each))
	}
	points := v.points(p.options)
	if q.InsufficientInformation {
		insufficient := noneShared
		if slices.Max(points) > 0 {
			insufficient = wordsShared
		}
		points = append(points, insufficient)
	}
	if q.Type.Classes() == prism.Ordinal {
		top := float64(len(points) - 1)
		at := v.intensity(p.options[len(points)-1]) * top
		for i := range points {
			d := (float64(i) - at) / max(top, 1) * 2
			points[i] -= d * d / 2
		}
	}
	return score.Ordered(q, softmax(points))
}

// points are the points of each option for the words that it shares with the input.
func (v vocabulary) points(options [][]string) []float64 {
	rarity := map[string]float64{} // how many options have a word
	for _, words := range options {
		for _, w := range words {
			rarity[w]++
		}
	}
	points := make([]float64, len(options))
	for i, words := range options {
		for _, w := range words {
			points[i] += v.weight(w) / rarity[w]
		}
		points[i] = min(points[i], maxPoints)
	}
	return points
}

// coverage is the probability of yes. It grows from 0.1 to 0.9 with the part of the words that is in the input, and is 0.7
// when half of them are. It is 0.5 when there are no words.
func (v vocabulary) coverage(words []string) float64 {
	if len(words) == 0 {
		return 0.5
	}
	var sum float64
	for _, w := range words {
		sum += min(v.weight(w), 1)
	}
	missed := 1 - sum/float64(len(words))
	return 0.9 - 0.8*missed*missed
}

// softmax converts points to probabilities that are above zero and sum to 1.
func softmax(points []float64) []float64 {
	top := slices.Max(points)
	ps := make([]float64, len(points))
	for i, s := range points {
		ps[i] = math.Exp(sharpness * (s - top))
	}
	prism.Normalize(ps)
	return ps
}
