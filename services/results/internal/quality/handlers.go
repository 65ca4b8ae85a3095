// Package quality measures how good answers are by labels, compares versions, and keeps calibrations and which of them are pinned.
package quality

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Handlers are those of the operations on the quality of answers, and know the calibrations that a Lens needs.
type Handlers struct {
	store    handlerStore
	access   *access.Access
	newID    func() (prism.UUID, error)
	versions *prisms.Handlers
	measures *measures
}

// handlerStore finds a prism by its name too.
type handlerStore interface {
	Store
	LabelStore
	Prism(ctx context.Context, account prism.AccountID, ref prism.Ref) (prism.Prism, error)
}

// NewHandlers makes Handlers over a store, of a process with so many databases.
func NewHandlers(
	s handlerStore, a *access.Access, newID func() (prism.UUID, error), v *prisms.Handlers, databases int,
) *Handlers {
	return &Handlers{store: s, access: a, newID: newID, versions: v, measures: newMeasures(databases)}
}

// Operations are the operations on the quality of answers.
func (s *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{
		access.Handle(api.ReadQuality, s.readQuality),
		access.Handle(api.ReadThresholds, s.readThresholds),
		access.Handle(api.CompareVersions, s.compareVersions),
		access.Change(s.access, api.CreateCalibration, s.createCalibration),
		access.Encoded(api.ListCalibrations, s.listCalibrations),
		access.Handle(api.ReadCalibration, s.readCalibration),
		access.Encoded(api.PinCalibrations, s.pinCalibrations),
		access.Encoded(api.ReadPinnedCalibrations, s.readPinnedCalibrations),
	}
}

// newMeasuresBody are the measures of a question whose classes have these values.
func newMeasuresBody(t prism.QuestionType, values []string, q calibration.Quality) api.Measures {
	m := api.Measures{
		Accuracy: &q.Accuracy, LogLoss: &q.LogLoss, Brier: &q.Brier, MacroF1: q.MacroF1, RPS: q.RPS, MAE: q.MAE, Kappa: q.Kappa,
		ECE: q.ECE, ECEPlain: q.ECEPlain, Coverage: append([]api.CoveragePoint{}, q.Coverage...),
	}
	for _, b := range q.Bins {
		m.Bins = append(m.Bins, api.ReliabilityBin{N: b.N, Mean: b.Mean, Rate: b.Rate, Low: b.Low, High: b.High})
	}
	if t.Classes() == prism.Ordinal {
		return m
	}
	m.Confusion = &api.Confusion{Counts: q.Confusion}
	for _, v := range values {
		m.Confusion.Values = append(m.Confusion.Values, t.ShownLabel(v))
	}
	m.Classes = []api.QualityClass{}
	for _, c := range q.Classes {
		m.Classes = append(m.Classes, api.QualityClass{
			Value: t.ShownLabel(values[c.Class]), N: c.N, Precision: c.Precision, Recall: c.Recall, F1: c.F1,
		})
	}
	return m
}

func (s *Handlers) readQuality(ctx context.Context, c store.Caller, in api.ReadQualityRequest) (none api.Quality, err error) {
	p, v, err := s.versionOfPrism(ctx, c.Account, in.VersionRequest)
	if err != nil {
		return none, err
	}
	targets, err := measuredTargets(v, in.Question, in.Option)
	if err != nil {
		return none, err
	}
	qualities, err := measurement{s, c.Account, p, v, in.MeasuredAnswers}.measure(ctx, targets)
	if err != nil {
		return none, err
	}
	labels := 0 // of the target that has the most
	for _, q := range qualities {
		labels = max(labels, q.Counted)
	}
	if labels < calibration.MinLabels {
		return none, apierr.TooFewLabels(labels, calibration.MinLabels)
	}
	return api.Quality{Version: int(v.Number), Questions: qualities}, nil
}

