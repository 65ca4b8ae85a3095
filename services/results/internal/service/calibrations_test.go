package service_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/quality"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// pinning is a store that counts reads of pinned calibrations.
type pinning struct {
	sqlstore.Store
	reads atomic.Int64
}

func (p *pinning) Pinned(
	ctx context.Context, a prism.AccountID, id prism.PrismID, pins prism.PinsID, version int32,
) ([]quality.Calibration, error) {
	p.reads.Add(1)
	return p.Store.Pinned(ctx, a, id, pins, version)
}

// example is answer i of a model that is not certain enough: the probability of yes, and whether yes is right.
func example(i int) (p float64, yes bool) {
	fraction := func(x float64) float64 { return x - math.Floor(x) }
	p = math.Round((fraction(float64(i)*0.6180339887498949)*0.98+0.01)*1e6) / 1e6
	is := math.Pow(p, 1.7) / (math.Pow(p, 1.7) + math.Pow(1-p, 1.7))
	return p, fraction(float64(i)*0.7548776662466927) < is
}

// examples saves answers first to last of the example, each to a text of its own.
func (w *world) examples(t *testing.T, of prism.PrismID, first, last int) []prism.ResultID {
	t.Helper()
	var ids []prism.ResultID
	for i := first; i <= last; i++ {
		p, _ := example(i)
		s := w.save(of)
		s.Fields[0].Value = fmt.Sprint("text ", i)
		s.Outcome.Answers = fmt.Appendf(nil, `{"q":{"type":"yes_no","probability":%v}}`, p)
		w.saved(t, s)
		ids = append(ids, s.ID)
	}
	return ids
}

// labelled labels answers, the first of which is number first of the example.
func (w *world) labelled(t *testing.T, of prism.PrismID, ids []prism.ResultID, first int, sample prism.LabelSample, right bool) {
	t.Helper()
	var put []labels.Label
	for i, id := range ids {
		_, yes := example(first + i)
		put = append(put, labels.Label{
			Result: id, Version: 1, Question: "q", Value: fmt.Sprint(yes == right), Sample: sample, Origin: store.LabelOfCall,
			Key: prism.KeyID{UUID: prism.UUID{1}}, At: time.UnixMilli(1),
		})
	}
	for chunk := range slices.Chunk(put, api.MaxLabels) {
		if gone, err := w.store.PutLabels(t.Context(), w.account, of, chunk); err != nil || len(gone) > 0 {
			t.Fatal(gone, err)
		}
	}
}

// calibrationPart is a part of a calibration's body.
type calibrationPart struct {
	ID     prism.CalibrationID `json:"id"`
	Method string              `json:"method"`
	Labels int                 `json:"labels"`
	A      *float64            `json:"a"`
	B      *float64            `json:"b"`
	Before float64             `json:"log_loss_before"`
	After  float64             `json:"log_loss_after"`
	Gain   calibration.Figure  `json:"gain"`
}

// calibrated fits a calibration to question q of version 1.
func (w *world) calibrated(t *testing.T, slug string, m api.CalibrationMethod) calibrationPart {
	t.Helper()
	response, err := w.CreateCalibration(t.Context(), w.key, versionOf(slug), api.NewCalibration{Question: "q", Method: m})
	if err != nil {
		t.Fatal(err)
	}
	var body calibrationPart
	decode(t, response, &body)
	return body
}

func versionOf(slug string) api.VersionRequest { return versionAt(slug, 1) }

func versionAt(slug string, number int32) api.VersionRequest {
	return api.VersionRequest{PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: slug}}, Version: number}
}

// pin pins a calibration to question q of version 1; the zero id unpins.
func (w *world) pin(t *testing.T, slug string, id prism.CalibrationID) {
	t.Helper()
	_, err := w.PinCalibrations(t.Context(), w.key, versionOf(slug), api.Pins{{Target: "q", Calibration: id}})
	if err != nil {
		t.Fatal(err)
	}
}

