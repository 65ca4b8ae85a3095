package sample

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// How many results of each version of support are labelled: 400, unless there are fewer.
const (
	labelsOfFirst  = 200
	labelsOfSecond = 200
	queuePage      = 100 // results of the queue at a time
)

// labelledQuestions are those of support that have labels, in the order of the columns of support.tsv.
func labelledQuestions() []string { return []string{"team", "refund", "mood"} }

// label has members label results of a version of support: the first n of the random order, as the page Label does.
func (f *filling) label(ctx context.Context, version int32, n int) error {
	for i := 0; n > 0; i++ {
		labelled, err := f.labelPage(ctx, f.people[i%len(f.people)], version, min(n, queuePage))
		if err != nil || labelled == 0 {
			return err
		}
		n -= labelled
	}
	return nil
}

// labelPage has a member label the first results of the queue, and returns how many there were.
func (f *filling) labelPage(ctx context.Context, member prism.MemberID, version int32, n int) (labelled int, err error) {
	return labelled, f.signedIn(ctx, member, func(key contract.KeyDigest) error {
		queue, err := read[struct {
			Data []struct {
				ID     prism.ResultID `json:"result_id"`
				Fields map[string]string
			}
		}](contract.Do(ctx, f.deps.Results, key, api.ListLabelQueue, api.ListLabelQueueRequest{
			PrismRequest: ofPrism(support), Question: labelledQuestions()[0], Order: api.RandomSample, Version: version,
			PageRequest: api.PageRequest{Limit: n},
		}))
		if err != nil || len(queue.Data) == 0 {
			return err
		}
		labels := api.ManyLabels{LabelBy: api.LabelBy{Sample: api.RandomSample}}
		for _, r := range queue.Data {
			for i, right := range f.right[r.Fields["subject"]] {
				labels.Labels = append(labels.Labels, api.NewLabel{Result: r.ID, Question: labelledQuestions()[i], Value: api.LabelText(right)})
			}
		}
		added, err := read[api.AddedLabels](contract.Do(ctx, f.deps.Results, key, api.AddLabels, api.AddLabelsRequest{
			PrismRequest: ofPrism(support), ManyLabels: labels,
		}))
		if err == nil && added.Labelled != len(labels.Labels) {
			err = errors.New("a label of the demo is none")
		}
		labelled = len(queue.Data)
		return err
	})
}

// measure labels results of the second version of support, calibrates what was labelled, and shows it in a column of the Lens.
func (f *filling) measure(ctx context.Context) error {
	f.deps.Clock.Set(f.plan.Until)
	if err := f.label(ctx, 2, labelsOfSecond); err != nil {
		return err
	}
	for _, c := range []struct {
		slug     string
		version  int32
		question string
		method   api.CalibrationMethod
	}{
		{support, 2, "team", api.TemperatureCalibration},
		{support, 2, "refund", api.PlattCalibration},
		{banking, 1, "intent", api.TemperatureCalibration},
	} {
		version := api.VersionRequest{PrismRequest: ofPrism(c.slug), Version: c.version}
		if err := f.calibrate(ctx, version, api.NewCalibration{Question: c.question, Method: c.method}); err != nil {
			return err
		}
	}
	return nil
}

// calibrate fits a calibration, pins it, and shows it in a column of its own, unless there are too few labels for one.
func (f *filling) calibrate(ctx context.Context, version api.VersionRequest, n api.NewCalibration) error {
	made, err := read[struct{ ID prism.CalibrationID }](contract.Do(ctx, f.deps.Results, f.owner, api.CreateCalibration,
		api.CreateCalibrationRequest{VersionRequest: version, NewCalibration: n}))
	if isConflict(err) {
		return nil
	} else if err != nil {
		return fmt.Errorf("calibrating %s: %w", n.Question, err)
	}
	_, err = contract.Do(ctx, f.deps.Results, f.owner, api.PinCalibrations, api.PinCalibrationsRequest{
		VersionRequest: version, CalibrationPins: api.CalibrationPins{Questions: api.Pins{{Target: n.Question, Calibration: made.ID}}},
	})
	if err != nil {
		return fmt.Errorf("pinning the calibration of %s: %w", n.Question, err)
	}
	now, err := read[struct{ Lens prism.Lens }](contract.Do(ctx, f.deps.Results, f.owner, api.ReadPrism, version.PrismRequest))
	if err != nil {
		return fmt.Errorf("reading the Lens: %w", err)
	}
	lens := api.NewLens{Lens: now.Lens}
	lens.Columns = append(lens.Columns, prism.Column{
		Name: n.Question + "_calibrated", Question: n.Question, Show: prism.ShowProbability, Calibrated: true,
	})
	_, err = contract.Do(ctx, f.deps.Results, f.owner, api.ReplaceLens, api.ReplaceLensRequest{PrismRequest: version.PrismRequest, NewLens: lens})
	if err != nil {
		return fmt.Errorf("showing the calibration of %s: %w", n.Question, err)
	}
	return nil
}

// watch watches both prisms for drift, and waits until all their results are counted.
func (f *filling) watch(ctx context.Context) error {
	f.deps.Clock.Set(f.plan.Until)
	for _, slug := range []string{support, banking} {
		_, err := contract.Do(ctx, f.deps.Results, f.owner, api.SetDrift, api.SetDriftRequest{
			PrismRequest: ofPrism(slug), DriftChange: api.DriftChange{Watched: true},
		})
		if err != nil {
			return fmt.Errorf("watching %s for drift: %w", slug, err)
		}
	}
	return f.working(ctx, func() error {
		for _, slug := range []string{support, banking} {
			if err := f.awaitCounted(ctx, slug); err != nil {
				return fmt.Errorf("counting the answers of %s: %w", slug, err)
			}
		}
		return nil
	})
}

// countedLate is how old the results are that are counted next: their calls may still go on (spec: drift-late-results).
const countedLate = 2 * time.Minute

func (f *filling) awaitCounted(ctx context.Context, slug string) error {
	return await(ctx, func() (bool, error) {
		is, err := read[struct {
			To time.Time `json:"counted_to"`
		}](contract.Do(ctx, f.deps.Results, f.owner, api.ReadDrift, api.ReadDriftRequest{PrismRequest: ofPrism(slug)}))
		return !is.To.Before(f.plan.Until.Add(-countedLate).Truncate(time.Millisecond)), err
	})
}

// isConflict reports whether a call was refused for what there is, and not for what was sent.
func isConflict(err error) bool {
	var refused *apierr.Error
	return errors.As(err, &refused) && refused.Code == apierr.CodeConflict
}
