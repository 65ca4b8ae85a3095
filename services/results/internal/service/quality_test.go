package service_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/quality"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// qualityPart is a part of the body of measures.
type qualityPart struct {
	Version   int32 `json:"version"`
	Questions []struct {
		Question    string               `json:"question"`
		Labels      int                  `json:"labels"`
		Counted     int                  `json:"counted"`
		Calibration *prism.CalibrationID `json:"calibration"`
		Accuracy    *calibration.Figure  `json:"accuracy"`
		LogLoss     *calibration.Figure  `json:"log_loss"`
		Brier       *calibration.Figure  `json:"brier"`
		Bins        []calibration.Bin    `json:"bins"`
	} `json:"questions"`
}

// quality reads the measures of version 1 of tickets.
func (w *world) quality(t *testing.T, of api.MeasuredAnswers) qualityPart {
	t.Helper()
	in := api.ReadQualityRequest{VersionRequest: versionOf("tickets"), MeasuredAnswers: of}
	response, err := contract.Do(t.Context(), w.Service, w.key, api.ReadQuality, in)
	if err != nil {
		t.Fatal(err)
	}
	var body qualityPart
	decode(t, response, &body)
	return body
}

// The figures are those of scikit-learn and statsmodels.
//
// spec: quality, quality-members, quality-intervals
func TestTheMeasuresAreThoseOfTheLabelsThatCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.prism(t, "tickets")
	ids := w.examples(t, of, 1, 550)
	w.labelled(t, of, ids[:500], 1, prism.RandomSample, true)
	w.labelled(t, of, ids[500:], 501, prism.UncertainSample, false) // and would spoil the measures
	got := w.quality(t, api.MeasuredAnswers{}).Questions[0]
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	if got.Labels != 550 || got.Counted != 500 || !near(got.Accuracy.Value, 0.824) || !near(got.Accuracy.Low, 0.78818582871064) ||
		!near(got.Accuracy.High, 0.854873598670274) || !near(got.Brier.Value, 0.127827971060894) || !near(got.LogLoss.Value, 0.4050006228351275) {
		t.Errorf("got %+v", got)
	}
	if len(got.Bins) != 15 || got.Calibration != nil {
		t.Errorf("%d bins, calibration %v", len(got.Bins), got.Calibration)
	}
	fit := w.calibrated(t, "tickets", api.PlattCalibration)
	w.pin(t, "tickets", fit.ID)
	if again := w.quality(t, api.MeasuredAnswers{}).Questions[0]; *again.LogLoss != *got.LogLoss {
		t.Errorf("a pin changed the measures of stored probabilities: %+v", again.LogLoss)
	}
	calibrated := w.quality(t, api.MeasuredAnswers{Calibrated: true}).Questions[0]
	if calibrated.Calibration == nil || *calibrated.Calibration != fit.ID || calibrated.LogLoss.Value > 0.3708 {
		t.Errorf("calibrated: %+v", calibrated)
	}
}

// spec: quality-members
func TestAQuestionHasEachMemberInOrderAndNullWhereItHasNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	scale := prism.Question{Key: "s", Type: prism.Scale, Text: "?", Levels: []prism.Level{{Key: "low", Value: new(1.0)}, {Key: "high", Value: new(2.0)}}}
	choice := prism.Question{Key: "c", Type: prism.Choice, Text: "?", Options: []prism.Option{{Key: "a"}, {Key: "b"}}}
	of := w.questions(t, "both", scale, choice)
	w.saveLabelled(t, of, 1, 40, func(int) string {
		return `{"s":{"type":"scale","level":"low","probabilities":{"low":0.75,"high":0.25}},` +
			`"c":{"type":"choice","value":"a","probabilities":{"a":0.75,"b":0.25},"confidence":0.5}}`
	}, map[string]func(int) string{"s": func(int) string { return "low" }, "c": func(i int) string { return string("ab"[i%4/3]) }})
	const figure = `{"value":[^}]*}`
	got, err := w.Quality(t.Context(), w.key, versionOf("both"), "")
	matches(t, got, err, `{"version":1,"questions":\[{"question":"s","type":"scale","labels":40,"counted":40,"examples":0,"calibration":null,"accuracy":`+figure+
		`,"log_loss":`+figure+`,"brier":`+figure+`,"macro_f1":null,"classes":null,"confusion":null,"rps":`+figure+`,"mae":`+figure+
		`,"kappa":(null|`+figure+`),"ece":null,"ece_plain":null,"bins":null,"coverage":\[{"at":0.75,"kept":1,"risk":0}\]},`+
		`{"question":"c","type":"choice","labels":40,"counted":40,"examples":0,"calibration":null,"accuracy":`+figure+`,"log_loss":`+figure+`,"brier":`+figure+
		`,"macro_f1":`+figure+`,"classes":\[{"value":"a","n":30,"precision":`+figure+`,"recall":`+figure+`,"f1":`+figure+
		`},{"value":"b","n":10,"precision":null,"recall":`+figure+`,"f1":`+figure+`}\],"confusion":{"values":\["a","b"\],"counts":\[\[30,0\],\[10,0\]\]},`+
		`"rps":null,"mae":null,"kappa":null,"ece":null,"ece_plain":null,"bins":null,"coverage":\[{"at":0.75,"kept":1,"risk":0.25}\]}\]}`)
}

