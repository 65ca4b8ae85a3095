package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/quality"
	"github.com/prism-results/prism/services/results/internal/store"
)

// calibration adds a calibration of a question of version 1 of a tenant's prism.
func (f *fixture) calibration(t *testing.T, owner tenant, question string) quality.Calibration {
	t.Helper()
	c := quality.Calibration{
		ID: prism.CalibrationID{UUID: f.id()}, Prism: owner.prism.ID, Version: 1, Target: question,
		Fit: []byte(`{"a": 1.50, "b":[]}`), Measures: []byte(`{"labels":200}`), CreatedAt: moment(20),
	}
	succeeds(t, f.AddCalibration(t.Context(), owner.account, c, f.by(moment(20))))
	return c
}

// pin pins calibrations of mine to a version, and returns the id of the pins that the prism has then.
func (f *fixture) pin(t *testing.T, version int32, changes ...quality.Pin) prism.PinsID {
	t.Helper()
	pins := prism.PinsID{UUID: f.id()}
	succeeds(t, f.PinCalibrations(t.Context(), f.mine.account, f.mine.prism.ID, version, changes, pins, f.by(moment(21))))
	return f.pins(t)
}

// pins is the id of the pins of mine.
func (f *fixture) pins(t *testing.T) prism.PinsID {
	t.Helper()
	p, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: f.mine.prism.ID})
	succeeds(t, err)
	return p.Pins
}

// pinned is what an id of pins stands for.
func (f *fixture) pinned(t *testing.T, pins prism.PinsID, version int32) []quality.Calibration {
	t.Helper()
	found, err := f.Pinned(t.Context(), f.mine.account, f.mine.prism.ID, pins, version)
	succeeds(t, err)
	return found
}

func pinOf(c quality.Calibration) quality.Pin {
	return quality.Pin{Target: c.Target, Calibration: c.ID}
}

