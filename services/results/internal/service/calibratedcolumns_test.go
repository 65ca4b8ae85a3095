package service_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/quality"
)

// spec: calibrated-column, calibration-pins, raw-ignores-the-lens, try-members
func TestACalibratedColumnShowsWhatIsPinnedInEveryFormatAndList(t *testing.T) {
	t.Parallel()
	w, f := everyState(t)
	ctx, ref := t.Context(), prism.Ref{Slug: "a"}
	p, err := w.store.Prism(ctx, w.account, ref)
	if err != nil {
		t.Fatal(err)
	}
	w.pinsOf(t, p.ID, `{"method":"isotonic","x":[0,0.75,1],"y":[0,0.125,1]}`)
	l := prism.Lens{Columns: []prism.Column{column("is", "q", prism.ShowAnswer), column("p", "q", prism.ShowProbability), column("s", "q", prism.ShowProbability)}}
	l.Columns[0].Calibrated, l.Columns[1].Calibrated = true, true
	if _, err := w.PutLens(ctx, w.key, ref, l); err != nil {
		t.Fatal(err)
	}
	s := w.save(p.ID)
	shows := func(where string, body []byte, err error, want string) {
		t.Helper()
		if err != nil || !strings.Contains(string(body), want) {
			t.Errorf("%s: %s, %v, want %s in it", where, body, err, want)
		}
	}
	const json = `"answers":{"is":"no","p":0.125,"s":0.75}`
	saved, err := w.Save(ctx, s)
	shows("create", saved.Body, err, json)
	failed := w.failed(t, p.ID, "a key")
	retry := w.save(p.ID)
	retry.RetryOf = &failed.ID
	retried, err := w.Save(ctx, retry)
	shows("retry", retried.Body, err, json)
	for format, want := range map[contract.Format]string{
		contract.JSON: json, contract.CSV: `hello,No,0.125,0.75`, contract.TSV: "hello\tNo\t0.125\t0.75", contract.JSONL: `"is":"no","p":0.125,"s":0.75`,
		contract.Raw: `"answers":{"q":{"type":"yes_no","probability":0.75}}`,
	} {
		read, err := w.Read(ctx, w.key, s.ID, format)
		shows(string(format), read.Body, err, want)
	}
	list, err := w.ListResults(ctx, w.key, api.ListResultsRequest{PageRequest: api.PageRequest{Limit: 9}})
	shows("list", list.Body, err, json)
	stream, err := w.Export(ctx, w.key, ref, api.ExportResultsRequest{Format: contract.CSV})
	if err != nil {
		t.Fatal(err)
	}
	exported, err := io.ReadAll(stream.Body)
	shows("export", exported, errors.Join(err, stream.Body.Close()), `hello,No,0.125,0.75`)
	shows("download", []byte(w.download(t, f, prism.RowsCSV, "")), nil, `,ok,,No,0.125,0.75`)
	preview, err := w.PreviewLens(ctx, w.key, ref, api.LensPreview{Lens: l, Results: []prism.ResultID{s.ID}})
	shows("preview", preview.Body, err, json+`},"missing":{}`)
	try := w.try()
	try.Lens = &l
	tried, err := w.FinishTry(ctx, try)
	shows("try", tried.Body, err, `"json":{"is":null,"p":null,"s":0.75}`)

	w.pinsOf(t, p.ID, "")
	const null = `"answers":{"is":null,"p":null,"s":0.75}`
	read, err := w.Read(ctx, w.key, s.ID, contract.JSON)
	shows("unpinned", read.Body, err, null)
	const reason = `"No calibration is pinned for this question in the version that answered."`
	preview, err = w.PreviewLens(ctx, w.key, ref, api.LensPreview{Lens: l, Results: []prism.ResultID{s.ID}})
	shows("unpinned in a preview", preview.Body, err, null+`},"missing":{"is":`+reason+`,"p":`+reason+`}`)
	body, err := w.Prism(ctx, w.key, ref)
	shows("the Lens", body.Body, err, `{"name":"p","question":"q","show":"probability","calibrated":true},{"name":"s","question":"q","show":"probability"}`)
}