// questions makes a prism with these questions.
func (w *world) questions(t *testing.T, slug string, questions ...prism.Question) prism.PrismID {
	t.Helper()
	d := definition("text")
	d.Questions = questions
	if _, err := w.CreatePrism(t.Context(), w.key, api.NewPrism{Slug: slug, NewVersion: api.NewVersion{Definition: d}}); err != nil {
		t.Fatal(err)
	}
	p, err := w.store.Prism(t.Context(), w.account, prism.Ref{Slug: slug})
	if err != nil {
		t.Fatal(err)
	}
	return p.ID
}

// saveLabelled saves n results of a version, to texts that are numbered from 1, with labels of a random sample.
func (w *world) saveLabelled(
	t *testing.T, of prism.PrismID, version int32, n int, answers func(i int) string, values map[string]func(i int) string,
) {
	t.Helper()
	for i := 1; i <= n; i++ {
		s := w.save(of)
		s.Version, s.Fields[0].Value, s.Outcome.Answers = version, fmt.Sprint("text ", i), []byte(answers(i))
		w.saved(t, s)
		var put []labels.Label
		for question, value := range values {
			if v := value(i); v != "" {
				put = append(put, labels.Label{
					Result: s.ID, Version: version, Question: question, Value: v, Sample: prism.RandomSample, Origin: store.LabelOfCall,
					At: time.UnixMilli(1),
				})
			}
		}
		if _, err := w.store.PutLabels(t.Context(), w.account, of, put); err != nil {
			t.Fatal(err)
		}
	}
}

// spec: quality, thresholds, compare, too-few-labels
func TestAMeasureIsRefusedForAReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prism(t, "none")
	few := w.prism(t, "few")
	w.labelled(t, few, w.examples(t, few, 1, 29), 1, prism.RandomSample, true)
	uncertain := w.prism(t, "uncertain")
	w.labelled(t, uncertain, w.examples(t, uncertain, 1, 200), 1, prism.UncertainSample, true)
	w.questions(t, "scale", prism.Question{Key: "q", Type: prism.Scale, Text: "?", Levels: []prism.Level{{Key: "a", Value: new(1.0)}, {Key: "b", Value: new(2.0)}}})
	for _, c := range []struct {
		slug     string
		version  int32
		question string
		want     string
		ofYesNo  string // of thresholds; "" is want
	}{
		{"no-prism", 1, "", "404 Prism not found", ""},
		{"none", 2, "", "404 Prism version not found", ""},
		{"none", 1, "r", "400 Invalid request: question: Unknown question", ""},
		{"none", 1, "q", "409 Too few labels: 0 of 30.", ""},
		{"few", 1, "q", "409 Too few labels: 29 of 30.", ""},
		{"few", 1, "", "409 Too few labels: 29 of 30.", ""},
		{"uncertain", 1, "q", "409 Too few labels: 0 of 30.", ""},
		{"scale", 1, "q", "409 Too few labels: 0 of 30.", "400 Invalid request: question: Expected a yes_no question"},
	} {
		of := versionAt(c.slug, c.version)
		if _, err := w.Quality(t.Context(), w.key, of, c.question); fmt.Sprint(err) != c.want {
			t.Errorf("quality of %+v: %v", c, err)
		}
		if c.ofYesNo == "" {
			c.ofYesNo = c.want
		}
		if c.question == "" {
			continue
		}
		if _, err := w.Thresholds(t.Context(), w.key, api.ReadThresholdsRequest{VersionRequest: of, Question: c.question}); fmt.Sprint(err) != c.ofYesNo {
			t.Errorf("thresholds of %+v: %v", c, err)
		}
		if _, err := w.Compare(t.Context(), w.key, of.Prism, c.version, c.version, c.question); fmt.Sprint(err) != c.want {
			t.Errorf("comparison of %+v: %v", c, err)
		}
	}
}

