package service_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// tagsOf is a question of which any number of options can be right.
func tagsOf(key string, options ...string) prism.Question {
	q := prism.Question{Key: key, Type: prism.Tags, Text: "What applies?"}
	for _, option := range options {
		q.Options = append(q.Options, prism.Option{Key: option, Label: strings.ToUpper(option)})
	}
	return q
}

// tagged saves n labelled results of a question tags with the options vip and refund. Each has the probability of yes of an example, refund
// that of the one behind it; the label has the options that the examples say are right.
func (w *world) tagged(t *testing.T, of prism.PrismID, version int32, n int, power float64) {
	t.Helper()
	at := func(i int) float64 {
		p, _ := example(i)
		return math.Pow(p, power)
	}
	w.saveLabelled(t, of, version, n, func(i int) string {
		return fmt.Sprintf(`{"tags":{"type":"tags","values":[],"probabilities":{"vip":%v,"refund":%v}}}`, at(i), at(i+1000))
	}, map[string]func(int) string{"tags": func(i int) string {
		keys := []string{}
		for key, number := range map[string]int{"vip": i, "refund": i + 1000} {
			if _, yes := example(number); yes {
				keys = append(keys, `"`+key+`"`)
			}
		}
		slices.Sort(keys)
		slices.Reverse(keys) // the order of the options
		return "[" + strings.Join(keys, ",") + "]"
	}})
}

// yesNoBeside saves what tagged does of one option as a yes_no question q.
func (w *world) yesNoBeside(t *testing.T, of prism.PrismID, version int32, n, first int, power float64) {
	t.Helper()
	w.saveLabelled(t, of, version, n, func(i int) string {
		p, _ := example(i + first)
		return fmt.Sprintf(`{"q":{"type":"yes_no","probability":%v}}`, math.Pow(p, power))
	}, map[string]func(int) string{"q": func(i int) string {
		_, yes := example(i + first)
		return fmt.Sprint(yes)
	}})
}

func did[In, Out any](t *testing.T, w *world, op api.Op[In, Out], in In) (out Out) {
	t.Helper()
	response, err := contract.Do(t.Context(), w.Service, w.key, op, in)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, response, &out)
	return out
}

func refusal[In, Out any](ctx context.Context, w *world, op api.Op[In, Out], in In) string {
	_, err := contract.Do(ctx, w.Service, w.key, op, in)
	return fmt.Sprint(err)
}

// spec: quality-target, quality-several
func TestAnOptionOfSeveralIsMeasuredAsAYesNoIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.questions(t, "tagged", tagsOf("tags", "vip", "refund"))
	w.tagged(t, of, 1, 300, 1)
	w.yesNoBeside(t, w.prism(t, "vips"), 1, 300, 0, 1)
	got := did(t, w, api.ReadQuality, api.ReadQualityRequest{VersionRequest: versionOf("tagged")})
	want := did(t, w, api.ReadQuality, api.ReadQualityRequest{VersionRequest: versionOf("vips")}).Questions[0]
	var names []string
	for _, q := range got.Questions {
		names = append(names, q.Question+"."+q.Option)
		if q.Type != prism.Tags || q.Counted != 300 || q.Labels != 300 {
			t.Errorf("%s of %s has %d of %d labels", q.Option, q.Type, q.Counted, q.Labels)
		}
	}
	if fmt.Sprint(names) != "[tags. tags.vip tags.refund]" {
		t.Fatal(names)
	}
	vip := got.Questions[1]
	if !reflect.DeepEqual(vip.Measures, want.Measures) || vip.Several != nil {
		t.Errorf("got  %+v\nwant %+v", vip, want)
	}
	whole := got.Questions[0]
	if whole.Accuracy != nil || whole.Brier != nil || whole.Several == nil {
		t.Fatalf("as a whole %+v", whole)
	}
	wrong, exact := 0, 0
	for i := 1; i <= 300; i++ {
		off := 0
		for _, n := range []int{i, i + 1000} {
			if p, yes := example(n); p >= 0.5 != yes {
				off++
			}
		}
		if wrong += off; off == 0 {
			exact++
		}
	}
	if s := whole.Several; math.Abs(s.HammingLoss.Value-float64(wrong)/600) > 1e-12 || math.Abs(s.ExactMatch.Value-float64(exact)/300) > 1e-12 ||
		!(s.Micro.F1.Low < s.Micro.F1.Value && s.Micro.F1.Value < s.Micro.F1.High) || s.Macro.Precision == nil || s.Macro.Recall == nil {
		t.Errorf("as a whole %+v, want %d wrong and %d exact", s, wrong, exact)
	}
	one := did(t, w, api.ReadQuality, api.ReadQualityRequest{VersionRequest: versionOf("tagged"), Question: "tags", Option: "refund"})
	if len(one.Questions) != 1 || one.Questions[0].Option != "refund" || *one.Questions[0].Brier != *got.Questions[2].Brier {
		t.Errorf("one option: %+v", one)
	}
}

