package service

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
)

// calibrationBody is the body of a calibration (spec: calibration-members).
type calibrationBody struct {
	ID            prism.CalibrationID `json:"id"`
	Version       int32               `json:"version"`
	Question      string              `json:"question"`
	Method        calibration.Method  `json:"method"`
	Temperature   *float64            `json:"temperature"`
	A             *float64            `json:"a"`
	B             *float64            `json:"b"`
	Points        *[][2]float64       `json:"points"`
	Labels        int                 `json:"labels"`
	LogLossBefore float64             `json:"log_loss_before"`
	LogLossAfter  float64             `json:"log_loss_after"`
	Gain          calibration.Figure  `json:"gain"`
	CreatedAt     string              `json:"created_at"`
}

// errCalibration drops the error of the JSON library, which may quote the content.
var errCalibration = errors.New("a stored calibration is not readable")

// readFit reads what maps probabilities.
func readFit(c store.Calibration) (*calibration.Calibration, error) {
	fit := &calibration.Calibration{}
	if strictjson.Unmarshal(c.Fit, fit) != nil || fit.Validate() != nil {
		return nil, errCalibration
	}
	return fit, nil
}

func newCalibrationBody(c store.Calibration) (calibrationBody, error) {
	fit, err := readFit(c)
	if err != nil {
		return calibrationBody{}, err
	}
	var report calibration.Report
	if strictjson.Unmarshal(c.Measures, &report) != nil {
		return calibrationBody{}, errCalibration
	}
	body := calibrationBody{
		ID: c.ID, Version: c.Version, Question: c.Question, Method: fit.Method, Labels: report.Labels,
		LogLossBefore: report.Before, LogLossAfter: report.After, Gain: report.Gain, CreatedAt: prism.FormatTime(c.CreatedAt),
	}
	switch fit.Method {
	case calibration.Temperature:
		body.Temperature = &fit.Temperature
	case calibration.Platt:
		body.A, body.B = &fit.A, &fit.B
	case calibration.Isotonic, calibration.Auto:
		points := make([][2]float64, 0, len(fit.X))
		for i, x := range fit.X {
			points = append(points, [2]float64{x, fit.Y[i]})
		}
		body.Points = &points
	}
	return body, nil
}

// versionOfPrism finds a version that a call names: apierr.PrismNotFound, apierr.VersionNotFound.
func (s *Service) versionOfPrism(ctx context.Context, account prism.AccountID, of contract.VersionRef) (prism.Prism, *version, error) {
	p, err := s.Store.Prism(ctx, account, of.Prism)
	if err != nil {
		return prism.Prism{}, nil, translate(err, apierr.PrismNotFound())
	}
	v, err := s.version(ctx, account, versionID{p.ID, p.VersionsHash, of.Number})
	return p, v, translate(err, apierr.VersionNotFound())
}

// CreateCalibration implements contract.Calibrations.
func (s *Service) CreateCalibration(
	ctx context.Context, key contract.KeyDigest, of contract.VersionRef, n contract.NewCalibration,
) (contract.Response, error) {
	return s.alter(ctx, key, createCalibration, apierr.PrismNotFound(), func(account prism.AccountID, by store.By) (any, error) {
		p, v, err := s.versionOfPrism(ctx, account, of)
		if err != nil {
			return nil, err
		}
		if p.ArchivedAt != nil {
			return nil, apierr.ArchivedUnchangeable()
		}
		q, err := questionOf(v, n.Question)
		if err != nil {
			return nil, err
		}
		if !n.Method.For(q.Type) {
			return nil, apierr.Invalid(apierr.Problem{Path: "method", Text: methodProblem(q.Type)})
		}
		sets, err := s.observations(ctx, account, p.ID, v, []prism.Question{q}, store.Filter{})
		if err != nil {
			return nil, err
		}
		fit, report, err := fitted(q.Type, n.Method, sets[0].Observations)
		if err != nil {
			return nil, err
		}
		c, err := s.newCalibration(p.ID, v.Number, q.Key, fit, report)
		if err != nil {
			return nil, err
		}
		c.CreatedAt = by.At
		if err := s.Store.AddCalibration(ctx, account, c, by); err != nil {
			return nil, err
		}
		return newCalibrationBody(c)
	})
}