// spec: calibration-members, calibration-pins, calibration-pin-change
func calibrationTests() []test {
	return []test{
		{"calibrations of a version are listed newest first, of all questions or one, a page at a time", func(t *testing.T, f *fixture) {
			first, second := f.calibration(t, f.mine, "urgent"), f.calibration(t, f.mine, "mood")
			third := f.calibration(t, f.mine, "urgent")
			f.calibration(t, f.theirs, "urgent")
			id := func(c quality.Calibration) prism.UUID { return c.ID.UUID }
			for question, want := range map[string][]quality.Calibration{"": {third, second, first}, "urgent": {third, first}, "topic": nil, "topic urgent mood": {third, second, first}} {
				list := func(p store.Page) ([]quality.Calibration, bool, error) {
					return f.ListCalibrations(t.Context(), f.mine.account, f.mine.prism.ID, 1, strings.Fields(question), p)
				}
				for limit := 1; limit <= 4; limit++ {
					same(t, pages(t, limit, list, id), want)
				}
			}
			other, _, err := f.ListCalibrations(t.Context(), f.mine.account, f.mine.prism.ID, 2, nil, store.Page{Limit: 9})
			succeeds(t, err)
			same(t, other, nil)
			got, err := f.Calibration(t.Context(), f.mine.account, f.mine.prism.ID, 1, second.ID)
			succeeds(t, err)
			same(t, got, second)
		}},
		{"what is not of the version, the prism and the account is not found", func(t *testing.T, f *fixture) {
			c := f.calibration(t, f.mine, "urgent")
			other := f.addPrism(t, f.mine, "other")
			for _, at := range []struct {
				prism   prism.PrismID
				version int32
			}{{other.ID, 1}, {f.mine.prism.ID, 2}, {f.theirs.prism.ID, 1}} {
				_, err := f.Calibration(t.Context(), f.mine.account, at.prism, at.version, c.ID)
				failsWith(t, err, store.ErrNotFound)
			}
			_, err := f.Calibration(t.Context(), f.theirs.account, f.mine.prism.ID, 1, c.ID)
			failsWith(t, err, store.ErrNotFound)
			c.Prism = f.theirs.prism.ID
			failsWith(t, f.AddCalibration(t.Context(), f.mine.account, c, f.by(moment(1))), store.ErrNotFound)
			pins := prism.PinsID{UUID: f.id()}
			failsWith(t, f.PinCalibrations(t.Context(), f.mine.account, c.Prism, 1, nil, pins, f.by(moment(1))), store.ErrNotFound)
		}},
		{"only the questions that a change names change, and those of other versions never", func(t *testing.T, f *fixture) {
			urgent, mood, again := f.calibration(t, f.mine, "urgent"), f.calibration(t, f.mine, "mood"), f.calibration(t, f.mine, "urgent")
			same(t, f.pins(t), prism.PinsID{})
			succeeds(t, f.AddVersion(t.Context(), f.mine.account, changed(f.mine.prism.ID, 2, lens("l"))))
			later := urgent
			later.ID, later.Version = prism.CalibrationID{UUID: f.id()}, 2
			succeeds(t, f.AddCalibration(t.Context(), f.mine.account, later, f.by(moment(20))))
			first := f.pin(t, 1, pinOf(urgent))
			second := f.pin(t, 2, pinOf(later))
			third := f.pin(t, 1, pinOf(mood), quality.Pin{Target: "topic"})
			fourth := f.pin(t, 1, pinOf(again))
			fifth := f.pin(t, 1, quality.Pin{Target: "urgent"}, quality.Pin{Target: "mood"})
			for _, c := range []struct {
				pins               prism.PinsID
				version1, version2 []quality.Calibration
			}{
				{prism.PinsID{}, nil, nil},
				{first, []quality.Calibration{urgent}, nil},
				{second, []quality.Calibration{urgent}, []quality.Calibration{later}},
				{third, []quality.Calibration{mood, urgent}, []quality.Calibration{later}},
				{fourth, []quality.Calibration{mood, again}, []quality.Calibration{later}},
				{fifth, nil, []quality.Calibration{later}},
			} {
				same(t, f.pinned(t, c.pins, 1), c.version1)
				same(t, f.pinned(t, c.pins, 2), c.version2)
			}
			same(t, f.pin(t, 2, quality.Pin{Target: "urgent"}), prism.PinsID{})
		}},
		{"a change that changes nothing is no change", func(t *testing.T, f *fixture) {
			c := f.calibration(t, f.mine, "urgent")
			same(t, f.pin(t, 1, quality.Pin{Target: "urgent"}), prism.PinsID{})
			was := f.pin(t, 1, pinOf(c))
			same(t, f.pin(t, 1, pinOf(c), quality.Pin{Target: "mood"}), was)
			same(t, len(f.entriesOf(t, store.CalibrationPin)), 1)
		}},
		{"a calibration of another question, version or prism cannot be pinned", func(t *testing.T, f *fixture) {
			c, theirs := f.calibration(t, f.mine, "urgent"), f.calibration(t, f.theirs, "urgent")
			good := quality.Pin{Target: "mood"}
			for _, at := range []struct {
				version int32
				pin     quality.Pin
			}{
				{1, quality.Pin{Target: "topic", Calibration: c.ID}},
				{2, pinOf(c)},
				{1, pinOf(theirs)},
				{1, quality.Pin{Target: "urgent", Calibration: prism.CalibrationID{UUID: f.id()}}},
			} {
				err := f.PinCalibrations(t.Context(), f.mine.account, f.mine.prism.ID, at.version, []quality.Pin{good, at.pin},
					prism.PinsID{UUID: f.id()}, f.by(moment(1)))
				if refused, ok := errors.AsType[*store.PinError](err); !ok || refused.Target != at.pin.Target {
					t.Errorf("%+v: %v", at, err)
				}
			}
			same(t, f.pins(t), prism.PinsID{})
		}},
		{"calibrations of an archived prism stay as they are", func(t *testing.T, f *fixture) {
			c := f.calibration(t, f.mine, "urgent")
			pins := f.pin(t, 1, pinOf(c))
			f.archive(t, f.mine.prism.ID, 22)
			failsWith(t, f.AddCalibration(t.Context(), f.mine.account, c, f.by(moment(23))), store.ErrArchived)
			err := f.PinCalibrations(t.Context(), f.mine.account, c.Prism, 1, []quality.Pin{{Target: "urgent"}}, prism.PinsID{UUID: f.id()},
				f.by(moment(23)))
			failsWith(t, err, store.ErrArchived)
			same(t, f.pins(t), pins)
		}},
		{"each look-up and each save finds the pins beside the Lens", func(t *testing.T, f *fixture) {
			r := f.save(t, keyed(f.ok(f.mine.prism), "k")).Result
			failed := f.save(t, f.failed(f.mine.prism)).Result
			for _, pins := range []prism.PinsID{f.pin(t, 1, pinOf(f.calibration(t, f.mine, "urgent"))), {}} {
				if pins.IsZero() {
					f.pin(t, 1, quality.Pin{Target: "urgent"})
				}
				want := f.mine.prism
				want.Pins = pins
				read, err := f.ResultFacts(t.Context(), f.mine.digest, r.ID, store.WithoutInput)
				succeeds(t, err)
				same(t, *read.Prism, state(want))
				for _, ref := range []prism.Ref{{ID: want.ID}, {Slug: want.Slug}} {
					for _, key := range []string{"", "k"} {
						created, err := f.CreateFacts(t.Context(), contract.CreateQuery{Key: f.mine.digest, Prism: ref, IdempotencyKey: key})
						succeeds(t, err)
						same(t, *created.Prism, state(want))
						if key != "" {
							same(t, *created.StoredPrism, state(want))
						}
					}
				}
				same(t, f.save(t, f.ok(f.mine.prism)).Prism, state(want))
				again := f.failed(f.mine.prism)
				same(t, f.retry(t, again, failed).Prism, state(want))
				failed = again
				listed, _, err := f.ListResults(t.Context(), f.mine.account, store.Filter{}, store.WithoutInput, store.Page{Limit: 9})
				succeeds(t, err)
				for _, each := range listed {
					same(t, each.Prism, state(want))
				}
			}
		}},
		{"changes of pins at the same time are made one after the other", func(t *testing.T, f *fixture) {
			questions := []string{"urgent", "topic", "mood"}
			var pins []quality.Pin
			for _, q := range questions {
				pins = append(pins, pinOf(f.calibration(t, f.mine, q)))
			}
			ids := []prism.PinsID{{UUID: f.id()}, {UUID: f.id()}, {UUID: f.id()}}
			for _, err := range together(len(pins), func(i int) error {
				return f.PinCalibrations(context.Background(), f.mine.account, f.mine.prism.ID, 1, pins[i:i+1], ids[i], f.by(moment(30)))
			}) {
				succeeds(t, err)
			}
			same(t, len(f.pinned(t, f.pins(t), 1)), len(questions))
		}},
		// spec: audit-actions
		{"making and pinning a calibration is in the audit", func(t *testing.T, f *fixture) {
			c := f.calibration(t, f.mine, "urgent")
			f.pin(t, 1, pinOf(c))
			f.pin(t, 1, quality.Pin{Target: "urgent"})
			id := c.ID.String()
			for action, want := range map[store.Action][]string{
				store.CalibrationCreate: {`{"version":1,"calibration":"` + id + `"}`},
				store.CalibrationPin:    {`{"version":1,"pinned":[],"unpinned":1}`, `{"version":1,"pinned":["` + id + `"],"unpinned":0}`},
			} {
				var details []string
				for _, e := range f.entriesOf(t, action) {
					details = append(details, string(e.Detail))
					same(t, e.Object, store.Object{Kind: store.PrismObject, ID: f.mine.prism.ID.UUID, Name: "triage"})
				}
				same(t, details, want)
			}
		}},
	}
}
