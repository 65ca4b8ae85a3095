package quality

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

// measurement measures targets of a version for a call that has a place to do so (spec: place-classes).
type measurement struct {
	handlers *Handlers
	account  prism.AccountID
	prism    prism.Prism
	version  *prisms.Cached
	answers  api.MeasuredAnswers
}

// unmeasured is a target whose measures are not cached.
type unmeasured struct {
	prism.Target
	id      string               // of its measures in the cache
	quality *api.QuestionQuality // where they go
}

// measure measures targets in batches that fit into memory, and takes turns with other accounts between them. The measures are
// cached, so that a call that is repeated, as it was not done in time, has less to do.
func (m measurement) measure(ctx context.Context, targets []prism.Target) ([]api.QuestionQuality, error) {
	labels, err := m.handlers.labelsState(ctx, m.account, m.prism.ID, m.version.Number)
	if err != nil {
		return nil, err
	}
	qualities := make([]api.QuestionQuality, len(targets))
	missing, err := m.readCache(ctx, labels, targets, qualities)
	if err != nil {
		return nil, err
	}
	var work fair.Work
	for len(missing) > 0 {
		batch := missing[:batchSize(missing)]
		if err := m.measureBatch(ctx, labels, batch, &work); err != nil {
			return nil, err
		}
		if missing = missing[len(batch):]; len(missing) == 0 {
			break
		}
		if err := m.handlers.access.Yield(ctx, m.account, contract.Operation(api.ReadQuality.Name)); err != nil {
			return nil, err
		}
	}
	return qualities, nil
}

// readCache sets the qualities that are cached, and returns the other targets.
func (m measurement) readCache(
	ctx context.Context, labels snapshot, targets []prism.Target, qualities []api.QuestionQuality,
) (missing []unmeasured, err error) {
	for i, t := range targets {
		id := measureID(labels, api.ReadQuality.Name, t.Name(), m.answers, m.prism.Pins, m.version.Hash)
		quality, cached, err := findMeasure[api.QuestionQuality](ctx, m.handlers, m.account, id)
		if err != nil {
			return nil, err
		}
		if qualities[i] = quality; !cached {
			missing = append(missing, unmeasured{t, id, &qualities[i]})
		}
	}
	return missing, nil
}

// observationBytes bounds the probabilities that are in memory at once. A choice of 255 options has 20 MB of them, and is alone. An
// observation of an option has optionNumbers numbers with all that belongs to it.
const (
	observationBytes = 16 << 20
	optionNumbers    = 8
)

// batchSize is how many of the targets are measured together: those whose observations fit into observationBytes, at least one.
// Their answers are read once.
func batchSize(targets []unmeasured) int {
	size := 0
	for i, t := range targets {
		numbers := max(1, len(t.AnswerKeys()))
		if t.Option != "" {
			numbers = optionNumbers
		}
		if size += 8 * maxCounted * numbers; size > observationBytes {
			return max(1, i)
		}
	}
	return len(targets)
}

// measureBatch reads the answers to targets, measures the targets, and caches the measures. If a target fails, it caches those
// before it.
func (m measurement) measureBatch(ctx context.Context, labels snapshot, batch []unmeasured, work *fair.Work) error {
	targets := make([]prism.Target, len(batch))
	for i, u := range batch {
		targets[i] = u.Target
	}
	observations, err := m.observe(ctx, targets)
	if err != nil {
		return err
	}
	computed := map[string]cachedMeasure{}
	for i, u := range batch {
		work.Step()
		if *u.quality, err = observations[i].quality(ctx); err != nil {
			break
		}
		computed[u.id] = cachedMeasure{*u.quality, []completeness{observations[i].completeness}}
	}
	return errors.Join(err, m.handlers.cacheMeasures(ctx, m.account, labels, computed))
}

// observed is a target with the observations that are to be measured.
type observed struct {
	api.MeasuredQuestion
	observationSet
}

// observe reads the observations of targets, with the probabilities that are to be measured.
func (m measurement) observe(ctx context.Context, targets []prism.Target) ([]observed, error) {
	filter := store.Filter{Model: m.answers.Model}
	sets, err := m.handlers.observations(ctx, m.account, m.prism.ID, m.version, targets, filter)
	if err != nil {
		return nil, err
	}
	pinned := lens.Pinned{}
	ids := map[string]prism.CalibrationID{}
	if m.answers.Calibrated && !m.prism.Pins.IsZero() {
		found, err := m.handlers.store.Pinned(ctx, m.account, m.prism.ID, m.prism.Pins, m.version.Number)
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			if pinned[c.Target], err = readFit(c); err != nil {
				return nil, err
			}
			ids[c.Target] = c.ID
		}
	}
	measured := make([]observed, len(targets))
	for i, set := range sets {
		t := set.target
		measured[i] = observed{
			api.MeasuredQuestion{Question: t.Of.Key, Option: t.Option, Type: t.Of.Type, Labels: set.Labels, Counted: set.counted(), Examples: set.Examples}, set,
		}
		if id, ok := ids[t.Name()]; ok {
			measured[i].Calibration = new(id.String())
		}
		set.calibrate(pinned)
	}
	return measured, nil
}

// calibrate replaces the probabilities of which something is pinned.
func (s *observationSet) calibrate(pinned lens.Pinned) {
	if fit := pinned[s.target.Name()]; fit != nil {
		for k, o := range s.Observations {
			s.Observations[k].Probabilities = fit.Apply(o.Probabilities)
		}
	}
	if len(s.Sets) == 0 {
		return
	}
	for i, option := range s.target.Of.Targets() {
		if fit := pinned[option.Name()]; fit != nil {
			for k := range s.Sets {
				copy(s.Sets[k].Probabilities[i:], fit.Apply(s.Sets[k].Probabilities[i:i+1]))
			}
		}
	}
}
