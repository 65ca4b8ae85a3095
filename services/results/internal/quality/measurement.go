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
	handlers *Handlers
	account  prism.AccountID
	prism    prism.Prism
	version  *prisms.Cached
	answers  api.MeasuredAnswers
}

// unmeasured is a question whose measures are not cached.
type unmeasured struct {
	prism.Question
	id      string               // of its measures in the cache
	quality *api.QuestionQuality // where they go
}

// measure measures questions in batches that fit into memory, and takes turns with other accounts between them. The measures are
// cached, so that a call that is repeated, as it was not done in time, has less to do.
func (m measurement) measure(ctx context.Context, questions []prism.Question) ([]api.QuestionQuality, error) {
	labels, err := m.handlers.labelsState(ctx, m.account, m.prism.ID, m.version.Number)
	if err != nil {
		return nil, err
	}
	qualities := make([]api.QuestionQuality, len(questions))
	missing, err := m.readCache(ctx, labels, questions, qualities)
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

// readCache sets the qualities that are cached, and returns the other questions.
func (m measurement) readCache(
	ctx context.Context, labels snapshot, questions []prism.Question, qualities []api.QuestionQuality,
) (missing []unmeasured, err error) {
	for i, q := range questions {
		id := measureID(labels, api.ReadQuality.Name, q.Key, m.answers, m.prism.Pins, m.version.Hash)
		quality, cached, err := findMeasure[api.QuestionQuality](ctx, m.handlers, m.account, id)
		if err != nil {
			return nil, err
		}
		if qualities[i] = quality; !cached {
			missing = append(missing, unmeasured{q, id, &qualities[i]})
		}
	}
	return missing, nil
}

// observationBytes bounds the probabilities that are in memory at once. A choice of 255 options has 20 MB of them, and is alone.
const observationBytes = 16 << 20

// batchSize is how many of the questions are measured together: those whose observations fit into observationBytes, at least one.
// Their answers are read once.
func batchSize(questions []unmeasured) int {
	size := 0
	for i, q := range questions {
		if size += 8 * maxCounted * max(1, len(q.AnswerKeys())); size > observationBytes {
			return max(1, i)
		}
	}
	return len(questions)
}

// measureBatch reads the answers to questions, measures the questions, and caches the measures. If a question fails, it caches those
// before it.
func (m measurement) measureBatch(ctx context.Context, labels snapshot, batch []unmeasured, work *fair.Work) error {
	questions := make([]prism.Question, len(batch))
	for i, u := range batch {
		questions[i] = u.Question
	}
	observations, err := m.observe(ctx, questions)
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

// observed is a question with the observations that are to be measured.
type observed struct {
	api.MeasuredQuestion
	observationSet
}

// observe reads the observations of questions, with the probabilities that are to be measured.
func (m measurement) observe(ctx context.Context, questions []prism.Question) ([]observed, error) {
	filter := store.Filter{Model: m.answers.Model}
	sets, err := m.handlers.observations(ctx, m.account, m.prism.ID, m.version, questions, filter)
	if err != nil {
		return nil, err
	}
	var pinned []Calibration
	if m.answers.Calibrated && !m.prism.Pins.IsZero() {
		if pinned, err = m.handlers.store.Pinned(ctx, m.account, m.prism.ID, m.prism.Pins, m.version.Number); err != nil {
			return nil, err
		}
	}
	measured := make([]observed, len(questions))
	for i, set := range sets {
		q := set.question
		measured[i] = observed{
			api.MeasuredQuestion{Question: q.Key, Type: q.Type, Labels: set.Labels, Counted: len(set.Observations), Examples: set.Examples}, set,
		}
		at := slices.IndexFunc(pinned, func(c Calibration) bool { return c.Question == q.Key })
		if at < 0 {
			continue
		}
		fit, err := readFit(pinned[at])
		if err != nil {
			return nil, err
		}
		measured[i].Calibration = new(pinned[at].ID.String())
		for k, o := range set.Observations {
			set.Observations[k].Probabilities = fit.Apply(o.Probabilities)
		}
	}
	return measured, nil
}
