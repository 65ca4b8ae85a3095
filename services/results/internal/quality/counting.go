package quality

import (
	"context"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// maxCounted bounds the labels that a measure or a calibration looks at: those of the newest results (spec: labels-that-count).
const maxCounted = 10_000

// labelSet is the newest labels of a question, at most maxCounted.
type labelSet struct {
	newest []Label
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
func (c completeness) counts(l Label) bool {
	switch {
	case l.Sample == prism.UncertainSample:
		return false
	case l.Sample == prism.RandomSample, l.Origin == store.LabelOfFile:
		return true
	}
	return c.complete
}

// counted are the labels that count.
func (s labelSet) counted() (counted []Label) {
	for _, l := range s.newest {
		if s.counts(l) {
			counted = append(counted, l)
		}
	}
	return counted
}

// CountedLabels are the newest labels of a question that count.
func (s *Handlers) CountedLabels(ctx context.Context, account prism.AccountID, f store.Filter, question string) ([]Label, error) {
	labels, err := s.labels(ctx, account, f, question)
	return labels.counted(), err
}

// labels finds the newest labels of a question.
func (s *Handlers) labels(ctx context.Context, account prism.AccountID, f store.Filter, question string) (l labelSet, err error) {
	l.filter = f
	if l.newest, err = s.store.Labelled(ctx, account, f, question, maxCounted); err != nil {
		return l, err
	}
	for _, label := range l.newest {
		if label.Sample != prism.UncertainSample {
			l.labels++
			l.matters = l.matters || !l.counts(label)
		}
	}
	if l.matters && len(l.newest) == maxCounted { // there may be more
		if l.labels, err = s.store.CountLabelled(ctx, account, f, question); err != nil {
			return l, err
		}
	}
	l.complete, err = s.isComplete(ctx, account, l.completeness)
	return l, err
}

func (s *Handlers) isComplete(ctx context.Context, account prism.AccountID, c completeness) (bool, error) {
	if !c.matters {
		return false, nil
	}
	answered, err := s.store.CountAnswered(ctx, account, c.filter, c.labels+1)
	return answered <= c.labels, err
}
