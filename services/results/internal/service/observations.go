package service

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// maxCounted bounds the labels that a measure or a calibration looks at: those of the newest results (spec: labels-that-count).
const maxCounted = 10_000

// observed is the answers to a question whose right value is known.
type observed struct {
	Labels       int // that were looked at; those that do not count are not among the observations
	Observations []calibration.Observation
}

// observations are the answers of a version to a question that have a label that counts. The filter narrows the results of the
// version, such as by the model that answered.
func (s *Service) observations(
	ctx context.Context, account prism.AccountID, of prism.PrismID, v *version, q prism.Question, f store.Filter,
) (observed, error) {
	f.Prism, f.Version = of, v.Number
	labels, counted, err := s.labelsThatCount(ctx, account, f, q.Key)
	if err != nil {
		return observed{}, err
	}
	found := observed{Labels: labels}
	observe := newObserver(q)
	for _, l := range counted {
		o, ok, err := observe.observation(l)
		if err != nil {
			return observed{}, err
		}
		if ok {
			found.Observations = append(found.Observations, o)
		}
	}
	return found, nil
}

// labelsThatCount are the newest labels of a question, at most maxCounted, that are those of a sample, and how many there were before
// the others were left out. A label of a random sample counts, and one of a file, whose whole column was stored. Labels without a
// sample are one of all results if every result that passes the filter has a label. Labels of results that were chosen because the
// model was uncertain never count: they would bias every measure (spec: labels-that-count).
func (s *Service) labelsThatCount(
	ctx context.Context, account prism.AccountID, f store.Filter, question string,
) (labels int, counted []store.LabelledAnswer, err error) {
	found, err := s.Store.Labelled(ctx, account, f, question, maxCounted)
	if err != nil {
		return 0, nil, err
	}
	labels = len(found)
	found = slices.DeleteFunc(found, func(l store.LabelledAnswer) bool { return l.Sample == contract.UncertainSample })
	sampled := func(l store.LabelledAnswer) bool {
		return l.Sample == contract.RandomSample || l.Origin == store.LabelOfFile
	}
	if !slices.ContainsFunc(found, func(l store.LabelledAnswer) bool { return !sampled(l) }) {
		return labels, found, nil
	}
	certain := len(found)
	if labels == maxCounted { // there may be more
		if certain, err = s.Store.CountLabelled(ctx, account, f, question); err != nil {
			return 0, nil, err
		}
	}
	answered, err := s.Store.CountAnswered(ctx, account, f, certain+1)
	if err != nil {
		return 0, nil, err
	}
	if answered > certain {
		found = slices.DeleteFunc(found, func(l store.LabelledAnswer) bool { return !sampled(l) })
	}
	return labels, found, nil
}

// observer turns labelled answers to a question into observations. It cannot be used concurrently.
type observer struct {
	question prism.Question
	classes  []string // of a choice or scale; the index of a key is its class
	parser   answerjson.Parser
}

func newObserver(q prism.Question) *observer {
	o := &observer{question: q}
	if q.Type != prism.YesNo {
		o.classes = q.AnswerKeys()
	}
	return o
}

// observation is false if the answer or the label does not fit the question, which no label does that was checked.
func (o *observer) observation(l store.LabelledAnswer) (calibration.Observation, bool, error) {
	answers, err := o.parser.Parse(l.Answers)
	if err != nil {
		return calibration.Observation{}, false, err
	}
	at := slices.IndexFunc(answers, func(a prism.Answer) bool { return a.Question == o.question.Key && a.Type == o.question.Type })
	if at < 0 {
		return calibration.Observation{}, false, nil
	}
	a := answers[at]
	// Equal inputs are one cluster: their answers say the same thing more than once.
	seen := calibration.Observation{Cluster: binary.BigEndian.Uint64(l.Input[:])}
	if o.question.Type == prism.YesNo {
		seen.Label = slices.Index([]string{"false", "true"}, l.Value)
		seen.Probabilities = []float64{a.Probability}
		return seen, seen.Label >= 0, nil
	}
	seen.Label = slices.Index(o.classes, l.Value)
	for _, key := range o.classes {
		p, ok := a.ProbabilityOf(key)
		if !ok {
			return calibration.Observation{}, false, nil
		}
		seen.Probabilities = append(seen.Probabilities, p)
	}
	return seen, seen.Label >= 0, nil
}
