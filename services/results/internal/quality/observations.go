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

// observationSet is the answers to a target whose right value is known.
type observationSet struct {
	Labels       int // that were looked at; those that do not count are not among the observations
	Observations []calibration.Observation
	Sets         []calibration.Set // in place of Observations, of a question of which any number of options can be right
	Examples     int               // labels that count otherwise, of inputs that are examples of the version
	target       prism.Target
	classes      []string // the values of the labels
	completeness
}

// counted is how many answers there are.
func (s *observationSet) counted() int { return max(len(s.Observations), len(s.Sets)) }

// rightAnswer is what a label says is right of the target of a set: a class, or any number of them.
type rightAnswer struct {
	set     *observationSet
	class   int
	several []int
}

// add adds the answer of a result to the target, if there is one that fits it. Equal inputs are one cluster: their answers say the
// same thing more than once.
func (r rightAnswer) add(input [16]byte, answers prism.Answers) {
	probabilities := probabilitiesOf(r.set.target, r.set.classes, answers)
	if probabilities == nil {
		return
	}
	cluster := binary.BigEndian.Uint64(input[:])
	if r.set.target.Classes() == prism.Multiple {
		r.set.Sets = append(r.set.Sets, calibration.Set{Probabilities: probabilities, Labels: r.several, Cluster: cluster})
		return
	}
	r.set.Observations = append(r.set.Observations, calibration.Observation{Probabilities: probabilities, Label: r.class, Cluster: cluster})
}

// newRightAnswer reads the value of a label; false if it is none of the question.
func newRightAnswer(set *observationSet, value string) (r rightAnswer, ok bool) {
	r.set = set
	if set.target.Classes() != prism.Multiple {
		r.class = slices.Index(set.classes, set.target.LabelValue(value))
		return r, r.class >= 0
	}
	keys, ok := set.target.Type.ShownLabel(value).([]string)
	for i, key := range set.classes {
		if slices.Contains(keys, key) {
			r.several = append(r.several, i)
		}
	}
	return r, ok
}

// observations are the answers of a version to targets that have a label that counts: it reads the labels of each question, then
// the answers of the results that have any. The filter narrows the results of the version, such as by the model that answered.
func (s *Handlers) observations(
	ctx context.Context, account prism.AccountID, id prism.PrismID, v *prisms.Cached, targets []prism.Target, f store.Filter,
) ([]observationSet, error) {
	f.Prism, f.Version = id, v.Number
	sets := make([]observationSet, len(targets))
	byResult := map[prism.ResultID][]rightAnswer{}
	var results []prism.ResultID
	var labels labelSet
	for i, t := range targets {
		if i == 0 || targets[i-1].Of.Key != t.Of.Key { //nolint:gosec // i is above 0
			var err error
			if labels, err = s.labels(ctx, account, f, t.Of.Key); err != nil {
				return nil, err
			}
		}
		sets[i] = observationSet{Labels: len(labels.newest), target: t, classes: t.LabelValues(), completeness: labels.completeness}
		known := map[string]rightAnswer{} // there are few different ones
		for _, l := range labels.counted() {
			right, ok := known[l.Value]
			if !ok {
				if right, ok = newRightAnswer(&sets[i], l.Value); !ok {
					continue
				}
				known[l.Value] = right
			}
			if len(byResult[l.Result]) == 0 {
				results = append(results, l.Result)
			}
			byResult[l.Result] = append(byResult[l.Result], right)
		}
	}
	shown := shownBy(v.Definition)
	err := s.eachAnswered(ctx, account, results, func(a Answered, answers prism.Answers) {
		for _, right := range byResult[a.Result] {
			if shown[a.Fields] {
				right.set.Examples++
			} else {
				right.add(a.Input, answers)
			}
		}
	})
	return sets, err
}

// eachAnswered calls read once with the input and the answers of each result that exists. The answers are valid only in the call.
func (s *Handlers) eachAnswered(
	ctx context.Context, account prism.AccountID, ids []prism.ResultID, read func(Answered, prism.Answers),
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
			read(a, answers)
		}
		return err
	})
}

// probabilitiesOf are those of classes in the answer to a target; nil if no answer fits it. The classes may be more than those of the
// question.
func probabilitiesOf(t prism.Target, classes []string, answers prism.Answers) []float64 {
	a, ok := t.AnswerIn(answers, 0)
	if !ok {
		return nil
	}
	return a.ProbabilitiesOf(classes)
}
