package service

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
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
		p, v, err := s.versionOfPrism(ctx, account, api.VersionRequest{PrismRequest: api.PrismRequest{Prism: of.Prism}, Version: of.Number})
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
		found, err := measurement{s, account, p, v, q}.quality(ctx, questions)
		if err != nil {
			return nil, err
		}
		most := 0
		for _, one := range found {
			most = max(most, one.Counted)
		}
		if most < calibration.MinLabels {
			return nil, apierr.TooFewLabels(most, calibration.MinLabels)
		}
		return qualityBody{Version: v.Number, Questions: found}, nil
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

// quality measures the question. With too few labels that count it has no measures.
func (m measured) quality(ctx context.Context) (body questionQualityBody, err error) {
	body.measuredBody = m.measuredBody
	if m.Counted < calibration.MinLabels {
		return body, nil
	}
	if ctx.Err() != nil { // nobody waits any more
		return body, errors.Join(contract.ErrUnavailable, ctx.Err())
	}
	found, err := calibration.Measure(calibration.Kind(m.Type), m.Observations)
	if err == nil {
		body.figuresBody = newFiguresBody(m.Type, m.classes, found)
	}
	return body, err
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
		p, v, err := s.versionOfPrism(ctx, account, api.VersionRequest{PrismRequest: api.PrismRequest{Prism: of.Prism}, Version: of.Number})
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
		one, err := measurement{s, account, p, v, q.QualityQuery}.observe(ctx, []prism.Question{question})
		if err != nil {
			return nil, err
		}
		found := one[0].Observations
		costs := calibration.Costs{FalseYes: q.FalseYes, FalseNo: q.FalseNo, Unsure: q.Unsure}
		if len(found) < calibration.MinLabels {
			return nil, apierr.TooFewLabels(len(found), calibration.MinLabels)
		}
		chosen, err := calibration.ThresholdsOf(costs, found)
		if err != nil {
			return nil, err
		}
		return thresholdsBody{
			one[0].measuredBody, costs.FalseYes, costs.FalseNo, costs.Unsure, chosen.Theory.YesAt, chosen.Theory.NoAt,
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