// spec: calibration-create, calibration-members, calibration-methods, calibration-list, calibration-read, calibration-pins
func TestACalibrationIsFittedToTheLabelsOfAVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.prism(t, "tickets")
	ids := w.examples(t, of, 1, 500)
	w.labelled(t, of, ids, 1, prism.RandomSample, true)
	platt := w.calibrated(t, "tickets", api.PlattCalibration)
	if platt.Method != "platt" || platt.Labels != 500 || math.Abs(*platt.A-1.73634599) > 1e-6 || math.Abs(*platt.B-0.00412026) > 1e-6 {
		t.Errorf("fitted %+v, a %v, b %v", platt, *platt.A, *platt.B)
	}
	if math.Abs(platt.Before-0.4050006228351275) > 1e-9 || platt.After >= platt.Before || platt.Gain.Low <= 0 ||
		math.Abs(platt.Gain.Value-(platt.Before-platt.After)) > 1e-9 {
		t.Errorf("it gains %+v", platt)
	}
	auto := w.calibrated(t, "tickets", api.AutoCalibration)
	if auto.Method != "platt" || *auto.A != *platt.A {
		t.Errorf("the best is %+v", auto)
	}
	const number = `-?[0-9.e-]+`
	body := func(id prism.CalibrationID) string {
		return `{"id":"` + id.String() + `","version":1,"question":"q","method":"platt","temperature":null,"a":` + number + `,"b":` + number +
			`,"points":null,"labels":500,"log_loss_before":` + number + `,"log_loss_after":` + number + `,"gain":{"value":` + number +
			`,"low":` + number + `,"high":` + number + `},"created_at":"2027-01-15T08:00:0\d\.\d{3}Z"}`
	}
	ctx, version := t.Context(), versionOf("tickets")
	got, err := w.Calibration(ctx, w.key, version, platt.ID)
	matches(t, got, err, body(platt.ID))
	for question, want := range map[string]string{
		"":  `{"data":\[` + body(auto.ID) + `,` + body(platt.ID) + `\],"next_cursor":null}`,
		"q": `{"data":\[` + body(auto.ID) + `,` + body(platt.ID) + `\],"next_cursor":null}`,
		"r": `{"data":\[\],"next_cursor":null}`,
	} {
		got, err := w.ListCalibrations(ctx, w.key, version, question)
		matches(t, got, err, want)
	}
	none, err := w.PinnedCalibrations(ctx, w.key, version)
	matches(t, none, err, `{"version":1,"questions":{"q":null}}`)
	pinned, err := w.PinCalibrations(ctx, w.key, version, api.Pins{{Target: "q", Calibration: platt.ID}})
	matches(t, pinned, err, `{"version":1,"questions":{"q":"`+platt.ID.String()+`"}}`)
	again, err := w.PinnedCalibrations(ctx, w.key, version)
	if err != nil || string(again.Body) != string(pinned.Body) {
		t.Errorf("pinned is %s, %v", again.Body, err)
	}
}

