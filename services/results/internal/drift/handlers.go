package drift

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Handlers are those of the operations of drift.
type Handlers struct {
	store    handlerStore
	versions *prisms.Handlers
}

// handlerStore finds a prism by its name too.
type handlerStore interface {
	Store
	Versions
	Prism(ctx context.Context, account prism.AccountID, ref prism.Ref) (prism.Prism, error)
}

// NewHandlers makes Handlers over a store.
func NewHandlers(s handlerStore, v *prisms.Handlers) *Handlers { return &Handlers{s, v} }

// Operations are the operations of drift.
func (s *Handlers) Operations(a *access.Access) []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{access.Handle(api.ReadDrift, s.readDrift), access.Change(a, api.SetDrift, s.setDrift)}
}

func (s *Handlers) readDrift(ctx context.Context, c store.Caller, in api.ReadDriftRequest) (api.Drift, error) {
	p, number, err := s.prismAt(ctx, c.Account, in.Prism, in.Version)
	if err != nil {
		return api.Drift{}, err
	}
	return s.newBody(ctx, c.Account, p, number)
}

func (s *Handlers) setDrift(ctx context.Context, account prism.AccountID, by store.By, in api.SetDriftRequest) (api.Drift, error) {
	p, number, err := s.prismAt(ctx, account, in.Prism, int32(in.Version)) //nolint:gosec // bounded by the declaration
	if err != nil {
		return api.Drift{}, err
	}
	change := Change{Watched: in.Watched, Start: Start(by.At), Version: number}
	if in.Reference != nil {
		change.From, change.To = in.Reference.From, in.Reference.To
		if err := s.checkReference(ctx, account, p.ID, change, by.At); err != nil {
			return api.Drift{}, err
		}
	}
	if err := s.store.SetDrift(ctx, account, p.ID, change, by); err != nil {
		return api.Drift{}, err
	}
	return s.newBody(ctx, account, p, number)
}

// prismAt finds a prism and the number of one of its versions, 0 for the latest.
func (s *Handlers) prismAt(
	ctx context.Context, account prism.AccountID, ref prism.Ref, version int32,
) (p prism.Prism, number int32, err error) {
	p, err = s.store.Prism(ctx, account, ref)
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

// checkReference checks that the results of a period are counted, unless it is the one that is set (spec: drift-reference-set).
func (s *Handlers) checkReference(
	ctx context.Context, account prism.AccountID, id prism.PrismID, c Change, now time.Time,
) error {
	was, err := s.store.DriftVersion(ctx, account, id, c.Version)
	switch {
	case err != nil || was.From.Equal(c.From) && was.To.Equal(c.To):
		return err
	case c.To.After(now):
		return apierr.Invalid(apierr.Problem{Path: "reference.to", Text: "must not be in the future"})
	case c.From.Before(now.Add(-HistoryTime)):
		return apierr.Invalid(apierr.Problem{Path: "reference.from", Text: "must be at most 90 days ago"})
	}
	return nil
}

// newBody is the body of the drift of a version.
func (s *Handlers) newBody(ctx context.Context, account prism.AccountID, p prism.Prism, number int32) (api.Drift, error) {
	body := api.Drift{Version: int(number), Questions: []api.DriftOfQuestion{}}
	watch, err := s.store.DriftWatch(ctx, account, p.ID)
	if errors.Is(err, store.ErrNotFound) {
		return body, nil
	} else if err != nil {
		return api.Drift{}, err
	}
	v, err := s.versions.Version(ctx, account, prisms.VersionIn(p, number))
	if err != nil {
		return api.Drift{}, err
	}
	last, err := Read(ctx, s.store, watch, number, v.Questions)
	if err != nil {
		return api.Drift{}, err
	}
	hours, days, err := History(ctx, s.store, watch, number, last.Reference)
	if err != nil {
		return api.Drift{}, err
	}
	slots, _, err := Slots(ctx, s.store, s.store)
	if err != nil {
		return api.Drift{}, err
	}
	shown := 0 // how many questions have metrics
	for _, slot := range slots {
		if slot.Prism == p.ID && slot.Latest == number {
			shown = slot.Shown
		}
	}
	body.Watched, body.CountedTo = true, &api.Time{Time: last.CountedTo}
	body.Reference = &api.DriftReference{Kind: last.Reference.Kind, Results: last.Reference.Results}
	if !last.Reference.From.IsZero() {
		body.Reference.From, body.Reference.To = &api.Time{Time: last.Reference.From}, &api.Time{Time: last.Reference.To}
	}
	targets, first := v.Targets(), 0
	for i, q := range v.Questions {
		for _, n := range compared(q, first, last.Reference.Counts) {
			body.Questions = append(body.Questions, api.DriftOfQuestion{
				Question: q.Key, Option: targets[n].Option, Index: i, Type: q.Type, Metrics: i < shown,
				Hour: newWindowBody(last.Hour, n), Day: newWindowBody(last.Day, n), Hours: newWindowBodies(hours, n), Days: newWindowBodies(days, n),
			})
		}
		first += len(q.Targets())
	}
	return body, nil
}

func newWindowBodies(windows []Window, target int) []api.DriftWindow {
	bodies := make([]api.DriftWindow, len(windows))
	for i, w := range windows {
		bodies[i] = newWindowBody(w, target)
	}
	return bodies
}

// newWindowBody is a window of a target, without indices of too few answers.
func newWindowBody(w Window, target int) api.DriftWindow {
	body := api.DriftWindow{From: api.Time{Time: w.From}, To: api.Time{Time: w.To}, Results: w.Results}
	if target < len(w.Targets) && w.Targets[target].Known() {
		c := w.Targets[target]
		body.Alarm, body.Probability, body.Classes = c.Alarm(), newIndexBody(c.Probability), newIndexBody(c.Classes)
	}
	return body
}

// newIndexBody rounds to six digits behind the point.
func newIndexBody(d calibration.Drift) *api.DriftIndex {
	round := func(f float64) float64 { return math.Round(f*1e6) / 1e6 }
	return &api.DriftIndex{PSI: round(d.Index), Limit: round(d.Limit), Alarm: d.Alarm}
}