// spec: quality-target
func TestATargetIsAQuestionOrAnOptionOfSeveral(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.questions(t, "tagged", tagsOf("tags", "vip", "refund"))
	w.prism(t, "plain")
	for _, c := range []struct{ slug, question, option, want string }{
		{"tagged", "tags", "", "option: Required"},
		{"tagged", "tags", "gone", "option: Unknown option"},
		{"tagged", "gone", "vip", "question: Unknown question"},
		{"plain", "q", "vip", "option: only of a question of which any number of options can be right"},
	} {
		for name, got := range map[string]string{
			"thresholds": refusal(t.Context(), w, api.ReadThresholds, api.ReadThresholdsRequest{
				VersionRequest: versionOf(c.slug), Question: c.question, Option: c.option,
			}),
			"compare": refusal(t.Context(), w, api.CompareVersions, api.CompareVersionsRequest{
				PrismRequest: versionOf(c.slug).PrismRequest, A: 1, B: 1, Question: c.question, Option: c.option,
			}),
			"calibrate": refusal(t.Context(), w, api.CreateCalibration, api.CreateCalibrationRequest{
				VersionRequest: versionOf(c.slug), NewCalibration: api.NewCalibration{Question: c.question, Option: c.option, Method: api.PlattCalibration},
			}),
		} {
			want := c.want
			if name == "compare" && want == "option: Required" { // which compares all of them
				want = "Too few labels: 0 of 30."
			}
			if !strings.HasSuffix(got, want) {
				t.Errorf("%s of %s.%s: %s, want %s", name, c.question, c.option, got, want)
			}
		}
	}
}

// spec: thresholds, quality-target
func TestThresholdsOfAnOptionAreThoseOfAYesNo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tagged(t, w.questions(t, "tagged", tagsOf("tags", "vip", "refund")), 1, 200, 1)
	w.yesNoBeside(t, w.prism(t, "refunds"), 1, 200, 1000, 1)
	in := api.ReadThresholdsRequest{VersionRequest: versionOf("tagged"), Question: "tags", Option: "refund", FalseYes: 5, FalseNo: 1, Unsure: 0.5}
	got := did(t, w, api.ReadThresholds, in)
	in.VersionRequest, in.Question, in.Option = versionOf("refunds"), "q", ""
	want := did(t, w, api.ReadThresholds, in)
	if got.Option != "refund" || got.Counted != 200 || got.Theory != want.Theory || got.Empirical != want.Empirical || !slices.Equal(got.Counts, want.Counts) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// spec: compare, quality-target
