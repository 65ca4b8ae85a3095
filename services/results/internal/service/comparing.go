package service

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// comparisonBody is the body of a comparison (spec: compare-members).
type comparisonBody struct {
	questionBody
	Labels      int                     `json:"labels"`
	Counted     int                     `json:"counted"`
	LeftOut     leftOutBody             `json:"left_out"`
	A           comparedBody            `json:"a"`
	B           comparedBody            `json:"b"`
	Differences calibration.Differences `json:"differences"`
	McNemar     calibration.McNemar     `json:"mcnemar"`
	Verdict     string                  `json:"verdict"`
}

// leftOutBody counts inputs that are not compared.
type leftOutBody struct {
	OtherOption int `json:"other_option"` // a label is an option that the other version lacks
	OtherLabel  int `json:"other_label"`  // the results of the versions have different labels
}

type comparedBody struct {
	Version int32 `json:"version"`
	figuresBody
}

// Compare implements contract.Quality.
func (s *Service) Compare(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, q contract.CompareQuery,
) (contract.Response, error) {
	return s.manage(ctx, key, compareVersions, apierr.PrismNotFound(), func(account prism.AccountID) (any, error) {
		p, err := s.Store.Prism(ctx, account, ref)
		if err != nil {
			return nil, err
		}
		a, err := s.sideOf(ctx, account, p, q.A, q.Question)
		if err != nil {
			return nil, err
		}
		b, err := s.sideOf(ctx, account, p, q.B, q.Question)
		if err != nil {
			return nil, err
		}
		if problem := incomparable(a.question, b.question); problem != "" {
			return nil, apierr.Invalid(apierr.Problem{Path: "question", Text: problem})
		}
		labels, err := s.labelsOf(ctx, account, p.ID, q.A, q.B)
		if err != nil {
			return nil, err
		}
		id := measureID(labels, q)
		body, kept, err := cachedMeasure[comparisonBody](ctx, s, account, id)
		if err != nil || kept {
			return body, err
		}
		body, from, err := s.compare(ctx, account, p.ID, q, a, b)
		if err != nil {
			return nil, err
		}
		return body, s.keepMeasures(ctx, account, labels, map[string]keptMeasure{id: {body, from}})
	})
}

// compare compares a question of two versions.
func (s *Service) compare(
	ctx context.Context, account prism.AccountID, of prism.PrismID, q contract.CompareQuery, a, b side,
) (body comparisonBody, from []completeness, err error) {
	for _, each := range []*side{&a, &b} {
		if each.labels, err = s.labelled(ctx, account, store.Filter{Prism: of, Version: each.version}, q.Question); err != nil {
			return body, nil, err
		}
		from = append(from, each.labels.completeness)
	}
	classes := classesOf(a.question, b.question)
	for _, each := range []*side{&a, &b} {
		if err := s.answer(ctx, account, each, classes); err != nil {
			return body, nil, err
		}
	}
	paired := pair(a, b)
	if n := len(paired.pairs); n < calibration.MinLabels {
		return body, nil, apierr.TooFewLabels(n, calibration.MinLabels)
	}
	t := a.question.Type
	found, err := calibration.Compare(calibration.Kind(t), paired.pairs)
	return comparisonBody{
		questionBody{q.Question, t},
		paired.labels, len(paired.pairs), paired.leftOut,
		comparedBody{q.A, newFiguresBody(t, classes, found.A)},
		comparedBody{q.B, newFiguresBody(t, classes, found.B)},
		found.Differences, found.McNemar, verdictText(found),
	}, from, err
}

// verdictText says how version b is, compared with version a (spec: compare-verdict).
func verdictText(c calibration.Comparison) string {
	if c.Verdict == calibration.NotDistinguishable {
		return "not distinguishable with " + strconv.Itoa(c.Labels) + " labels"
	}
	return string(c.Verdict)
}

// side is a question of one of two versions, and its labels.
type side struct {
	version  int32
	question prism.Question
	labels   labelled
	newest   map[[16]byte]comparedAnswer // by the input
}

