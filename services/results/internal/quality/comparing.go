package quality

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

func (s *Handlers) compareVersions(ctx context.Context, c store.Caller, in api.CompareVersionsRequest) (none api.Comparison, err error) {
	p, err := s.store.Prism(ctx, c.Account, in.Prism)
	if err != nil {
		return none, err
	}
	a, err := s.sideOf(ctx, c.Account, p, in.A, in)
	if err != nil {
		return none, err
	}
	b, err := s.sideOf(ctx, c.Account, p, in.B, in)
	if err != nil {
		return none, err
	}
	if problem := incomparable(a.target, b.target); problem != "" {
		return none, apierr.Invalid(apierr.Problem{Path: "question", Text: problem})
	}
	labels, err := s.labelsState(ctx, c.Account, p.ID, in.A, in.B)
	if err != nil {
		return none, err
	}
	id := measureID(labels, api.CompareVersions.Name, in.A, in.B, a.target.Name(), a.hash, b.hash)
	comparison, kept, err := findMeasure[api.Comparison](ctx, s, c.Account, id)
	if err != nil || kept {
		return comparison, err
	}
	comparison, from, err := s.compare(ctx, c.Account, p.ID, a, b)
	if err != nil {
		return none, err
	}
	return comparison, s.cacheMeasures(ctx, c.Account, labels, map[string]cachedMeasure{id: {comparison, from}})
}

// compare compares a target of two versions.
func (s *Handlers) compare(
	ctx context.Context, account prism.AccountID, of prism.PrismID, a, b side,
) (none api.Comparison, from []completeness, err error) {
	for _, each := range []*side{&a, &b} {
		if each.labels, err = s.labels(ctx, account, store.Filter{Prism: of, Version: each.version}, each.target.Of.Key); err != nil {
			return none, nil, err
		}
		from = append(from, each.labels.completeness)
	}
	classes := classesOf(a.target, b.target)
	for _, each := range []*side{&a, &b} {
		if err := s.answer(ctx, account, each, classes); err != nil {
			return none, nil, err
		}
	}
	paired := pair(a, b)
	if n := len(paired.pairs); n < calibration.MinLabels {
		return none, nil, apierr.TooFewLabels(n, calibration.MinLabels)
	}
	t := a.target.Type
	found, err := calibration.Compare(t.Classes(), paired.pairs)
	return api.Comparison{
		Question: a.target.Of.Key, Option: a.target.Option, Type: a.target.Of.Type, Labels: paired.labels, Counted: len(paired.pairs), LeftOut: paired.leftOut,
		A:           api.ComparedVersion{Version: int(a.version), Measures: newMeasuresBody(t, classes, found.A)},
		B:           api.ComparedVersion{Version: int(b.version), Measures: newMeasuresBody(t, classes, found.B)},
		Differences: found.Differences, McNemar: found.McNemar, Verdict: verdictText(found),
	}, from, err
}

// verdictText says how version b is, compared with version a (spec: compare-verdict).
func verdictText(c calibration.Comparison) string {
	if c.Verdict == calibration.NotDistinguishable {
		return "not distinguishable with " + strconv.Itoa(c.Labels) + " labels"
	}
	return string(c.Verdict)
}

// side is a target of one of two versions, and its labels.
type side struct {
	version int32
	target  prism.Target
	hash    prism.DefinitionHash
	shown   shownInputs
	labels  labelSet
	newest  map[[16]byte]comparedAnswer // by the input
}

// comparedAnswer is the newest labelled answer to an input.
type comparedAnswer struct {
	Label
	probabilities []float64 // of the classes of both questions; nil if the answer does not fit the question
	fields        [16]byte
}

// sideOf finds the target of a comparison in a version, without its labels.
func (s *Handlers) sideOf(
	ctx context.Context, account prism.AccountID, p prism.Prism, number int32, in api.CompareVersionsRequest,
) (c side, err error) {
	v, err := s.versions.Version(ctx, account, prisms.VersionIn(p, number))
	if err != nil {
		return c, access.Translate(err, apierr.VersionNotFound())
	}
	c.version, c.hash, c.shown = number, v.Hash, shownBy(v.Definition)
	c.target, err = findTarget(v, in.Question, in.Option)
	return c, err
}

// incomparable says why answers to two targets cannot be compared; "" if they can. Levels are in an order, so levels of one version
// only have no place among those of the other.
func incomparable(a, b prism.Target) string {
	switch {
	case a.Of.Type != b.Of.Type:
		return "Expected one type in both versions: it is " + string(a.Of.Type) + " in a and " + string(b.Of.Type) + " in b"
	case a.Type.Classes() == prism.Ordinal && !slices.Equal(a.AnswerKeys(), b.AnswerKeys()):
		return "Expected the same levels in both versions"
	}
	return ""
}

// classesOf are the values that labels of both targets have.
func classesOf(a, b prism.Target) []string {
	classes := a.LabelValues()
	for _, value := range b.LabelValues() {
		if !slices.Contains(classes, value) {
			classes = append(classes, value)
		}
	}
	return classes
}

// answer reads the answers of a side that have labels.
func (s *Handlers) answer(ctx context.Context, account prism.AccountID, side *side, classes []string) error {
	labels := make(map[prism.ResultID]Label, len(side.labels.newest))
	ids := make([]prism.ResultID, 0, len(side.labels.newest))
	for _, l := range side.labels.newest {
		l.Value = side.target.LabelValue(l.Value)
		labels[l.Result], ids = l, append(ids, l.Result)
	}
	side.newest = map[[16]byte]comparedAnswer{}
	return s.eachAnswered(ctx, account, ids, func(a Answered, answers prism.Answers) {
		if known, ok := side.newest[a.Input]; !ok || bytes.Compare(known.Result.UUID[:], a.Result.UUID[:]) < 0 {
			side.newest[a.Input] = comparedAnswer{labels[a.Result], probabilitiesOf(side.target, classes, answers), a.Fields}
		}
	})
}

// pairing is what both versions answered to the same inputs.
type pairing struct {
	labels  int // labels that count of inputs that both answered, and those that are left out for their option
	leftOut api.LeftOut
	pairs   []calibration.Pair // one for each input
}

// pair finds the inputs that both versions answered, with the newest answer of each version. A label counts here if it counts in
// either version, and if in neither the result was chosen because the model was uncertain (spec: compare-labels).
func pair(a, b side) (p pairing) {
	classes := classesOf(a.target, b.target)
	other := map[[16]byte]bool{}
	a.addForeignLabels(other, b.target.LabelValues())
	b.addForeignLabels(other, a.target.LabelValues())
	p.leftOut.OtherOption, p.labels = len(other), len(other)
	for input, l := range a.newest {
		m, both := b.newest[input]
		uncertain := l.Sample == prism.UncertainSample || m.Sample == prism.UncertainSample
		if !both || uncertain || other[input] || !a.labels.counts(l.Label) && !b.labels.counts(m.Label) {
			continue
		}
		p.labels++
		if a.shown[l.fields] || b.shown[l.fields] {
			p.leftOut.Examples++
			continue
		}
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
		if s.labels.counts(a.Label) && !slices.Contains(values, a.Value) {
			inputs[input] = true
		}
	}
}