// spec: thresholds, thresholds-members
func TestThresholdsAreThoseThatCostTheLeast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.prism(t, "tickets")
	w.labelled(t, of, w.examples(t, of, 1, 500), 1, prism.RandomSample, true)
	response, err := w.Thresholds(t.Context(), w.key, api.ReadThresholdsRequest{
		VersionRequest: versionOf("tickets"), Question: "q", FalseYes: 5, FalseNo: 1, Unsure: 0.5,
	})
	if err != nil {
		t.Fatal(err)
	}
	const begin = `{"question":"q","type":"yes_no","labels":500,"counted":500,"examples":0,"calibration":null,"false_yes":5,"false_no":1,"unsure":0.5,"yes_at":0.9,"no_at":0.5,"theory":{"yes_at":0.9,"no_at":0.5,"yes":`
	if !strings.HasPrefix(string(response.Body), begin) {
		t.Errorf("%.400s", response.Body)
	}
	var body struct {
		Theory    calibration.Threshold `json:"theory"`
		Empirical calibration.Threshold `json:"empirical"`
		Counts    []struct {
			At      float64 `json:"at"`
			FromYes int     `json:"from_yes"`
			FromNo  int     `json:"from_no"`
			ToYes   int     `json:"to_yes"`
			ToNo    int     `json:"to_no"`
		} `json:"counts"`
	}
	decode(t, response, &body)
	if body.Empirical.Total > body.Theory.Total || body.Theory.Yes+body.Theory.No+body.Theory.Unsure != 500 {
		t.Errorf("theory %+v, empirical %+v", body.Theory, body.Empirical)
	}
	from, to := body.Counts[90], body.Counts[50]
	if len(body.Counts) != 101 || from.At != 0.9 || from.FromYes+from.FromNo != body.Theory.Yes || from.FromNo != body.Theory.FalseYes ||
		to.ToYes+to.ToNo != body.Theory.No || to.ToYes != body.Theory.FalseNo {
		t.Errorf("%d counts: from %+v, to %+v, but %+v", len(body.Counts), from, to, body.Theory)
	}
}

// spec: compare, compare-labels, compare-members, compare-verdict
func TestVersionsAreComparedOnTheInputsOfBoth(t *testing.T) {
	t.Parallel()
	choice := func(options ...string) prism.Question {
		q := prism.Question{Key: "c", Type: prism.Choice, Text: "?"}
		for _, o := range options {
			q.Options = append(q.Options, prism.Option{Key: o})
		}
		return q
	}
	says := func(option, other string) string {
		return `{"c":{"type":"choice","value":"` + option + `","probabilities":{"` + option + `":0.75,"` + other + `":0.25},"confidence":0.5}}`
	}
	right := func(int) string { return says("a", "b") }
	wrong := func(int) string { return says("b", "a") }
	isA := func(int) string { return "a" }
	for name, c := range map[string]struct {
		second         prism.Question
		a, b           func(int) string
		labelA, labelB func(int) string
		want           string
	}{
		"all of b is right": {
			choice("a", "b"), wrong, right, isA, isA,
			`"labels":60,"counted":60,"left_out":{"other_option":0,"other_label":0,"examples":0},.*"mcnemar":{"only_a":0,"only_b":60,"p":[^}]*},"verdict":"better"}`,
		},
		"all of a is right": {choice("a", "b"), right, wrong, isA, isA, `.*"mcnemar":{"only_a":60,"only_b":0,"p":[^}]*},"verdict":"worse"}`},
		"both are equal": {
			choice("a", "b"), right, right, isA, isA,
			`.*"mcnemar":{"only_a":0,"only_b":0,"p":1},"verdict":"not distinguishable with 60 labels"}`,
		},
		"options that one version lacks are left out, and have no probability there": {
			choice("a", "c"), right, func(int) string { return says("a", "c") },
			func(i int) string { return string("ab"[i%3/2]) }, func(i int) string { return string("ac"[i%4/3]) },
			`"labels":60,"counted":30,"left_out":{"other_option":30,"other_label":0,"examples":0},.*"values":\["a","b","c"\].*`,
		},
		"an input with two labels is left out": {
			choice("a", "b"), right, right, isA, func(i int) string { return string("ab"[i%2]) },
			`"labels":60,"counted":30,"left_out":{"other_option":0,"other_label":30,"examples":0},.*`,
		},
		"an input that only one version has is not compared": {
			choice("a", "b"), right, right, isA, func(i int) string { return "a"[i%2:] }, `"labels":30,"counted":30,.*`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			of := w.questions(t, "p", choice("a", "b"))
			d := definition("text")
			d.Questions = []prism.Question{c.second}
			if _, err := w.AddVersion(t.Context(), w.key, prism.Ref{ID: of}, api.NewVersion{Definition: d}); err != nil {
				t.Fatal(err)
			}
			w.saveLabelled(t, of, 1, 60, c.a, map[string]func(int) string{"c": c.labelA})
			w.saveLabelled(t, of, 2, 60, c.b, map[string]func(int) string{"c": c.labelB})
			got, err := w.Compare(t.Context(), w.key, prism.Ref{ID: of}, 1, 2, "c")
			matches(t, got, err, `{"question":"c","type":"choice",.*`+c.want)
		})
	}
}