func TestVersionsAreComparedByOption(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tags := tagsOf("tags", "vip", "refund")
	of := w.questions(t, "tagged", tags)
	d := definition("text")
	d.Questions = []prism.Question{tags}
	did(t, w, api.CreateVersion, api.CreateVersionRequest{
		PrismRequest: api.PrismRequest{Prism: prism.Ref{ID: of}}, NewVersion: api.NewVersion{Definition: d},
	})
	w.tagged(t, of, 1, 300, 1)
	w.tagged(t, of, 2, 300, 3)
	got := did(t, w, api.CompareVersions, api.CompareVersionsRequest{
		PrismRequest: api.PrismRequest{Prism: prism.Ref{ID: of}}, A: 1, B: 2, Question: "tags", Option: "vip",
	})
	if got.Option != "vip" || got.Type != prism.Tags || got.Counted != 300 || got.Verdict != "worse" || got.A.Accuracy == nil || got.Differences.Brier.Value <= 0 {
		t.Errorf("got %+v", got)
	}
}

// Version 2 has an option more, which is not compared, whatever its labels and answers say of it.
//
// spec: compare-several, compare-labels
func TestVersionsAreComparedByAllOptionsTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.questions(t, "tagged", tagsOf("tags", "vip", "refund"))
	for _, options := range [][]string{{"vip", "new", "refund"}, {"old"}} {
		d := definition("text")
		d.Questions = []prism.Question{tagsOf("tags", options...)}
		did(t, w, api.CreateVersion, api.CreateVersionRequest{
			PrismRequest: api.PrismRequest{Prism: prism.Ref{ID: of}}, NewVersion: api.NewVersion{Definition: d},
		})
	}
	var exact, wrong [2]int
	for i := 1; i <= 300; i++ {
		for side, power := range []float64{1, 3} {
			off := 0
			for _, n := range []int{i, i + 1000} {
				if p, yes := example(n); math.Pow(p, power) >= 0.5 != yes {
					off++
				}
			}
			if wrong[side] += off; off == 0 {
				exact[side]++
			}
		}
	}
	w.tagged(t, of, 1, 300, 1)
	w.saveLabelled(t, of, 2, 300, func(i int) string {
		p, _ := example(i)
		q, _ := example(i + 1000)
		return fmt.Sprintf(`{"tags":{"type":"tags","values":[],"probabilities":{"vip":%v,"new":0.9,"refund":%v}}}`, p*p*p, q*q*q)
	}, map[string]func(int) string{"tags": func(i int) string {
		keys := []string{}
		if _, yes := example(i); yes {
			keys = append(keys, `"vip"`)
		}
		if i%3 == 0 {
			keys = append(keys, `"new"`)
		}
		if _, yes := example(i + 1000); yes {
			keys = append(keys, `"refund"`)
		}
		return "[" + strings.Join(keys, ",") + "]"
	}})
	in := api.CompareVersionsRequest{PrismRequest: api.PrismRequest{Prism: prism.Ref{ID: of}}, A: 1, B: 2, Question: "tags"}
	got := did(t, w, api.CompareVersions, in)
	if got.Option != "" || got.Type != prism.Tags || got.Counted != 300 || got.LeftOut != (api.LeftOut{}) || got.Verdict != "worse" ||
		got.A.Accuracy != nil || got.B.Bins != nil || got.Differences.Accuracy != nil || got.Differences.Brier != nil {
		t.Fatalf("got %+v", got)
	}
	for side, s := range []*api.MeasuresOfSeveral{got.A.Several, got.B.Several} {
		if math.Abs(s.HammingLoss.Value-float64(wrong[side])/600) > 1e-12 || math.Abs(s.ExactMatch.Value-float64(exact[side])/300) > 1e-12 {
			t.Errorf("version %d: %+v, want %d wrong and %d exact", side+1, s, wrong[side], exact[side])
		}
	}
	if d := got.Differences.Several; math.Abs(d.HammingLoss.Value-float64(wrong[1]-wrong[0])/600) > 1e-12 ||
		math.Abs(d.ExactMatch.Value-float64(exact[1]-exact[0])/300) > 1e-12 || !(d.Micro.F1.Low < d.Micro.F1.Value) {
		t.Errorf("differences %+v", d)
	}
	if m := got.McNemar; m.OnlyB-m.OnlyA != exact[1]-exact[0] {
		t.Errorf("got %+v", m)
	}
	in.B = 3
	if got, want := refusal(t.Context(), w, api.CompareVersions, in), "question: Expected an option that both versions have"; !strings.HasSuffix(got, want) {
		t.Errorf("without a common option %s, want %s", got, want)
	}
}

