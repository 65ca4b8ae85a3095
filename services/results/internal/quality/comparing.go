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
	counted := max(len(paired.pairs), len(paired.sets))
	if counted < calibration.MinLabels {
		return none, nil, apierr.TooFewLabels(counted, calibration.MinLabels)
	}
	c := api.Comparison{
		Question: a.target.Of.Key, Option: a.target.Option, Type: a.target.Of.Type, Labels: paired.labels, Counted: counted, LeftOut: paired.leftOut,
		A: api.ComparedVersion{Version: int(a.version)}, B: api.ComparedVersion{Version: int(b.version)},
	}
	t := a.target.Type
	if t.Classes() == prism.Multiple {
		found, err := calibration.CompareSets(paired.sets)
		c.A.Several, c.B.Several, c.Differences.Several = &found.A.MeasuresOfSeveral, &found.B.MeasuresOfSeveral, &found.Differences
		c.McNemar, c.Verdict = found.McNemar, verdictText(found.Verdict, counted)
		return c, from, err
	}
	found, err := calibration.Compare(t.Classes(), paired.pairs)
	c.A.Measures, c.B.Measures = newMeasuresBody(t, classes, found.A), newMeasuresBody(t, classes, found.B)
	c.Differences, c.McNemar, c.Verdict = found.Differences, found.McNemar, verdictText(found.Verdict, counted)
	return c, from, err
}

// verdictText says how version b is, compared with version a by labels (spec: compare-verdict).
func verdictText(v calibration.Verdict, labels int) string {
	if v == calibration.NotDistinguishable {
		return "not distinguishable with " + strconv.Itoa(labels) + " labels"
	}
	return string(v)
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
	right         rightAnswer
	known         bool      // whether the label is of the classes
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
	if q, err := prisms.FindQuestion(v, in.Question); err == nil && in.Option == "" && q.Type.Classes() == prism.Multiple {
		c.target = q.Itself()
		return c, nil
	}
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
	case len(classesOf(a, b)) == 0:
		return "Expected an option that both versions have"
	}
	return ""
}

// classesOf are the values that labels of both targets have. Of any number of right options they are those of both versions: what a label
// and an answer say of an option that the other version lacks, says nothing of which version is better.
func classesOf(a, b prism.Target) []string {
	classes := a.LabelValues()
	if a.Classes() == prism.Multiple {
		other := b.LabelValues()
		return slices.DeleteFunc(slices.Clone(classes), func(key string) bool { return !slices.Contains(other, key) })
	}
	for _, value := range b.LabelValues() {
		if !slices.Contains(classes, value) {
			classes = append(classes, value)
		}
	}
	return classes
}

// answer reads the answers of a side that have labels.
func (s *Handlers) answer(ctx context.Context, account prism.AccountID, side *side, classes []string) error {
	labels := make(map[prism.ResultID]comparedAnswer, len(side.labels.newest))
	ids := make([]prism.ResultID, 0, len(side.labels.newest))
	form := observationSet{target: side.target, classes: classes}
	for _, l := range side.labels.newest {
		right, known := newRightAnswer(&form, l.Value)
		l.Value = side.target.LabelValue(l.Value)
		labels[l.Result], ids = comparedAnswer{Label: l, right: right, known: known}, append(ids, l.Result)
	}
	side.newest = map[[16]byte]comparedAnswer{}
	return s.eachAnswered(ctx, account, ids, func(a Answered, answers prism.Answers) {
		if known, ok := side.newest[a.Input]; !ok || bytes.Compare(known.Result.UUID[:], a.Result.UUID[:]) < 0 {
			answer := labels[a.Result]
			answer.probabilities, answer.fields = probabilitiesOf(side.target, classes, answers), a.Fields
			side.newest[a.Input] = answer
		}
	})
}

// pairing is what both versions answered to the same inputs.
type pairing struct {
	labels  int // labels that count of inputs that both answered, and those that are left out for their option
	leftOut api.LeftOut
	pairs   []calibration.Pair    // one for each input
	sets    []calibration.SetPair // in place of pairs, of a question of which any number of options can be right
}

// pair finds the inputs that both versions answered, with the newest answer of each version. A label counts here if it counts in
// either version, and if in neither the result was chosen because the model was uncertain (spec: compare-labels).
func pair(a, b side) (p pairing) {
	several := a.target.Classes() == prism.Multiple
	other := map[[16]byte]bool{}
	if !several {
		a.addForeignLabels(other, b.target.LabelValues())
		b.addForeignLabels(other, a.target.LabelValues())
	}
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
		if l.known != m.known || l.right.class != m.right.class || !slices.Equal(l.right.several, m.right.several) {
			p.leftOut.OtherLabel++
			continue
		}
		if !l.known || l.probabilities == nil || m.probabilities == nil {
			continue
		}
		cluster := binary.BigEndian.Uint64(input[:])
		if several {
			p.sets = append(p.sets, calibration.SetPair{A: l.probabilities, B: m.probabilities, Labels: l.right.several, Cluster: cluster})
		} else {
			p.pairs = append(p.pairs, calibration.Pair{A: l.probabilities, B: m.probabilities, Label: l.right.class, Cluster: cluster})
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