// comparedAnswer is the newest labelled answer to an input.
type comparedAnswer struct {
	store.Labelled
	probabilities []float64 // of the classes of both questions; nil if the answer does not fit the question
}

// sideOf finds a question of a version, without its labels.
func (s *Service) sideOf(
	ctx context.Context, account prism.AccountID, p prism.Prism, number int32, question string,
) (c side, err error) {
	v, err := s.version(ctx, account, versionID{p.ID, p.VersionsHash, number})
	if err != nil {
		return c, translate(err, apierr.VersionNotFound())
	}
	c.version = number
	c.question, err = questionOf(v, question)
	return c, err
}

// incomparable says why answers to two questions cannot be compared; "" if they can. Levels are in an order, so levels of one version
// only have no place among those of the other.
func incomparable(a, b prism.Question) string {
	switch {
	case a.Type != b.Type:
		return "Expected one type in both versions: it is " + string(a.Type) + " in a and " + string(b.Type) + " in b"
	case a.Type == prism.Scale && !slices.Equal(a.AnswerKeys(), b.AnswerKeys()):
		return "Expected the same levels in both versions"
	}
	return ""
}

// classesOf are the values that labels of both questions have.
func classesOf(a, b prism.Question) []string {
	classes := slices.Clone(answerKeys(a))
	for _, value := range answerKeys(b) {
		if !slices.Contains(classes, value) {
			classes = append(classes, value)
		}
	}
	return classes
}

// answer reads the answers of a side that have labels.
func (s *Service) answer(ctx context.Context, account prism.AccountID, of *side, classes []string) error {
	labels := make(map[prism.ResultID]store.Labelled, len(of.labels.found))
	ids := make([]prism.ResultID, 0, len(of.labels.found))
	for _, l := range of.labels.found {
		labels[l.Result], ids = l, append(ids, l.Result)
	}
	of.newest = map[[16]byte]comparedAnswer{}
	return s.eachAnswered(ctx, account, ids, func(id prism.ResultID, input [16]byte, answers prism.Answers) {
		if known, ok := of.newest[input]; !ok || bytes.Compare(known.Result.UUID[:], id.UUID[:]) < 0 {
			of.newest[input] = comparedAnswer{labels[id], probabilitiesOf(of.question, classes, answers)}
		}
	})
}

// pairing is what both versions answered to the same inputs.
type pairing struct {
	labels  int // labels that count of inputs that both answered, and those that are left out for their option
	leftOut leftOutBody
	pairs   []calibration.Pair // one for each input
}

// pair finds the inputs that both versions answered, with the newest answer of each version. A label counts here if it counts in
// either version, and if in neither the result was chosen because the model was uncertain (spec: compare-labels).
func pair(a, b side) (p pairing) {
	classes := classesOf(a.question, b.question)
	other := map[[16]byte]bool{}
	a.addForeignLabels(other, answerKeys(b.question))
	b.addForeignLabels(other, answerKeys(a.question))
	p.leftOut.OtherOption, p.labels = len(other), len(other)
	for input, l := range a.newest {
		m, both := b.newest[input]
		uncertain := l.Sample == contract.UncertainSample || m.Sample == contract.UncertainSample
		if !both || uncertain || other[input] || !a.labels.counts(l.Labelled) && !b.labels.counts(m.Labelled) {
			continue
		}
		p.labels++
		if l.Value != m.Value {
			p.leftOut.OtherLabel++
			continue
		}
		if label := slices.Index(classes, l.Value); label >= 0 && l.probabilities != nil && m.probabilities != nil {
			cluster := binary.BigEndian.Uint64(input[:])
			p.pairs = append(p.pairs, calibration.Pair{A: l.probabilities, B: m.probabilities, Label: label, Cluster: cluster})
		}
	}
	return p
}

// addForeignLabels adds the inputs whose labels count and are none of the values of another version.
func (s side) addForeignLabels(inputs map[[16]byte]bool, values []string) {
	for input, a := range s.newest {
		if s.labels.counts(a.Labelled) && !slices.Contains(values, a.Value) {
			inputs[input] = true
		}
	}
}