// measuredTargets are what is measured of the questions of a version, or of one of them, or of an option of that: each question, and each
// of its options if any number of them can be right.
func measuredTargets(v *prisms.Cached, question, option string) (targets []prism.Target, err error) {
	questions := v.Questions
	switch {
	case option != "":
		t, err := findTarget(v, question, option)
		return []prism.Target{t}, err
	case question != "":
		q, err := prisms.FindQuestion(v, question)
		if err != nil {
			return nil, err
		}
		questions = []prism.Question{q}
	}
	for _, q := range questions {
		if q.Type.Classes() == prism.Multiple {
			targets = append(targets, q.Itself())
		}
		targets = append(targets, q.Targets()...)
	}
	return targets, nil
}

// findTarget finds a target of a version (spec: quality-target).
func findTarget(v *prisms.Cached, question, option string) (t prism.Target, err error) {
	q, err := prisms.FindQuestion(v, question)
	if err != nil {
		return t, err
	}
	for _, t := range q.Targets() {
		if t.Option == option {
			return t, nil
		}
	}
	problem := "Unknown option"
	switch {
	case q.Type.Classes() != prism.Multiple:
		problem = "only of a question of which any number of options can be right"
	case option == "":
		problem = "Required"
	}
	return t, apierr.Invalid(apierr.Problem{Path: "option", Text: problem})
}

// quality measures the target. With too few labels that count it has no measures.
func (m observed) quality(ctx context.Context) (q api.QuestionQuality, err error) {
	q.MeasuredQuestion = m.MeasuredQuestion
	if m.Counted < calibration.MinLabels {
		return q, nil
	}
	if ctx.Err() != nil { // nobody waits any more
		return q, errors.Join(contract.ErrUnavailable, ctx.Err())
	}
	if m.target.Classes() == prism.Multiple {
		found, err := calibration.MeasureSets(m.Sets)
		if err == nil {
			q.Several = &found.MeasuresOfSeveral
		}
		return q, err
	}
	found, err := calibration.Measure(m.target.Classes(), m.Observations)
	if err == nil {
		q.Measures = newMeasuresBody(m.target.Type, m.classes, found)
	}
	return q, err
}

func (s *Handlers) readThresholds(ctx context.Context, c store.Caller, in api.ReadThresholdsRequest) (none api.Thresholds, err error) {
	p, v, err := s.versionOfPrism(ctx, c.Account, in.VersionRequest)
	if err != nil {
		return none, err
	}
	target, err := findTarget(v, in.Question, in.Option)
	if err != nil {
		return none, err
	}
	if target.Classes() != prism.Binary {
		return none, apierr.Invalid(apierr.Problem{Path: "question", Text: "Expected a yes_no question"})
	}
	observed, err := measurement{s, c.Account, p, v, in.MeasuredAnswers}.observe(ctx, []prism.Target{target})
	if err != nil {
		return none, err
	}
	observations := observed[0].Observations
	if len(observations) < calibration.MinLabels {
		return none, apierr.TooFewLabels(len(observations), calibration.MinLabels)
	}
	chosen, err := calibration.ThresholdsOf(calibration.Costs{FalseYes: in.FalseYes, FalseNo: in.FalseNo, Unsure: in.Unsure}, observations)
	if err != nil {
		return none, err
	}
	return api.Thresholds{
		MeasuredQuestion: observed[0].MeasuredQuestion, FalseYes: in.FalseYes, FalseNo: in.FalseNo, Unsure: in.Unsure,
		YesAt: chosen.Theory.YesAt, NoAt: chosen.Theory.NoAt, Theory: chosen.Theory, Empirical: chosen.Empirical, Counts: thresholdCounts(observations),
	}, nil
}

// thresholdSteps is how many steps of equal width the thresholds have that labels are counted for.
const thresholdSteps = 100

// thresholdCounts counts labels on both sides of each hundredth.
func thresholdCounts(observations []calibration.Observation) []api.ThresholdCount {
	counts := make([]api.ThresholdCount, thresholdSteps+1)
	for i := range counts {
		c := &counts[i]
		c.At = float64(i) / thresholdSteps
		for _, o := range observations {
			if p := o.Probabilities[0]; p >= c.At {
				c.FromYes, c.FromNo = c.FromYes+o.Label, c.FromNo+1-o.Label
			}
			if p := o.Probabilities[0]; p <= c.At {
				c.ToYes, c.ToNo = c.ToYes+o.Label, c.ToNo+1-o.Label
			}
		}
	}
	return counts
}
