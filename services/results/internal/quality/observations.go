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

// observationSet is the answers to a question whose right value is known.
type observationSet struct {
	Labels       int // that were looked at; those that do not count are not among the observations
	Observations []calibration.Observation
	Examples     int // labels that count otherwise, of inputs that are examples of the version
	question     prism.Question
	classes      []string // the values of the labels
	completeness
}

// add adds the answer of a result to the question, if there is one that fits it. Equal inputs are one cluster: their answers say the
// same thing more than once.
func (s *observationSet) add(class int, input [16]byte, answers prism.Answers) {
	if probabilities := probabilitiesOf(s.question, s.classes, answers); probabilities != nil {
		s.Observations = append(s.Observations, calibration.Observation{
			Probabilities: probabilities, Label: class, Cluster: binary.BigEndian.Uint64(input[:]),
		})
	}
}

// labelClass is the class that a label says is right, of the question of a set.
type labelClass struct {
	set   *observationSet
	class int
}

// observations are the answers of a version to questions that have a label that counts: it reads the labels of each question, then
// the answers of the results that have any. The filter narrows the results of the version, such as by the model that answered.
func (s *Handlers) observations(
	ctx context.Context, account prism.AccountID, id prism.PrismID, v *prisms.Cached, questions []prism.Question, f store.Filter,
) ([]observationSet, error) {
	f.Prism, f.Version = id, v.Number
	sets := make([]observationSet, len(questions))
	byResult := map[prism.ResultID][]labelClass{}
	var results []prism.ResultID
	for i, q := range questions {
		labels, err := s.labels(ctx, account, f, q.Key)
		if err != nil {
			return nil, err
		}
		sets[i] = observationSet{Labels: len(labels.newest), question: q, classes: q.LabelValues(), completeness: labels.completeness}
		for _, l := range labels.counted() {
			class := slices.Index(sets[i].classes, l.Value)
			if class < 0 {
				continue
			}
			if len(byResult[l.Result]) == 0 {
				results = append(results, l.Result)
			}
			byResult[l.Result] = append(byResult[l.Result], labelClass{&sets[i], class})
		}
	}
	shown := shownBy(v.Definition)
	err := s.eachAnswered(ctx, account, results, func(a Answered, answers prism.Answers) {
		for _, l := range byResult[a.Result] {
			if shown[a.Fields] {
				l.set.Examples++
			} else {
				l.set.add(l.class, a.Input, answers)
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

// probabilitiesOf are those of classes in the answer to a question; nil if no answer fits the question. The classes may be more than
// those of the question.
func probabilitiesOf(q prism.Question, classes []string, answers prism.Answers) []float64 {
	at := slices.IndexFunc(answers, func(a prism.Answer) bool { return a.Question == q.Key && a.Type == q.Type })
	if at < 0 {
		return nil
	}
	return answers[at].ProbabilitiesOf(classes)
}