// spec: labels-that-count, label-sample
func TestOnlyLabelsOfASampleAreCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		label func(w *world, of prism.PrismID, ids []prism.ResultID)
		want  int
	}{
		"uncertain ones never count": {func(w *world, of prism.PrismID, ids []prism.ResultID) {
			w.labelled(t, of, ids[:300], 1, prism.RandomSample, true)
			w.labelled(t, of, ids[300:], 301, prism.UncertainSample, false) // and would spoil the fit
		}, 300},
		"a label that was uncertain and is now of a sample counts": {func(w *world, of prism.PrismID, ids []prism.ResultID) {
			w.labelled(t, of, ids, 1, prism.UncertainSample, false)
			w.labelled(t, of, ids[:300], 1, prism.RandomSample, true)
		}, 300},
		"those without a sample count if every result has one": {func(w *world, of prism.PrismID, ids []prism.ResultID) {
			w.labelled(t, of, ids, 1, "", true)
		}, 400},
		"also beside those of a sample": {func(w *world, of prism.PrismID, ids []prism.ResultID) {
			w.labelled(t, of, ids[:250], 1, prism.RandomSample, true)
			w.labelled(t, of, ids[250:], 251, "", true)
		}, 400},
		"those without a sample do not count beside results without a label": {func(w *world, of prism.PrismID, ids []prism.ResultID) {
			w.labelled(t, of, ids[:250], 1, prism.RandomSample, true)
			w.labelled(t, of, ids[250:399], 251, "", true)
		}, 250},
		"nor beside results with an uncertain label": {func(w *world, of prism.PrismID, ids []prism.ResultID) {
			w.labelled(t, of, ids[:250], 1, prism.RandomSample, true)
			w.labelled(t, of, ids[250:399], 251, "", true)
			w.labelled(t, of, ids[399:], 400, prism.UncertainSample, true)
		}, 250},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			of := w.prism(t, "tickets")
			ids := w.examples(t, of, 1, 400)
			c.label(w, of, ids)
			got := w.calibrated(t, "tickets", api.PlattCalibration)
			// The same labels alone, all of a sample.
			only := newWorld(t)
			its := only.prism(t, "tickets")
			only.labelled(t, its, only.examples(t, its, 1, c.want), 1, prism.RandomSample, true)
			want := only.calibrated(t, "tickets", api.PlattCalibration)
			if got.Labels != c.want || *got.A != *want.A || *got.B != *want.B || got.Gain != want.Gain {
				t.Errorf("fitted to %d labels: %v and %v, want %d: %v and %v", got.Labels, *got.A, *got.B, c.want, *want.A, *want.B)
			}
		})
	}
}

// spec: labels-that-count
func TestEqualTextsAreOneInputOfAFit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.prism(t, "tickets")
	var ids []prism.ResultID
	for i := 1; i <= 400; i++ {
		p, _ := example(i)
		s := w.save(of) // of the same text
		s.Outcome.Answers = fmt.Appendf(nil, `{"q":{"type":"yes_no","probability":%v}}`, p)
		w.saved(t, s)
		ids = append(ids, s.ID)
	}
	w.labelled(t, of, ids, 1, prism.RandomSample, true)
	_, err := w.CreateCalibration(t.Context(), w.key, versionOf("tickets"), api.NewCalibration{Question: "q", Method: api.PlattCalibration})
	if !errors.Is(err, apierr.NotFitted()) { // one input cannot be divided for the cross-validation
		t.Errorf("got %v", err)
	}
}