// methodProblem says which methods fit a type.
func methodProblem(t prism.QuestionType) string {
	if t == prism.YesNo {
		return "Expected 'auto' | 'platt' | 'isotonic' for a yes_no question"
	}
	return "Expected 'auto' | 'temperature' for a " + string(t) + " question"
}

// fitted fits a method to observations: errors of the catalogue.
func fitted(
	t prism.QuestionType, m contract.CalibrationMethod, observations []calibration.Observation,
) (*calibration.Calibration, calibration.Report, error) {
	fit, report, err := calibration.Fit(calibration.Kind(t), calibration.Method(m), observations)
	few, tooFew := errors.AsType[*calibration.TooFewError](err)
	switch {
	case tooFew && few.Of == "labels":
		return nil, report, apierr.TooFewLabels(few.Have, max(few.Need, leastLabels(t, m)))
	case tooFew:
		return nil, report, apierr.TooFewOfClass(few.Have, few.Need)
	case errors.Is(err, calibration.ErrNotFitted):
		return nil, report, apierr.NotFitted()
	case err == nil && fit == nil:
		return nil, report, apierr.NoGain()
	}
	return fit, report, err
}

// leastLabels is how many labels a method needs; of several methods, the one that needs the fewest.
func leastLabels(t prism.QuestionType, m contract.CalibrationMethod) int {
	switch {
	case t != prism.YesNo:
		return calibration.MinTemperature
	case m == contract.IsotonicCalibration:
		return calibration.MinIsotonic
	}
	return calibration.MinPlatt
}

// newCalibration is a calibration to store.
func (s *Service) newCalibration(
	of prism.PrismID, number int32, question string, fit *calibration.Calibration, report calibration.Report,
) (c store.Calibration, err error) {
	id, err := s.NewID()
	if err != nil {
		return c, err
	}
	c = store.Calibration{ID: prism.CalibrationID{UUID: id}, Prism: of, Version: number, Question: question}
	if c.Fit, err = strictjson.Marshal(fit); err == nil {
		c.Measures, err = strictjson.Marshal(report)
	}
	return c, err
}

// ListCalibrations implements contract.Calibrations.
func (s *Service) ListCalibrations(
	ctx context.Context, key contract.KeyDigest, of contract.VersionRef, q contract.CalibrationList,
) (contract.Response, error) {
	return s.manage(ctx, key, listCalibrations, nil, func(account prism.AccountID) (any, error) {
		page, err := storePage(contract.ListOfCalibrations, q.Page.Limit, q.Page.Cursor)
		if err != nil {
			return nil, err
		}
		p, v, err := s.versionOfPrism(ctx, account, of)
		if err != nil {
			return nil, err
		}
		found, more, err := s.Store.ListCalibrations(ctx, account, p.ID, v.Number, q.Question, page)
		if err != nil {
			return nil, err
		}
		return newListBody(contract.ListOfCalibrations, found, more, func(c store.Calibration) (strictjson.Value, error) {
			body, err := newCalibrationBody(c)
			if err != nil {
				return nil, err
			}
			return strictjson.Marshal(body)
		}, func(c store.Calibration) prism.UUID { return c.ID.UUID })
	})
}

// Calibration implements contract.Calibrations.
func (s *Service) Calibration(
	ctx context.Context, key contract.KeyDigest, of contract.VersionRef, id prism.CalibrationID,
) (contract.Response, error) {
	return s.manage(ctx, key, readCalibration, apierr.CalibrationNotFound(), func(account prism.AccountID) (any, error) {
		p, v, err := s.versionOfPrism(ctx, account, of)
		if err != nil {
			return nil, err
		}
		c, err := s.Store.Calibration(ctx, account, p.ID, v.Number, id)
		if err != nil {
			return nil, err
		}
		return newCalibrationBody(c)
	})
}

// pinsBody is the body of what is pinned to a version (spec: calibration-pins).
type pinsBody struct {
	Version   int32            `json:"version"`
	Questions strictjson.Value `json:"questions"`
}

