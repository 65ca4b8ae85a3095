package service

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/drift"
	"github.com/prism-results/prism/services/results/internal/store"
)

// The bodies of drift (spec: drift-members).
type (
	driftBody struct {
		Version   int32               `json:"version"`
		Watched   bool                `json:"watched"`
		CountedTo *string             `json:"counted_to"`
		Reference *driftReferenceBody `json:"reference"`
		Questions []driftQuestionBody `json:"questions"`
	}
	driftReferenceBody struct {
		Kind    drift.Kind `json:"kind"`
		From    *string    `json:"from"`
		To      *string    `json:"to"`
		Results int64      `json:"results"`
	}
	driftQuestionBody struct {
		Question string             `json:"question"`
		Index    int                `json:"index"`
		Type     prism.QuestionType `json:"type"`
		Metrics  bool               `json:"metrics"`
		Hour     driftWindowBody    `json:"hour"`
		Day      driftWindowBody    `json:"day"`
		Hours    []driftWindowBody  `json:"hours"`
		Days     []driftWindowBody  `json:"days"`
	}
	driftWindowBody struct {
		From        string          `json:"from"`
		To          string          `json:"to"`
		Results     int64           `json:"results"`
		Alarm       bool            `json:"alarm"`
		Probability *driftIndexBody `json:"probability"`
		Classes     *driftIndexBody `json:"classes"`
	}
	driftIndexBody struct {
		PSI   float64 `json:"psi"`
		Limit float64 `json:"limit"`
		Alarm bool    `json:"alarm"`
	}
)

// ReadDrift implements contract.Drift.
func (s *Service) ReadDrift(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, version int32,
) (contract.Response, error) {
	return s.manage(ctx, key, readDrift, apierr.PrismNotFound(), func(account prism.AccountID) (any, error) {
		p, number, err := s.prismAt(ctx, account, ref, version)
		if err != nil {
			return nil, err
		}
		return s.drift(ctx, account, p, number)
	})
}

// SetDrift implements contract.Drift.
func (s *Service) SetDrift(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, c contract.DriftChange,
) (contract.Response, error) {
	return s.alter(ctx, key, setDrift, apierr.PrismNotFound(), func(account prism.AccountID, by store.By) (any, error) {
		p, number, err := s.prismAt(ctx, account, ref, c.Version)
		if err != nil {
			return nil, err
		}
		change := store.DriftChange{Watched: c.Watched, Start: drift.Start(by.At), Version: number}
		if c.Reference != nil {
			change.From, change.To = c.Reference.From, c.Reference.To
			if err := s.referencePeriod(ctx, account, p.ID, change, by.At); err != nil {
				return nil, err
			}
		}
		if err := s.Store.SetDrift(ctx, account, p.ID, change, by); err != nil {
			return nil, err
		}
		return s.drift(ctx, account, p, number)
	})
}

// prismAt finds a prism and the number of one of its versions, 0 for the latest.
func (s *Service) prismAt(
	ctx context.Context, account prism.AccountID, ref prism.Ref, version int32,
) (p prism.Prism, number int32, err error) {
	p, err = s.Store.Prism(ctx, account, ref)
	switch {
	case err != nil:
		return p, 0, err
	case version == 0:
		return p, p.Latest.Number, nil
	case version > p.Latest.Number:
		return p, 0, apierr.VersionNotFound()
	}
	return p, version, nil
}

// referencePeriod checks that the results of a period are counted, unless it is the one that is set (spec: drift-reference-set).
func (s *Service) referencePeriod(
	ctx context.Context, account prism.AccountID, id prism.PrismID, c store.DriftChange, now time.Time,
) error {
	was, err := s.Store.DriftVersion(ctx, account, id, c.Version)
	switch {
	case err != nil || was.From.Equal(c.From) && was.To.Equal(c.To):
		return err
	case c.To.After(now):
		return apierr.Invalid(apierr.Problem{Path: "reference.to", Text: "must not be in the future"})
	case c.From.Before(now.Add(-store.DriftKept)):
		return apierr.Invalid(apierr.Problem{Path: "reference.from", Text: "must be at most 90 days ago"})
	}
	return nil
}

// drift is the body of the drift of a version.
func (s *Service) drift(ctx context.Context, account prism.AccountID, p prism.Prism, number int32) (any, error) {
	body := driftBody{Version: number, Questions: []driftQuestionBody{}}
	watch, err := s.Store.DriftWatch(ctx, account, p.ID)
	if errors.Is(err, store.ErrNotFound) {
		return body, nil
	} else if err != nil {
		return nil, err
	}
	v, err := s.version(ctx, account, versionID{p.ID, p.VersionsHash, number})
	if err != nil {
		return nil, err
	}
	last, err := drift.Read(ctx, s.Store, watch, number)
	if err != nil {
		return nil, err
	}
	hours, days, err := drift.History(ctx, s.Store, watch, number, last.Reference)
	if err != nil {
		return nil, err
	}
	slots, _, err := drift.Slots(ctx, s.Store, s.Store)
	if err != nil {
		return nil, err
	}
	shown := 0 // how many questions have metrics
	for _, slot := range slots {
		if slot.Prism == p.ID && slot.Latest == number {
			shown = slot.Shown
		}
	}
	countedTo := prism.FormatTime(last.CountedTo)
	body.Watched, body.CountedTo = true, &countedTo
	body.Reference = &driftReferenceBody{Kind: last.Reference.Kind, Results: last.Reference.Results}
	if !last.Reference.From.IsZero() {
		from, to := prism.FormatTime(last.Reference.From), prism.FormatTime(last.Reference.To)
		body.Reference.From, body.Reference.To = &from, &to
	}
	for i, q := range v.Questions {
		body.Questions = append(body.Questions, driftQuestionBody{
			Question: q.Key, Index: i, Type: q.Type, Metrics: i < shown, Hour: windowOf(last.Hour, i), Day: windowOf(last.Day, i),
			Hours: windowsOf(hours, i), Days: windowsOf(days, i),
		})
	}
	return body, nil
}

func windowsOf(windows []drift.Window, question int) []driftWindowBody {
	bodies := make([]driftWindowBody, len(windows))
	for i, w := range windows {
		bodies[i] = windowOf(w, question)
	}
	return bodies
}

// windowOf is a window of a question, without indices of too few answers.
func windowOf(w drift.Window, question int) driftWindowBody {
	body := driftWindowBody{From: prism.FormatTime(w.From), To: prism.FormatTime(w.To), Results: w.Results}
	if question < len(w.Questions) && w.Questions[question].Known() {
		c := w.Questions[question]
		body.Alarm, body.Probability, body.Classes = c.Alarm(), indexOf(c.Probability), indexOf(c.Classes)
	}
	return body
}

// indexOf rounds to six digits behind the point.
func indexOf(d calibration.Drift) *driftIndexBody {
	round := func(f float64) float64 { return math.Round(f*1e6) / 1e6 }
	return &driftIndexBody{PSI: round(d.Index), Limit: round(d.Limit), Alarm: d.Alarm}
}
