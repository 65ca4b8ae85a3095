package service

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// keptMeasures bounds how many measures a process keeps, each of some KB.
const keptMeasures = 256

// measures computes what takes resampling, one at a time, so that it leaves a processor to the calls, and keeps what was computed
// last. A kept one is found by all that it was computed from, so it is never out of date.
type measures struct {
	turn chan struct{} // holds a token while something is computed or looked up
	kept *simplelru.LRU[measureID, any]
}

type measureID [sha256.Size]byte

func newMeasures() *measures {
	kept, err := simplelru.NewLRU[measureID, any](keptMeasures, nil)
	if err != nil {
		panic(err) // the size above is positive
	}
	return &measures{make(chan struct{}, 1), kept}
}

// measured returns what compute computes from what id is made of.
func measured[T any](ctx context.Context, m *measures, id measureID, compute func() (T, error)) (T, error) {
	var none T
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return none, errors.Join(contract.ErrUnavailable, ctx.Err())
	}
	if kept, ok := m.kept.Get(id); ok {
		return kept.(T), nil //nolint:forcetypeassert // an id has the type of what is computed
	}
	found, err := compute()
	if err == nil {
		m.kept.Add(id, found)
	}
	return found, err
}

// newMeasureID names what is computed from observations.
func newMeasureID(of string, observations ...[]calibration.Observation) measureID {
	b := append([]byte(of), 0)
	for _, side := range observations {
		b = binary.BigEndian.AppendUint64(b, uint64(len(side)))
		for _, o := range side {
			b = binary.BigEndian.AppendUint64(b, o.Cluster)
			b = append(b, byte(o.Label), byte(len(o.Probabilities))) //nolint:gosec // both are at most 52
			for _, p := range o.Probabilities {
				b = binary.BigEndian.AppendUint64(b, math.Float64bits(p))
			}
		}
	}
	return sha256.Sum256(b)
}

// qualityBody is the body of the measures of a version (spec: quality-members).
type qualityBody struct {
	Version   int32                 `json:"version"`
	Questions []questionQualityBody `json:"questions"`
}

// questionBody is what the measures of a question begin with.
type questionBody struct {
	Question string             `json:"question"`
	Type     prism.QuestionType `json:"type"`
}

// measuredBody says of what a question was measured.
type measuredBody struct {
	questionBody
	Labels  int `json:"labels"`
	Counted int `json:"counted"`
	// Calibration is the calibration whose probabilities were measured.
	Calibration *prism.CalibrationID `json:"calibration"`
}

type questionQualityBody struct {
	measuredBody
	figuresBody
}

// figuresBody is the measures of a question. Those that it does not have are null.
type figuresBody struct {
	Accuracy  *calibration.Figure          `json:"accuracy"`
	LogLoss   *calibration.Figure          `json:"log_loss"`
	Brier     *calibration.Figure          `json:"brier"`
	MacroF1   *calibration.Figure          `json:"macro_f1"`
	Classes   *[]classBody                 `json:"classes"`
	Confusion *confusionBody               `json:"confusion"`
	RPS       *calibration.Figure          `json:"rps"`
	MAE       *calibration.Figure          `json:"mae"`
	Kappa     *calibration.Figure          `json:"kappa"`
	ECE       *calibration.Figure          `json:"ece"`
	ECEPlain  *calibration.Figure          `json:"ece_plain"`
	Bins      *[]calibration.Bin           `json:"bins"`
	Coverage  *[]calibration.CoveragePoint `json:"coverage"`
}

type classBody struct {
	Value     any                 `json:"value"` // an option key, or whether the answer is yes
	N         int                 `json:"n"`
	Precision *calibration.Figure `json:"precision"`
	Recall    calibration.Figure  `json:"recall"`
	F1        calibration.Figure  `json:"f1"`
}

// confusionBody counts answers by label and by what was answered, both in the order of the values.
type confusionBody struct {
	Values []any   `json:"values"`
	Counts [][]int `json:"counts"` // of each label, of each answer
}

// shownValue is the value of a label as bodies show it.
func shownValue(t prism.QuestionType, value string) any {
	if t == prism.YesNo {
		return value == "true"
	}
	return value
}

// newFiguresBody is the measures of a question whose classes have these values.
func newFiguresBody(t prism.QuestionType, values []string, q calibration.Quality) figuresBody {
	body := figuresBody{
		Accuracy: &q.Accuracy, LogLoss: &q.LogLoss, Brier: &q.Brier, MacroF1: q.MacroF1, RPS: q.RPS, MAE: q.MAE, Kappa: q.Kappa,
		ECE: q.ECE, ECEPlain: q.ECEPlain, Coverage: &q.Coverage,
	}
	if len(q.Bins) > 0 {
		body.Bins = &q.Bins
	}
	if t == prism.Scale {
		return body
	}
	body.Confusion = &confusionBody{Counts: q.Confusion}
	for _, v := range values {
		body.Confusion.Values = append(body.Confusion.Values, shownValue(t, v))
	}
	classes := []classBody{}
	for _, c := range q.Classes {
		classes = append(classes, classBody{shownValue(t, values[c.Class]), c.N, c.Precision, c.Recall, c.F1})
	}
	body.Classes = &classes
	return body
}

