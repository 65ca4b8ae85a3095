package quality

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

// maxCounted bounds the labels that a measure or a calibration looks at: those of the newest results (spec: labels-that-count).
const maxCounted = 10_000

// observationSet is the answers to a question whose right value is known.
type observationSet struct {
	Labels       int // that were looked at; those that do not count are not among the observations
	Observations []calibration.Observation
	classes      []string // the values of the labels
	completeness
}

// observationBytes bounds the probabilities that are in memory at once. A choice of 26 options has 2 MB of them.
const observationBytes = 16 << 20

// questionsAtOnce is how many of the questions are measured together: those whose observations fit into observationBytes, at least
// one. Their answers are read once.
func questionsAtOnce(questions []prism.Question) int {
	size := 0
	for i, q := range questions {
		if size += 8 * maxCounted * max(1, len(q.AnswerKeys())); size > observationBytes {
			return max(1, i)
		}
	}
	return len(questions)
}

// observations are the answers of a version to questions that have a label that counts. The filter narrows the results of the
// version, such as by the model that answered.
func (s *Handlers) observations(
	ctx context.Context, account prism.AccountID, of prism.PrismID, v *prisms.Cached, questions []prism.Question, f store.Filter,
) ([]observationSet, error) {
	f.Prism, f.Version = of, v.Number
	type label struct{ question, class int }
	var (
		sets    = make([]observationSet, len(questions))
		counted = map[prism.ResultID][]label{}
		ids     []prism.ResultID
	)
	for i, q := range questions {
		labels, err := s.labels(ctx, account, f, q.Key)
		if err != nil {
			return nil, err
		}
		sets[i] = observationSet{Labels: len(labels.found), classes: q.LabelValues(), completeness: labels.completeness}
		for _, l := range labels.found {
			class := slices.Index(sets[i].classes, l.Value)
			if class < 0 || !labels.counts(l) {
				continue
			}
			if _, known := counted[l.Result]; !known {
				ids = append(ids, l.Result)
			}
			counted[l.Result] = append(counted[l.Result], label{i, class})
		}
	}
	err := s.eachAnswered(ctx, account, ids, func(id prism.ResultID, input [16]byte, answers prism.Answers) {
		for _, l := range counted[id] {
			// Equal inputs are one cluster: their answers say the same thing more than once.
			o := calibration.Observation{Label: l.class, Cluster: binary.BigEndian.Uint64(input[:])}
			set := &sets[l.question]
			if o.Probabilities = probabilitiesOf(questions[l.question], set.classes, answers); o.Probabilities != nil {
				set.Observations = append(set.Observations, o)
			}
		}
	})
	return sets, err
}

// eachAnswered calls read once with the input and the answers of each result that exists. The answers are valid only in the call.
func (s *Handlers) eachAnswered(
	ctx context.Context, account prism.AccountID, ids []prism.ResultID, read func(prism.ResultID, [16]byte, prism.Answers),
) error {
	var parser answerjson.Parser
	seen := make(map[prism.ResultID]bool, len(ids))
	return s.store.Answers(ctx, account, ids, func(a Answered) error {
		if seen[a.Result] {
			return nil
		}
		seen[a.Result] = true
		answers, err := parser.Parse(a.Answers)
		if err == nil {
			read(a.Result, a.Input, answers)
		}
		return err
	})
}

// labelSet is the newest labels of a question, at most maxCounted.
type labelSet struct {
	found []Label
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
func (l labelSet) counts(a Label) bool {
	switch {
	case a.Sample == prism.UncertainSample:
		return false
	case a.Sample == prism.RandomSample, a.Origin == store.LabelOfFile:
		return true
	}
	return l.complete
}

// labels finds the labels of a question.
func (s *Handlers) labels(
	ctx context.Context, account prism.AccountID, f store.Filter, question string,
) (l labelSet, err error) {
	l.filter = f
	if l.found, err = s.store.Labelled(ctx, account, f, question, maxCounted); err != nil {
		return l, err
	}
	for _, a := range l.found {
		if a.Sample != prism.UncertainSample {
			l.labels++
			l.matters = l.matters || !l.counts(a)
		}
	}
	if l.matters && len(l.found) == maxCounted { // there may be more
		if l.labels, err = s.store.CountLabelled(ctx, account, f, question); err != nil {
			return l, err
		}
	}
	l.complete, err = s.isComplete(ctx, account, l.completeness)
	return l, err
}

// CountedLabels are the newest labels of a question that count.
func (s *Handlers) CountedLabels(
	ctx context.Context, account prism.AccountID, f store.Filter, question string,
) (counted []Label, err error) {
	labels, err := s.labels(ctx, account, f, question)
	for _, l := range labels.found {
		if labels.counts(l) {
			counted = append(counted, l)
		}
	}
	return counted, err
}

func (s *Handlers) isComplete(ctx context.Context, account prism.AccountID, c completeness) (bool, error) {
	if !c.matters {
		return false, nil
	}
	answered, err := s.store.CountAnswered(ctx, account, c.filter, c.labels+1)
	return answered <= c.labels, err
}

// probabilitiesOf are those of classes in the answer to a question; nil if no answer fits the question. The classes may be more than
// those of the question.
func probabilitiesOf(q prism.Question, classes []string, answers prism.Answers) []float64 {
	at := slices.IndexFunc(answers, func(a prism.Answer) bool { return a.Question == q.Key && a.Type == q.Type })
	if at < 0 {
		return nil
	}
	return answers[at].ProbabilitiesOf(classes)
}