// pinsOf stores a calibration of question q and pins it; "" unpins.
func (w *world) pinsOf(t *testing.T, of prism.PrismID, fit string) {
	t.Helper()
	pin := quality.Pin{Target: "q"}
	if fit != "" {
		pin.Calibration = prism.CalibrationID{UUID: w.id()}
		c := quality.Calibration{ID: pin.Calibration, Prism: of, Version: 1, Target: "q", Fit: []byte(fit), Measures: []byte(`{}`)}
		if err := w.store.AddCalibration(t.Context(), w.account, c, w.by()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.store.PinCalibrations(t.Context(), w.account, of, 1, []quality.Pin{pin}, prism.PinsID{UUID: w.id()}, w.by()); err != nil {
		t.Fatal(err)
	}
}

// spec: calibration-pins, calibrated-read-cost
func TestPinsAreReadOnceUntilTheyChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.prism(t, "tickets")
	counted := &pinning{Store: w.store.Store}
	w.store.Store = counted
	s := w.save(of)
	w.saved(t, s)
	plain := prism.Lens{Columns: []prism.Column{column("p", "q", prism.ShowProbability)}}
	calibrated := prism.Lens{Columns: []prism.Column{column("p", "q", prism.ShowProbability)}}
	calibrated.Columns[0].Calibrated = true
	put := func(l prism.Lens) func() {
		return func() {
			if _, err := w.PutLens(t.Context(), w.key, prism.Ref{ID: of}, l); err != nil {
				t.Fatal(err)
			}
		}
	}
	const low, high = `{"method":"isotonic","x":[0.5],"y":[0.25]}`, `{"method":"isotonic","x":[0.5],"y":[0.875]}`
	for i, c := range []struct {
		change func()
		want   string
		reads  int64
	}{
		{put(plain), "0.75", 0},
		{func() { w.pinsOf(t, of, low) }, "0.75", 0},
		{put(calibrated), "0.25", 1},
		{func() { w.pinsOf(t, of, high) }, "0.875", 1},
		{func() { w.pinsOf(t, of, "") }, "null", 0},
		{func() { w.pinsOf(t, of, low) }, "0.25", 1},
		{put(plain), "0.75", 0},
	} {
		c.change()
		counted.reads.Store(0)
		for range 3 {
			got, err := w.Read(t.Context(), w.key, s.ID, contract.JSON)
			if err != nil || !strings.Contains(string(got.Body), `"answers":{"p":`+c.want+`}`) {
				t.Errorf("%d: %s, %v, want %s", i, got.Body, err, c.want)
			}
		}
		if n := counted.reads.Load(); n != c.reads {
			t.Errorf("%d: pins were read %d times, want %d", i, n, c.reads)
		}
	}
}

// BenchmarkRead is a read of a result with a question of each type, with the derived Lens and with all its columns calibrated.
func BenchmarkRead(b *testing.B) {
	for _, calibrated := range []bool{false, true} {
		b.Run(fmt.Sprintf("calibrated=%t", calibrated), func(b *testing.B) {
			w := newWorld(b)
			d := prism.Definition{Fields: []prism.Field{{Key: "text"}}, Questions: []prism.Question{
				{Key: "topic", Type: prism.Choice, Text: "?", Options: []prism.Option{{Key: "a"}, {Key: "b"}, {Key: "c"}, {Key: "d"}}},
				{Key: "urgent", Type: prism.YesNo, Text: "?"},
				{Key: "mood", Type: prism.Scale, Text: "?", Levels: []prism.Level{{Key: "low", Value: new(1.0)}, {Key: "mid", Value: new(2.0)}, {Key: "up", Value: new(3.0)}}},
			}}
			l := lens.Derive(d)
			for i := range l.Columns {
				l.Columns[i].Calibrated = calibrated
			}
			p := api.NewPrism{Slug: "tickets", NewVersion: api.NewVersion{Definition: d, Lens: &l}}
			if _, err := w.CreatePrism(b.Context(), w.key, p); err != nil {
				b.Fatal(err)
			}
			of, err := w.store.Prism(b.Context(), w.account, prism.Ref{Slug: "tickets"})
			if err != nil {
				b.Fatal(err)
			}
			var pins []quality.Pin
			for question, fit := range map[string]string{
				"topic": `{"method":"temperature","temperature":1.6}`, "urgent": `{"method":"platt","a":0.7,"b":-0.3}`,
				"mood": `{"method":"temperature","temperature":0.8}`,
			} {
				c := quality.Calibration{
					ID: prism.CalibrationID{UUID: w.id()}, Prism: of.ID, Version: 1, Target: question, Fit: []byte(fit), Measures: []byte(`{}`),
				}
				if err := w.store.AddCalibration(b.Context(), w.account, c, w.by()); err != nil {
					b.Fatal(err)
				}
				pins = append(pins, quality.Pin{Target: question, Calibration: c.ID})
			}
			if calibrated {
				if err := w.store.PinCalibrations(b.Context(), w.account, of.ID, 1, pins, prism.PinsID{UUID: w.id()}, w.by()); err != nil {
					b.Fatal(err)
				}
			}
			s := w.save(of.ID)
			s.Outcome.Answers = []byte(`{"topic":{"type":"choice","value":"a","probabilities":{"a":0.61,"b":0.2,"c":0.1,"d":0.09},"confidence":0.48},` +
				`"urgent":{"type":"yes_no","probability":0.8125},` +
				`"mood":{"type":"scale","level":"mid","probabilities":{"low":0.3,"mid":0.5,"up":0.2}}}`)
			if _, err := w.Save(b.Context(), s); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.Read(b.Context(), w.key, s.ID, contract.JSON); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
