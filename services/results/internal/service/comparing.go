package service

import (
	"context"
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
		return cachedMeasure(ctx, s, account, labels, q, func() (comparisonBody, []completeness, error) {
			return s.compare(ctx, account, p.ID, q, a, b)
		})
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
	paired, err := pair(a, b)
	if err != nil {
		return body, nil, err
	}
	if n := len(paired.pairs); n < calibration.MinLabels {
		return body, nil, apierr.TooFewLabels(n, calibration.MinLabels)
	}
	t := a.question.Type
	found, err := resampleInTurn(ctx, s.measures, account, func() (calibration.Comparison, error) {
		return calibration.Compare(calibration.Kind(t), paired.pairs)
	})
	return comparisonBody{
		questionBody{q.Question, t},
		paired.labels, len(paired.pairs), paired.leftOut,
		comparedBody{q.A, newFiguresBody(t, paired.classes, found.A)},
		comparedBody{q.B, newFiguresBody(t, paired.classes, found.B)},
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

// pairing is what both versions answered to the same inputs.
type pairing struct {
	classes []string // of both questions
	labels  int      // labels that count of inputs that both answered, and those that are left out for their option
	leftOut leftOutBody
	pairs   []calibration.Pair // one for each input
}

// pair finds the inputs that both versions answered, with the newest answer of each version. A label counts here if it counts in
// either version, and if in neither the result was chosen because the model was uncertain (spec: compare-labels).
func pair(a, b side) (p pairing, err error) {
	keysA, keysB := answerKeys(a.question), answerKeys(b.question)
	p.classes = slices.Clone(keysA)
	for _, value := range keysB {
		if !slices.Contains(keysA, value) {
			p.classes = append(p.classes, value)
		}
	}
	newestA, newestB := a.labels.byInput(), b.labels.byInput()
	other := map[[16]byte]bool{}
	a.labels.addForeignLabels(other, newestA, keysB)
	b.labels.addForeignLabels(other, newestB, keysA)
	p.leftOut.OtherOption, p.labels = len(other), len(other)
	ofA, ofB := newObserver(a.question, p.classes), newObserver(b.question, p.classes)
	for input, l := range newestA {
		m, both := newestB[input]
		uncertain := l.Sample == contract.UncertainSample || m.Sample == contract.UncertainSample
		if !both || uncertain || other[input] || !a.labels.counts(l) && !b.labels.counts(m) {
			continue
		}
		p.labels++
		if l.Value != m.Value {
			p.leftOut.OtherLabel++
			continue
		}
		x, okA, err := ofA.observation(l)
		if err != nil {
			return p, err
		}
		y, okB, err := ofB.observation(m)
		if err != nil {
			return p, err
		}
		if okA && okB {
			p.pairs = append(p.pairs, calibration.Pair{A: x.Probabilities, B: y.Probabilities, Label: x.Label, Cluster: x.Cluster})
		}
	}
	return p, nil
}

// byInput is the label of the newest answer to each input.
func (l labelled) byInput() map[[16]byte]store.LabelledAnswer {
	newest := map[[16]byte]store.LabelledAnswer{}
	for _, a := range slices.Backward(l.found) {
		newest[a.Input] = a
	}
	return newest
}

// addForeignLabels adds the inputs whose labels count and are none of the values of another version.
func (l labelled) addForeignLabels(inputs map[[16]byte]bool, labels map[[16]byte]store.LabelledAnswer, values []string) {
	for input, a := range labels {
		if l.counts(a) && !slices.Contains(values, a.Value) {
			inputs[input] = true
		}
	}
}