// spec: compare
func TestQuestionsOfOtherFormsAreNotCompared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.questions(t, "p", prism.Question{Key: "s", Type: prism.Scale, Text: "?", Levels: []prism.Level{{Key: "a", Value: new(1.0)}, {Key: "b", Value: new(2.0)}}})
	for _, second := range []prism.Question{
		{Key: "s", Type: prism.Scale, Text: "?", Levels: []prism.Level{{Key: "b", Value: new(1.0)}, {Key: "a", Value: new(2.0)}}},
		{Key: "s", Type: prism.YesNo, Text: "?"},
	} {
		d := definition("text")
		d.Questions = []prism.Question{second}
		if _, err := w.AddVersion(t.Context(), w.key, prism.Ref{ID: of}, api.NewVersion{Definition: d}); err != nil {
			t.Fatal(err)
		}
	}
	for version, want := range map[int32]string{
		2: "400 Invalid request: question: Expected the same levels in both versions",
		3: "400 Invalid request: question: Expected one type in both versions: it is scale in a and yes_no in b",
	} {
		_, err := w.Compare(t.Context(), w.key, prism.Ref{ID: of}, 1, version, "s")
		if fmt.Sprint(err) != want {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

// labelReads is a store that counts how often labels are read.
type labelReads struct {
	sqlstore.Store
	n atomic.Int64
}

func (r *labelReads) Labelled(
	ctx context.Context, a prism.AccountID, f store.Filter, question string, limit int,
) ([]quality.Label, error) {
	r.n.Add(1)
	return r.Store.Labelled(ctx, a, f, question, limit)
}

// spec: quality
func TestMeasuresAreComputedOnceUntilTheirLabelsChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.prism(t, "tickets")
	ids := w.examples(t, of, 1, 40)
	w.labelled(t, of, ids, 1, "", true) // which count, as every result has one
	reads := &labelReads{Store: w.store.Store}
	w.store.Store = reads
	ask := map[string]func() error{
		"quality": func() error {
			_, err := w.Quality(t.Context(), w.key, versionOf("tickets"), "q")
			return err
		},
		"compare": func() error {
			_, err := w.Compare(t.Context(), w.key, prism.Ref{ID: of}, 1, 1, "q")
			return err
		},
	}
	for _, step := range []struct {
		change func()
		reads  map[string]int64 // of the first call after the change
		want   string
	}{
		{func() {}, map[string]int64{"quality": 1, "compare": 2}, "<nil>"},
		{func() { w.labelled(t, of, ids[:1], 1, "", false) }, map[string]int64{"quality": 1, "compare": 2}, "<nil>"},
		{func() { w.labelled(t, of, ids[:31], 1, prism.RandomSample, true) }, map[string]int64{"quality": 1, "compare": 2}, "<nil>"},
		// A result without a label: those without a sample count no more. No label changed.
		{func() { w.examples(t, of, 41, 41) }, map[string]int64{"quality": 1, "compare": 2}, "<nil>"},
		{func() { w.labelled(t, of, ids[:2], 1, prism.UncertainSample, true) }, map[string]int64{"quality": 1, "compare": 2}, "409 Too few labels: 29 of 30."},
	} {
		step.change()
		for name, call := range ask {
			for again := range 2 {
				reads.n.Store(0)
				if err := call(); fmt.Sprint(err) != step.want {
					t.Errorf("%s: %v, want %s", name, err, step.want)
				}
				if n := reads.n.Load(); again == 0 && n != step.reads[name] || again == 1 && step.want == "<nil>" && n != 0 {
					t.Errorf("%s: call %d read labels %d times", name, again+1, n)
				}
			}
		}
	}
}

// labelsAsked records how many labels a store was asked for.
type labelsAsked struct {
	sqlstore.Store
	asked *int
}

func (l labelsAsked) Labelled(
	ctx context.Context, account prism.AccountID, f store.Filter, question string, limit int,
) ([]quality.Label, error) {
	*l.asked = limit
	return l.Store.Labelled(ctx, account, f, question, limit)
}

// spec: labels-that-count
func TestAMeasureLooksAtTenThousandLabelsAtMost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.prism(t, "tickets")
	w.labelled(t, of, w.examples(t, of, 1, 30), 1, prism.RandomSample, true)
	asked := 0
	w.store.Store = labelsAsked{w.store.Store, &asked}
	w.quality(t, api.MeasuredAnswers{})
	if asked != 10_000 {
		t.Errorf("the store was asked for %d labels", asked)
	}
}
