package service

import (
	"context"
	"slices"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

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
		questions := v.Questions
		if q.Question != "" {
			one, err := questionOf(v, q.Question)
			if err != nil {
				return nil, err
			}
			questions = []prism.Question{one}
		}
		labels, err := s.labelsOf(ctx, account, p.ID, v.Number)
		if err != nil {
			return nil, err
		}
		body, most := qualityBody{Version: v.Number, Questions: []questionQualityBody{}}, 0
		for _, question := range questions {
			q.Question = question.Key
			what := []any{q, p.Pins}
			one, err := cachedMeasure(ctx, s, account, labels, what, func() (questionQualityBody, []completeness, error) {
				return s.figures(ctx, account, p, v, question, q)
			})
			if err != nil {
				return nil, err
			}
			most = max(most, one.Counted)
			body.Questions = append(body.Questions, one)
		}
		if most < calibration.MinLabels {
			return nil, apierr.TooFewLabels(most, calibration.MinLabels)
		}
		return body, nil
	})
}

// questionOf is the question of a version with a key.
func questionOf(v *version, key string) (prism.Question, error) {
	q, known := v.Question(key)
	if !known {
		return q, apierr.Invalid(apierr.Problem{Path: "question", Text: textUnknownQuestion})
	}
	return q, nil
}

// measurable is the observations of a question, with the probabilities that are to be measured.
func (s *Service) measurable(
	ctx context.Context, account prism.AccountID, p prism.Prism, v *version, question prism.Question, q contract.QualityQuery,
) (about measuredBody, seen observationSet, err error) {
	seen, err = s.observations(ctx, account, p.ID, v, question, store.Filter{Model: q.Model})
	about = measuredBody{questionBody{question.Key, question.Type}, seen.Labels, len(seen.Observations), nil}
	if err != nil || !q.Calibrated || p.Pins.IsZero() {
		return about, seen, err
	}
	pinned, err := s.Store.Pinned(ctx, account, p.ID, p.Pins, v.Number)
	if err != nil {
		return about, seen, err
	}
	at := slices.IndexFunc(pinned, func(c store.Calibration) bool { return c.Question == question.Key })
	if at < 0 {
		return about, seen, nil
	}
	fit, err := readFit(pinned[at])
	if err != nil {
		return about, seen, err
	}
	about.Calibration = &pinned[at].ID
	for i, o := range seen.Observations {
		seen.Observations[i].Probabilities = fit.Apply(o.Probabilities)
	}
	return about, seen, nil
}

// figures measures a question. With too few labels that count it has no measures.
func (s *Service) figures(
	ctx context.Context, account prism.AccountID, p prism.Prism, v *version, question prism.Question, q contract.QualityQuery,
) (body questionQualityBody, of []completeness, err error) {
	about, seen, err := s.measurable(ctx, account, p, v, question, q)
	body.measuredBody, of = about, []completeness{seen.completeness}
	if err != nil || about.Counted < calibration.MinLabels {
		return body, of, err
	}
	quality, err := resampleInTurn(ctx, s.measures, account, func() (calibration.Quality, error) {
		return calibration.Measure(calibration.Kind(question.Type), seen.Observations)
	})
	if err == nil {
		body.figuresBody = newFiguresBody(question.Type, answerKeys(question), quality)
	}
	return body, of, err
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
		question, err := questionOf(v, q.Question)
		if err != nil {
			return nil, err
		}
		if question.Type != prism.YesNo {
			return nil, apierr.Invalid(apierr.Problem{Path: "question", Text: "Expected a yes_no question"})
		}
		about, seen, err := s.measurable(ctx, account, p, v, question, q.QualityQuery)
		if err != nil {
			return nil, err
		}
		found := seen.Observations
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