// PinCalibrations implements contract.Calibrations.
func (s *Service) PinCalibrations(
	ctx context.Context, key contract.KeyDigest, of contract.VersionRef, pins []contract.CalibrationPin,
) (contract.Response, error) {
	return s.alter(ctx, key, pinCalibrations, apierr.PrismNotFound(), func(account prism.AccountID, by store.By) (any, error) {
		p, v, err := s.versionOfPrism(ctx, account, of)
		if err != nil {
			return nil, err
		}
		var problems []apierr.Problem
		changes := make([]store.Pin, 0, len(pins))
		for _, pin := range pins {
			if _, known := v.Question(pin.Question); !known {
				problems = append(problems, apierr.Problem{Path: "questions." + pin.Question, Text: textUnknownQuestion})
			}
			changes = append(changes, store.Pin{Question: pin.Question, Calibration: pin.Calibration})
		}
		if len(problems) > 0 {
			return nil, apierr.Invalid(problems...)
		}
		id, err := s.NewID()
		if err != nil {
			return nil, err
		}
		err = s.Store.PinCalibrations(ctx, account, p.ID, v.Number, changes, prism.PinsID{UUID: id}, by)
		if refused, ok := errors.AsType[*store.PinError](err); ok {
			err = apierr.Invalid(apierr.Problem{Path: "questions." + refused.Question, Text: "Unknown calibration"})
		}
		if err != nil {
			return nil, err
		}
		if p, err = s.Store.Prism(ctx, account, prism.Ref{ID: p.ID}); err != nil {
			return nil, err
		}
		return s.newPinsBody(ctx, account, p, v)
	})
}

// PinnedCalibrations implements contract.Calibrations.
func (s *Service) PinnedCalibrations(ctx context.Context, key contract.KeyDigest, of contract.VersionRef) (contract.Response, error) {
	return s.manage(ctx, key, readPins, apierr.PrismNotFound(), func(account prism.AccountID) (any, error) {
		p, v, err := s.versionOfPrism(ctx, account, of)
		if err != nil {
			return nil, err
		}
		return s.newPinsBody(ctx, account, p, v)
	})
}

func (s *Service) newPinsBody(ctx context.Context, account prism.AccountID, p prism.Prism, v *version) (pinsBody, error) {
	found, err := s.Store.Pinned(ctx, account, p.ID, p.Pins, v.Number)
	if err != nil {
		return pinsBody{}, err
	}
	pinned := map[string]string{}
	for _, c := range found {
		pinned[c.Question] = c.ID.String()
	}
	return pinsBody{v.Number, objectOf(v.Questions, func(b []byte, q prism.Question) []byte {
		b = append(strictjson.AppendString(b, q.Key), ':')
		if id, ok := pinned[q.Key]; ok {
			return strictjson.AppendString(b, id)
		}
		return append(b, "null"...)
	})}, nil
}

// apply prepares the Lens of a prism for the results of a version.
func (s *Service) apply(ctx context.Context, account prism.AccountID, v *version, p store.PrismState) (*applied, error) {
	return v.apply(p, func() (lens.Pinned, error) { return s.pinnedBy(ctx, account, p.ID, p.Pins, v.Number) })
}

// pinned is the calibrations that a Lens needs for the results of a version.
func (s *Service) pinned(
	ctx context.Context, account prism.AccountID, l prism.Lens, of prism.PrismID, pins prism.PinsID, number int32,
) (lens.Pinned, error) {
	if !l.Calibrated() {
		return nil, nil
	}
	return s.pinnedBy(ctx, account, of, pins, number)
}

// pinnedBy is what is pinned to a version by an id of pins.
func (s *Service) pinnedBy(
	ctx context.Context, account prism.AccountID, of prism.PrismID, pins prism.PinsID, number int32,
) (lens.Pinned, error) {
	if pins.IsZero() {
		return nil, nil
	}
	found, err := s.Store.Pinned(ctx, account, of, pins, number)
	if err != nil {
		return nil, err
	}
	pinned := lens.Pinned{}
	for _, c := range found {
		if pinned[c.Question], err = readFit(c); err != nil {
			return nil, err
		}
	}
	return pinned, nil
}
