package quality

import (
	"context"
	"errors"
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

// errCalibration drops the error of the JSON library, which may quote the content.
var errCalibration = errors.New("a stored calibration is not readable")

// readFit reads what maps probabilities.
func readFit(c Calibration) (*calibration.Calibration, error) {
	fit := &calibration.Calibration{}
	if strictjson.Unmarshal(c.Fit, fit) != nil || fit.Validate() != nil {
		return nil, errCalibration
	}
	return fit, nil
}

func newCalibrationBody(c Calibration) (api.Calibration, error) {
	fit, err := readFit(c)
	if err != nil {
		return api.Calibration{}, err
	}
	var report calibration.Report
	if strictjson.Unmarshal(c.Measures, &report) != nil {
		return api.Calibration{}, errCalibration
	}
	question, option := prism.SplitTarget(c.Target)
	body := api.Calibration{
		ID: c.ID.String(), Version: int(c.Version), Question: question, Option: option, Method: api.CalibrationMethod(fit.Method), Labels: report.Labels,
		LogLossBefore: report.Before, LogLossAfter: report.After, Gain: report.Gain, CreatedAt: api.Time{Time: c.CreatedAt},
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
func (s *Handlers) versionOfPrism(ctx context.Context, account prism.AccountID, of api.VersionRequest) (prism.Prism, *prisms.Cached, error) {
	p, err := s.store.Prism(ctx, account, of.Prism)
	if err != nil {
		return prism.Prism{}, nil, access.Translate(err, apierr.PrismNotFound())
	}
	v, err := s.versions.Version(ctx, account, prisms.VersionIn(p, of.Version))
	return p, v, access.Translate(err, apierr.VersionNotFound())
}

func (s *Handlers) createCalibration(
	ctx context.Context, account prism.AccountID, by store.By, in api.CreateCalibrationRequest,
) (none api.Calibration, err error) {
	p, v, err := s.versionOfPrism(ctx, account, in.VersionRequest)
	if err != nil {
		return none, err
	}
	if p.ArchivedAt != nil {
		return none, apierr.ArchivedUnchangeable()
	}
	target, err := findTarget(v, in.Question, in.Option)
	if err != nil {
		return none, err
	}
	if !fits(in.Method, target.Type) {
		return none, apierr.Invalid(apierr.Problem{Path: "method", Text: methodProblem(target.Type)})
	}
	sets, err := s.observations(ctx, account, p.ID, v, []prism.Target{target}, store.Filter{})
	if err != nil {
		return none, err
	}
	fit, report, err := fitted(target.Type, in.Method, sets[0].Observations)
	if err != nil {
		return none, err
	}
	c, err := s.newCalibration(p.ID, v.Number, target.Name(), fit, report)
	if err != nil {
		return none, err
	}
	c.CreatedAt = by.At
	if err := s.store.AddCalibration(ctx, account, c, by); err != nil {
		return none, err
	}
	return newCalibrationBody(c)
}

// fits tells whether a method is for questions of a type.
func fits(m api.CalibrationMethod, t prism.QuestionType) bool {
	return m == api.AutoCalibration || slices.Contains(calibration.MethodsOf(t.Classes()), calibration.Method(m))
}

// methodProblem says which methods fit a type.
func methodProblem(t prism.QuestionType) string {
	expected := "Expected 'auto'"
	for _, m := range calibration.MethodsOf(t.Classes()) {
		expected += " | '" + string(m) + "'"
	}
	return expected + " for a " + string(t) + " question"
}

// fitted fits a method to observations: errors of the catalogue.
func fitted(
	t prism.QuestionType, m api.CalibrationMethod, observations []calibration.Observation,
) (*calibration.Calibration, calibration.Report, error) {
	fit, report, err := calibration.Fit(t.Classes(), calibration.Method(m), observations)
	few, tooFew := errors.AsType[*calibration.TooFewError](err)
	switch {
	case tooFew && few.Counted == "labels":
		return nil, report, apierr.TooFewLabels(few.Have, max(few.Need, calibration.MinLabelsOf(t.Classes(), calibration.Method(m))))
	case tooFew:
		return nil, report, apierr.TooFewOfClass(few.Have, few.Need)
	case errors.Is(err, calibration.ErrNotFitted):
		return nil, report, apierr.NotFitted()
	case err == nil && fit == nil:
		return nil, report, apierr.NoGain()
	}
	return fit, report, err
}

// newCalibration is a calibration to store.
func (s *Handlers) newCalibration(
	prismID prism.PrismID, number int32, target string, fit *calibration.Calibration, report calibration.Report,
) (c Calibration, err error) {
	id, err := s.newID()
	if err != nil {
		return c, err
	}
	c = Calibration{ID: prism.CalibrationID{UUID: id}, Prism: prismID, Version: number, Target: target}
	if c.Fit, err = strictjson.Marshal(fit); err == nil {
		c.Measures, err = strictjson.Marshal(report)
	}
	return c, err
}

func (s *Handlers) listCalibrations(ctx context.Context, c store.Caller, in api.ListCalibrationsRequest) ([]byte, error) {
	return bodies.List(contract.ListOfCalibrations, in.Limit, in.Cursor, func(page store.Page) ([]Calibration, bool, error) {
		p, v, err := s.versionOfPrism(ctx, c.Account, in.VersionRequest)
		if err != nil {
			return nil, false, err
		}
		return s.store.ListCalibrations(ctx, c.Account, p.ID, v.Number, listedTargets(v, in.Question, in.Option), page)
	}, newCalibrationBody, func(c Calibration) prism.UUID { return c.ID.UUID })
}

// listedTargets are the names of the targets whose calibrations are listed: of a question, or an option of it. What the version does not
// have has no calibrations.
func listedTargets(v *prisms.Cached, question, option string) (names []string) {
	q, known := v.Question(question)
	switch {
	case question == "":
		return nil
	case option != "" || !known:
		return []string{prism.TargetName(question, option)}
	}
	for _, t := range q.Targets() {
		names = append(names, t.Name())
	}
	return names
}

func (s *Handlers) readCalibration(ctx context.Context, c store.Caller, in api.ReadCalibrationRequest) (api.Calibration, error) {
	p, v, err := s.versionOfPrism(ctx, c.Account, in.VersionRequest)
	if err != nil {
		return api.Calibration{}, err
	}
	found, err := s.store.Calibration(ctx, c.Account, p.ID, v.Number, in.Calibration)
	if err != nil {
		return api.Calibration{}, err
	}
	return newCalibrationBody(found)
}

func (s *Handlers) pinCalibrations(ctx context.Context, c store.Caller, in api.PinCalibrationsRequest) ([]byte, error) {
	by, err := s.access.By(c.Actor())
	if err != nil {
		return nil, err
	}
	p, v, err := s.versionOfPrism(ctx, c.Account, in.VersionRequest)
	if err != nil {
		return nil, err
	}
	var problems []apierr.Problem
	changes := make([]Pin, 0, len(in.Questions))
	known := map[string]bool{}
	for _, t := range v.Targets() {
		known[t.Name()] = true
	}
	for _, pin := range in.Questions {
		if !known[pin.Target] {
			problems = append(problems, apierr.Problem{Path: "questions." + pin.Target, Text: prisms.UnknownQuestion})
		}
		changes = append(changes, Pin(pin))
	}
	if len(problems) > 0 {
		return nil, apierr.Invalid(problems...)
	}
	id, err := s.newID()
	if err != nil {
		return nil, err
	}
	err = s.store.PinCalibrations(ctx, c.Account, p.ID, v.Number, changes, prism.PinsID{UUID: id}, by)
	if refused, ok := errors.AsType[*store.PinError](err); ok {
		err = apierr.Invalid(apierr.Problem{Path: "questions." + refused.Target, Text: "Unknown calibration"})
	}
	if err != nil {
		return nil, err
	}
	return s.readPinnedCalibrations(ctx, c, api.VersionRequest{PrismRequest: api.PrismRequest{Prism: prism.Ref{ID: p.ID}}, Version: v.Number})
}

// readPinnedCalibrations encodes its response, whose targets are in the order of the version.
func (s *Handlers) readPinnedCalibrations(ctx context.Context, c store.Caller, in api.VersionRequest) ([]byte, error) {
	p, v, err := s.versionOfPrism(ctx, c.Account, in)
	if err != nil {
		return nil, err
	}
	found, err := s.store.Pinned(ctx, c.Account, p.ID, p.Pins, v.Number)
	if err != nil {
		return nil, err
	}
	pinned := map[string]string{}
	for _, c := range found {
		pinned[c.Target] = c.ID.String()
	}
	return strictjson.Marshal(struct {
		Version   int32            `json:"version"`
		Questions strictjson.Value `json:"questions"`
	}{v.Number, bodies.Object(v.Targets(), func(b []byte, t prism.Target) []byte {
		b = append(strictjson.AppendString(b, t.Name()), ':')
		if id, ok := pinned[t.Name()]; ok {
			return strictjson.AppendString(b, id)
		}
		return append(b, "null"...)
	})})
}

// Apply prepares the Lens of a prism for the results of a version.
func (s *Handlers) Apply(ctx context.Context, account prism.AccountID, v *prisms.Cached, p store.PrismState) (*prisms.Applied, error) {
	return v.Apply(p, func() (lens.Pinned, error) { return s.pinned(ctx, account, p.ID, p.Pins, v.Number) })
}

// CalibrationsFor is the calibrations that a Lens needs for the results of a version.
func (s *Handlers) CalibrationsFor(
	ctx context.Context, account prism.AccountID, l prism.Lens, of prism.PrismID, pins prism.PinsID, number int32,
) (lens.Pinned, error) {
	if !l.Calibrated() {
		return nil, nil
	}
	return s.pinned(ctx, account, of, pins, number)
}

// pinned is what is pinned to a version by an id of pins.
func (s *Handlers) pinned(
	ctx context.Context, account prism.AccountID, of prism.PrismID, pins prism.PinsID, number int32,
) (lens.Pinned, error) {
	if pins.IsZero() {
		return nil, nil
	}
	found, err := s.store.Pinned(ctx, account, of, pins, number)
	if err != nil {
		return nil, err
	}
	pinned := lens.Pinned{}
	for _, c := range found {
		if pinned[c.Target], err = readFit(c); err != nil {
			return nil, err
		}
	}
	return pinned, nil
}