// spec: calibration-create, calibration-pins, calibrated-column, quality-target
func TestAnOptionIsCalibratedAndPinned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.questions(t, "tagged", tagsOf("tags", "vip", "refund"))
	w.tagged(t, of, 1, 500, 1)
	fit := did(t, w, api.CreateCalibration, api.CreateCalibrationRequest{
		VersionRequest: versionOf("tagged"), NewCalibration: api.NewCalibration{Question: "tags", Option: "vip", Method: api.PlattCalibration},
	})
	if fit.Question != "tags" || fit.Option != "vip" || *fit.A < 1.7 || *fit.A > 1.8 {
		t.Errorf("got %+v", fit)
	}
	for _, c := range []struct {
		question, option string
		want             int
	}{{"", "", 1}, {"tags", "", 1}, {"tags", "vip", 1}, {"tags", "refund", 0}} {
		listed := did(t, w, api.ListCalibrations, api.ListCalibrationsRequest{
			VersionRequest: versionOf("tagged"), Question: c.question, Option: c.option, PageRequest: api.PageRequest{Limit: 5},
		})
		if len(listed.Data) != c.want {
			t.Errorf("of %s.%s %d calibrations", c.question, c.option, len(listed.Data))
		}
	}
	id, err := prism.ParseUUID(fit.ID)
	if err != nil {
		t.Fatal(err)
	}
	pins := func(target string) api.PinCalibrationsRequest {
		return api.PinCalibrationsRequest{VersionRequest: versionOf("tagged"), CalibrationPins: api.CalibrationPins{
			Questions: api.Pins{{Target: target, Calibration: prism.CalibrationID{UUID: id}}},
		}}
	}
	for target, want := range map[string]string{
		"tags": "questions.tags: Unknown question", "tags.gone": "questions.tags.gone: Unknown question", "tags.refund": "questions.tags.refund: Unknown calibration",
	} {
		if got := refusal(t.Context(), w, api.PinCalibrations, pins(target)); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	pinned := did(t, w, api.PinCalibrations, pins("tags.vip")).Questions
	if len(pinned) != 2 || pinned["tags.vip"] == nil || *pinned["tags.vip"] != fit.ID || pinned["tags.refund"] != nil {
		t.Errorf("pinned %v", pinned)
	}
	request := api.ReadQualityRequest{VersionRequest: versionOf("tagged")}
	plain := did(t, w, api.ReadQuality, request).Questions
	request.Calibrated = true
	calibrated := did(t, w, api.ReadQuality, request).Questions
	if c := calibrated[1]; c.Calibration == nil || *c.Calibration != fit.ID || c.LogLoss.Value >= plain[1].LogLoss.Value {
		t.Errorf("vip: %+v", c)
	}
	if c := calibrated[2]; c.Calibration != nil || *c.LogLoss != *plain[2].LogLoss {
		t.Errorf("refund: %+v", c)
	}
}

// spec: label-value, labels-put
func TestALabelOfSeveralIsAListInTheOrderOfTheOptions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.questions(t, "tagged", tagsOf("tags", "vip", "refund"))
	id := w.result(t, of, "r", `{"tags":{"type":"tags","values":["vip"],"probabilities":{"vip":0.9,"refund":0.1}}}`)
	for sent, want := range map[string]string{
		`["refund","vip"]`: "[vip refund]", `["refund"]`: "[refund]", `[]`: "[]", "none": "[]", "REFUND; vip": "[vip refund]", "Vip": "[vip]",
		`["vip","gone"]`: "Invalid request: labels.tags.1: Expected 'vip' | 'refund'",
		"gone; vip":      "Invalid request: labels.tags.0: Expected 'vip' | 'refund'",
		"true":           "Invalid request: labels.tags.0: Expected 'vip' | 'refund'",
	} {
		if got := strings.TrimPrefix(w.labelOf(t, id, "tags", sent), "[]interface {} "); got != want {
			t.Errorf("%s: %s, want %s", sent, got, want)
		}
	}
}

