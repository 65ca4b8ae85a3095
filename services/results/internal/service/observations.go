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

// observationSet is the answers to a question whose right value is known.
type observationSet struct {
	Labels       int // that were looked at; those that do not count are not among the observations
	Observations []calibration.Observation
	completeness
}

// observations are the answers of a version to a question that have a label that counts. The filter narrows the results of the
// version, such as by the model that answered.
func (s *Service) observations(
	ctx context.Context, account prism.AccountID, of prism.PrismID, v *version, q prism.Question, f store.Filter,
) (observationSet, error) {
	f.Prism, f.Version = of, v.Number
	labels, err := s.labelled(ctx, account, f, q.Key)
	if err != nil {
		return observationSet{}, err
	}
	found := observationSet{Labels: len(labels.found), completeness: labels.completeness}
	observe := newObserver(q, answerKeys(q))
	for _, l := range labels.found {
		if !labels.counts(l) {
			continue
		}
		o, ok, err := observe.observation(l)
		if err != nil {
			return observationSet{}, err
		}
		if ok {
			found.Observations = append(found.Observations, o)
		}
	}
	return found, nil
}

// labelled is the newest labels of a question, at most maxCounted.
type labelled struct {
	found []store.LabelledAnswer
	completeness
}

// completeness is whether labels that say nothing of a sample are one of all results. It changes when results are saved, though the
// labels stay.
type completeness struct {
	filter   store.Filter
	matters  bool // there are labels that count only if every result has one
	labels   int  // that are not of the sample uncertain
	complete bool // every result that passes the filter has such a label
}

// counts tells whether a label is one of a sample. A label of a random sample counts, and one of a file, whose whole column was
// stored. Labels without a sample are one of all results if every result that passes the filter has a label. Labels of results that
// were chosen because the model was uncertain never count: they would bias every measure (spec: labels-that-count).
func (l labelled) counts(a store.LabelledAnswer) bool {
	switch {
	case a.Sample == contract.UncertainSample:
		return false
	case a.Sample == contract.RandomSample, a.Origin == store.LabelOfFile:
		return true
	}
	return l.complete
}

// labelled finds the labels of a question.
func (s *Service) labelled(
	ctx context.Context, account prism.AccountID, f store.Filter, question string,
) (l labelled, err error) {
	l.filter = f
	if l.found, err = s.Store.Labelled(ctx, account, f, question, maxCounted); err != nil {
		return l, err
	}
	for _, a := range l.found {
		if a.Sample != contract.UncertainSample {
			l.labels++
			l.matters = l.matters || !l.counts(a)
		}
	}
	if l.matters && len(l.found) == maxCounted { // there may be more
		if l.labels, err = s.Store.CountLabelled(ctx, account, f, question); err != nil {
			return l, err
		}
	}
	l.complete, err = s.isComplete(ctx, account, l.completeness)
	return l, err
}

func (s *Service) isComplete(ctx context.Context, account prism.AccountID, c completeness) (bool, error) {
	if !c.matters {
		return false, nil
	}
	answered, err := s.Store.CountAnswered(ctx, account, c.filter, c.labels+1)
	return answered <= c.labels, err
}

// observer turns labelled answers to a question into observations. It cannot be used concurrently.
type observer struct {
	question prism.Question
	classes  []string // the values that labels have; the index of a value is its class
	parser   answerjson.Parser
}

// answerKeys are the values that labels of a question have, in order.
func answerKeys(q prism.Question) []string {
	if q.Type == prism.YesNo {
		return []string{"false", "true"}
	}
	return q.AnswerKeys()
}

// newObserver is an observer whose classes may be more than those of the question.
func newObserver(q prism.Question, classes []string) *observer {
	return &observer{question: q, classes: classes}
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
	seen := calibration.Observation{Label: slices.Index(o.classes, l.Value), Cluster: binary.BigEndian.Uint64(l.Input[:])}
	if o.question.Type == prism.YesNo {
		seen.Probabilities = []float64{a.Probability}
		return seen, seen.Label >= 0, nil
	}
	for _, key := range o.classes {
		p, _ := a.ProbabilityOf(key) // an option of another version has none
		seen.Probabilities = append(seen.Probabilities, p)
	}
	return seen, seen.Label >= 0, nil
}
