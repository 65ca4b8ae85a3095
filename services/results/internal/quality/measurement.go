package quality

import (
	"context"
	"errors"
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

// measurement measures questions of a version for a call that has a place to do so (spec: place-classes).
type measurement struct {
	*Handlers
	account prism.AccountID
	prism   prism.Prism
	version *prisms.Cached
	answers api.MeasuredAnswers
}

// observed is a question with the observations that are to be measured.
type observed struct {
	api.MeasuredQuestion
	observationSet
}

// quality measures questions, as many at once as fit into memory, and takes turns with other accounts between them. What is
// measured is kept, so that a call that is repeated, as it was not done in time, has less to do.
func (m measurement) quality(ctx context.Context, questions []prism.Question) ([]api.QuestionQuality, error) {
	labels, err := m.labelsState(ctx, m.account, m.prism.ID, m.version.Number)
	if err != nil {
		return nil, err
	}
	bodies := make([]api.QuestionQuality, len(questions))
	ids := make([]string, len(questions))
	var work fair.Work
	var left []int // that are not kept
	for i, question := range questions {
		ids[i] = measureID(labels, api.ReadQuality.Name, question.Key, m.answers, m.prism.Pins)
		found, kept, err := findMeasure[api.QuestionQuality](ctx, m.Handlers, m.account, ids[i])
		if err != nil {
			return nil, err
		}
		if bodies[i] = found; !kept {
			left = append(left, i)
		}
	}
	for first := true; len(left) > 0; first = false {
		if !first {
			if err := m.access.Yield(ctx, m.account, contract.Operation(api.ReadQuality.Name)); err != nil {
				return nil, err
			}
		}
		part := make([]prism.Question, len(left))
		for i, at := range left {
			part[i] = questions[at]
		}
		part = part[:questionsAtOnce(part)]
		found, err := m.observe(ctx, part)
		if err != nil {
			return nil, err
		}
		computed := map[string]cachedMeasure{}
		for i := range part {
			at := left[i]
			work.Step()
			if bodies[at], err = found[i].quality(ctx); err != nil {
				break
			}
			computed[ids[at]] = cachedMeasure{bodies[at], []completeness{found[i].completeness}}
		}
		if err := errors.Join(err, m.keepMeasures(ctx, m.account, labels, computed)); err != nil {
			return nil, err
		}
		left = left[len(part):]
	}
	return bodies, nil
}

// observe reads the observations of questions, with the probabilities that are to be measured.
func (m measurement) observe(ctx context.Context, questions []prism.Question) ([]observed, error) {
	sets, err := m.observations(ctx, m.account, m.prism.ID, m.version, questions, store.Filter{Model: m.answers.Model})
	if err != nil {
		return nil, err
	}
	var pinned []Calibration
	if m.answers.Calibrated && !m.prism.Pins.IsZero() {
		if pinned, err = m.store.Pinned(ctx, m.account, m.prism.ID, m.prism.Pins, m.version.Number); err != nil {
			return nil, err
		}
	}
	found := make([]observed, len(questions))
	for i, q := range questions {
		set := sets[i]
		found[i] = observed{api.MeasuredQuestion{Question: q.Key, Type: q.Type, Labels: set.Labels, Counted: len(set.Observations)}, set}
		at := slices.IndexFunc(pinned, func(c Calibration) bool { return c.Question == q.Key })
		if at < 0 {
			continue
		}
		fit, err := readFit(pinned[at])
		if err != nil {
			return nil, err
		}
		found[i].Calibration = new(pinned[at].ID.String())
		for k, o := range set.Observations {
			set.Observations[k].Probabilities = fit.Apply(o.Probabilities)
		}
	}
	return found, nil
}