// spec: calibration-create, too-few-labels, too-few-of-a-class, calibration-not-fitted, calibration-auto, calibration-not-found
// spec: calibration-pin-change
func TestACalibrationIsRefusedForAReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	label := func(slug string, n int, value func(i int) bool, p func(i int) float64) {
		of := w.prism(t, slug)
		for i := 1; i <= n; i++ {
			s := w.save(of)
			s.Fields[0].Value = fmt.Sprint(i)
			s.Outcome.Answers = fmt.Appendf(nil, `{"q":{"type":"yes_no","probability":%v}}`, p(i))
			w.saved(t, s)
			_, err := w.store.PutLabels(ctx, w.account, of, []labels.Label{{
				Result: s.ID, Version: 1, Question: "q", Value: fmt.Sprint(value(i)), Sample: prism.RandomSample, Origin: store.LabelOfCall,
				At: time.UnixMilli(1),
			}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	probability := func(i int) float64 { p, _ := example(i); return p }
	yes := func(i int) bool { _, yes := example(i); return yes }
	label("none", 0, yes, probability)
	label("few", 199, yes, probability)
	label("rare", 200, func(i int) bool { return i <= 19 }, probability)
	label("opposite", 200, func(i int) bool { return !yes(i) }, probability)
	// One of four with 0.25 is yes, and three of four with 0.75.
	label("calibrated", 400, func(i int) bool { return i%8 == 0 || i%8 > 4 }, func(i int) float64 {
		return []float64{0.25, 0.75}[i/4%2]
	})
	label("archived", 0, yes, probability)
	if _, err := w.SetArchived(ctx, w.key, prism.Ref{Slug: "archived"}, true); err != nil {
		t.Fatal(err)
	}
	choice := definition("text")
	choice.Questions[0] = prism.Question{Key: "c", Type: prism.Choice, Text: "?", Options: []prism.Option{{Key: "a"}, {Key: "b"}}}
	if _, err := w.CreatePrism(ctx, w.key, api.NewPrism{Slug: "choice", NewVersion: api.NewVersion{Definition: choice}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		slug     string
		version  int32
		question string
		method   api.CalibrationMethod
		want     string
	}{
		{"no-prism", 1, "q", "auto", "404 Prism not found"},
		{"none", 2, "q", "auto", "404 Prism version not found"},
		{"archived", 1, "q", "auto", "409 This prism is archived."},
		{"none", 1, "", "auto", "400 Invalid request: question: Unknown question"},
		{"none", 1, "q", "temperature", "400 Invalid request: method: Expected 'auto' | 'platt' | 'isotonic' for a yes_no question"},
		{"choice", 1, "c", "platt", "400 Invalid request: method: Expected 'auto' | 'temperature' for a choice question"},
		{"choice", 1, "c", "isotonic", "400 Invalid request: method: Expected 'auto' | 'temperature' for a choice question"},
		{"choice", 1, "c", "auto", "409 Too few labels: 0 of 100."},
		{"none", 1, "q", "auto", "409 Too few labels: 0 of 200."},
		{"few", 1, "q", "platt", "409 Too few labels: 199 of 200."},
		{"few", 1, "q", "isotonic", "409 Too few labels: 199 of 1000."},
		{"rare", 1, "q", "auto", "409 Too few labels of one class: 19 of 20."},
		{"opposite", 1, "q", "platt", "409 The labels do not determine a calibration."},
		{"calibrated", 1, "q", "auto", "409 No calibration is better than none."},
		{"calibrated", 1, "q", "platt", "<nil>"}, // who names a method gets it
	} {
		of := versionAt(c.slug, c.version)
		_, err := w.CreateCalibration(ctx, w.key, of, api.NewCalibration{Question: c.question, Method: c.method})
		if fmt.Sprint(err) != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}

	its := w.calibrated(t, "calibrated", api.PlattCalibration).ID
	pins := func(more ...api.Pin) api.Pins { return more }
	pin := func(q string) api.Pin { return api.Pin{Target: q, Calibration: its} }
	for _, c := range []struct {
		slug    string
		version int32
		pins    api.Pins
		want    string
	}{
		{"no-prism", 1, nil, "404 Prism not found"},
		{"calibrated", 2, nil, "404 Prism version not found"},
		{"archived", 1, pins(api.Pin{Target: "q"}), "409 This prism is archived."},
		{"calibrated", 1, pins(pin("q"), pin("r"), api.Pin{Target: "s"}), "400 Invalid request: questions.r: Unknown question; questions.s: Unknown question"},
		{"none", 1, pins(pin("q")), "400 Invalid request: questions.q: Unknown calibration"},
		{"calibrated", 1, pins(pin("q")), "<nil>"},
	} {
		of := versionAt(c.slug, c.version)
		if _, err := w.PinCalibrations(ctx, w.key, of, c.pins); fmt.Sprint(err) != c.want {
			t.Errorf("%s %d %+v: %v, want %s", c.slug, c.version, c.pins, err, c.want)
		}
	}
	_, other := w.Calibration(ctx, w.key, versionOf("none"), its)
	_, gone := w.Calibration(ctx, w.key, versionAt("calibrated", 2), its)
	if !errors.Is(other, apierr.CalibrationNotFound()) || !errors.Is(gone, apierr.VersionNotFound()) {
		t.Errorf("of another prism: %v; of a version that is not there: %v", other, gone)
	}
}