// spec: search-where, result-counts, distribution-row
func TestResultsAreFoundAndCountedByTheirTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.questions(t, "tagged", tagsOf("tags", "vip", "refund"))
	for ref, p := range map[string][2]float64{"both": {0.9, 0.5}, "vip": {0.8, 0.2}, "refund": {0.3, 0.6}, "none": {0.1, 0.1}} {
		id := w.result(t, of, ref, fmt.Sprintf(`{"tags":{"type":"tags","values":[],"probabilities":{"vip":%v,"refund":%v}}}`, p[0], p[1]))
		if ref == "vip" {
			w.labelOf(t, id, "tags", "vip")
		}
		if ref == "none" {
			w.labelOf(t, id, "tags", "refund")
		}
	}
	prismRef := prism.Ref{ID: of}
	found := func(where, sort string) string {
		in := api.ListResultsRequest{Prism: &prismRef, Sort: sort, PageRequest: api.PageRequest{Limit: 10}, Format: api.JSON}
		if where != "" {
			in.Where = []string{where}
		}
		response, err := contract.Do(t.Context(), w.Service, w.key, api.ListResults, in)
		if err != nil {
			return err.Error()
		}
		var page struct {
			Data []struct {
				Ref string `json:"ref"`
			} `json:"data"`
		}
		decode(t, response, &page)
		var refs []string
		for _, r := range page.Data {
			refs = append(refs, r.Ref)
		}
		if sort == "" {
			slices.Sort(refs)
		}
		return strings.Join(refs, " ")
	}
	for _, c := range []struct{ where, sort, want string }{
		{"tags:is:vip", "", "both vip"},
		{"tags:is:vip,refund", "", "both refund vip"},
		{"tags:not:vip", "", "none refund"},
		{"tags:not:vip,refund", "", "none"},
		{"tags.vip:from:0.3", "", "both refund vip"},
		{"tags.vip:to:0.3", "", "none refund"},
		{"tags@count:to:0", "", "none"},
		{"tags:labelled", "", "none vip"},
		{"tags:wrong", "", "none"},
		{"", "-tags.vip", "both vip refund none"},
		{"", "tags.refund", "none vip both refund"},
		{"tags:from:0.3", "", "Invalid request: where.0: Unknown operator"},
		{"tags.gone:from:0.3", "", "Invalid request: where.0: Unknown option"},
		{"", "tags", "Invalid request: sort: Unknown name behind @"},
	} {
		if got := found(c.where, c.sort); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s %s: %s, want %s", c.where, c.sort, got, c.want)
		}
	}
	counts := did(t, w, api.CountResults, api.CountResultsRequest{Prism: &prismRef, By: "tags"})
	if got := fmt.Sprint(counts.Total, counts.By["tags"]); got != "4 [{vip VIP 2} {refund REFUND 2}]" {
		t.Errorf("counted %s", got)
	}
	rows := did(t, w, api.ReadDistribution, api.ReadDistributionRequest{
		PrismRequest: api.PrismRequest{Prism: prismRef}, Question: "tags", By: api.DistributionByDay, Zone: "UTC",
	})
	if len(rows.Data) != 1 {
		t.Fatalf("got %+v", rows)
	}
	if row := rows.Data[0]; row.Answers != 4 || fmt.Sprint(row.Values) != "[{vip 2} {refund 2}]" || row.Labelled != 2 || row.Right != 1 || row.Bins != nil {
		t.Errorf("got %+v", row)
	}
}