// Quality implements contract.Quality.
func (s *Service) Quality(
	ctx context.Context, key contract.KeyDigest, of contract.VersionRef, q contract.QualityQuery,
) (contract.Response, error) {
	return s.manage(ctx, key, readQuality, apierr.PrismNotFound(), func(account prism.AccountID) (any, error) {
		p, v, err := s.versionOfPrism(ctx, account, of)
		if err != nil {
			return nil, err
		}
		questions, err := questionsOf(v, q.Question)
		if err != nil {
			return nil, err
		}
		body, most := qualityBody{Version: v.Number, Questions: []questionQualityBody{}}, 0
		for _, question := range questions {
			about, found, err := s.measurable(ctx, account, p, v, question, q)
			if err != nil {
				return nil, err
			}
			one := questionQualityBody{measuredBody: about}
			if most = max(most, about.Counted); about.Counted >= calibration.MinLabels {
				if one.figuresBody, err = s.figures(ctx, question, found); err != nil {
					return nil, err
				}
			}
			body.Questions = append(body.Questions, one)
		}
		if most < calibration.MinLabels {
			return nil, apierr.TooFewLabels(most, calibration.MinLabels)
		}
		return body, nil
	})
}

// questionsOf is the question with a key, or every question of a version if there is no key.
func questionsOf(v *version, key string) ([]prism.Question, error) {
	if key == "" {
		return v.Definition.Questions, nil
	}
	q, known := v.Definition.Question(key)
	if !known {
		return nil, apierr.Invalid(apierr.Problem{Path: "question", Text: "Unknown question"})
	}
	return []prism.Question{q}, nil
}

// measurable is the observations of a question, with the probabilities that are to be measured.
func (s *Service) measurable(
	ctx context.Context, account prism.AccountID, p prism.Prism, v *version, question prism.Question, q contract.QualityQuery,
) (about measuredBody, found []calibration.Observation, err error) {
	seen, err := s.observations(ctx, account, p.ID, v, question, store.Filter{Model: q.Model})
	if err != nil {
		return about, nil, err
	}
	found = seen.Observations
	about = measuredBody{questionBody{question.Key, question.Type}, seen.Labels, len(found), nil}
	if !q.Calibrated || p.Pins.IsZero() {
		return about, found, nil
	}
	pinned, err := s.Store.Pinned(ctx, account, p.ID, p.Pins, v.Number)
	if err != nil {
		return about, nil, err
	}
	at := slices.IndexFunc(pinned, func(c store.Calibration) bool { return c.Question == question.Key })
	if at < 0 {
		return about, found, nil
	}
	fit, err := readFit(pinned[at])
	if err != nil {
		return about, nil, err
	}
	about.Calibration = &pinned[at].ID
	for i := range found {
		found[i].Probabilities = fit.Apply(found[i].Probabilities)
	}
	return about, found, nil
}

func (s *Service) figures(ctx context.Context, q prism.Question, found []calibration.Observation) (figuresBody, error) {
	kind := calibration.Kind(q.Type)
	measure := func() (calibration.Quality, error) { return calibration.Measure(kind, found) }
	quality, err := measured(ctx, s.measures, newMeasureID("quality "+string(kind), found), measure)
	if err != nil {
		return figuresBody{}, err
	}
	return newFiguresBody(q.Type, answerKeys(q), quality), nil
}

// thresholdsBody is the body of thresholds (spec: thresholds-members).
type thresholdsBody struct {
	measuredBody
	FalseYes float64 `json:"false_yes"`
	FalseNo  float64 `json:"false_no"`
	Unsure   float64 `json:"unsure"`
	// YesAt and NoAt are those of theory.
	YesAt     float64               `json:"yes_at"`
	NoAt      float64               `json:"no_at"`
	Theory    calibration.Threshold `json:"theory"`
	Empirical calibration.Threshold `json:"empirical"`
	Counts    []countBody           `json:"counts"`
}

// countBody counts labels on both sides of a threshold.
type countBody struct {
	At float64 `json:"at"`
	// FromYes and FromNo are how many labels are yes and no where the probability is at or above At.
	FromYes int `json:"from_yes"`
	FromNo  int `json:"from_no"`
	// ToYes and ToNo are the same where the probability is at or below At.
	ToYes int `json:"to_yes"`
	ToNo  int `json:"to_no"`
}

// Thresholds implements contract.Quality.
func (s *Service) Thresholds(
	ctx context.Context, key contract.KeyDigest, of contract.VersionRef, q contract.ThresholdsQuery,
) (contract.Response, error) {
	return s.manage(ctx, key, readThresholds, apierr.PrismNotFound(), func(account prism.AccountID) (any, error) {
		p, v, err := s.versionOfPrism(ctx, account, of)
		if err != nil {
			return nil, err
		}
		questions, err := questionsOf(v, q.Question)
		if err != nil {
			return nil, err
		}
		if questions[0].Type != prism.YesNo {
			return nil, apierr.Invalid(apierr.Problem{Path: "question", Text: "Expected a yes_no question"})
		}
		about, found, err := s.measurable(ctx, account, p, v, questions[0], q.QualityQuery)
		if err != nil {
			return nil, err
		}
		costs := calibration.Costs{FalseYes: q.FalseYes, FalseNo: q.FalseNo, Unsure: q.Unsure}
		if len(found) < calibration.MinLabels {
			return nil, apierr.TooFewLabels(len(found), calibration.MinLabels)
		}
		chosen, err := calibration.ThresholdsOf(costs, found)
		if err != nil {
			return nil, err
		}
		return thresholdsBody{
			about, costs.FalseYes, costs.FalseNo, costs.Unsure, chosen.Theory.YesAt, chosen.Theory.NoAt,
			chosen.Theory, chosen.Empirical, countsOf(found),
		}, nil
	})
}

// thresholdSteps is how many steps of equal width the thresholds have that labels are counted for.
const thresholdSteps = 100

// countsOf counts labels on both sides of each hundredth.
func countsOf(found []calibration.Observation) []countBody {
	counts := make([]countBody, thresholdSteps+1)
	for i := range counts {
		c := &counts[i]
		c.At = float64(i) / thresholdSteps
		for _, o := range found {
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
