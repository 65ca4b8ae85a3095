package request_test

import (
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// spec: quality, thresholds, compare
func TestParametersOfMeasures(t *testing.T) {
	t.Parallel()
	version := api.VersionRequest{PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: "p"}}, Version: 3}
	type sent = map[string][]string
	for _, c := range []struct {
		sent                         sent
		quality, thresholds, compare string
	}{
		{sent{}, "", "question: Required; false_yes: Required; false_no: Required; unsure: Required", "a: Required; b: Required; question: Required"},
		{
			sent{"question": {"q"}, "model": {"m"}, "calibrated": {"true"}, "false_yes": {"5"}, "false_no": {"0"}, "unsure": {"2.5e-1"}, "a": {"1"}, "b": {"2"}},
			"", "", "",
		},
		{
			sent{"question": {"q", "r"}, "model": {"m", "n"}, "calibrated": {"1"}, "false_yes": {"-0.5"}, "false_no": {"1000000001"}, "unsure": {"NaN"}, "a": {"0"}, "b": {"1.5"}},
			"question: Expected string, received array; model: Expected string, received array; calibrated: Expected 'true' | 'false'",
			"question: Expected string, received array; model: Expected string, received array; calibrated: Expected 'true' | 'false'; " +
				"false_yes: Number must be greater than or equal to 0; false_no: Number must be less than or equal to 1000000000; " +
				"unsure: Expected number, received string",
			"a: Number must be greater than or equal to 1; b: Expected integer, received float; question: Expected string, received array",
		},
		{
			sent{"question": {"q"}, "false_yes": {""}, "false_no": {"1", "2"}, "unsure": {"1e999"}, "a": {"x"}, "b": {"2147483648"}},
			"",
			"false_yes: Expected number, received string; false_no: Expected number, received array; unsure: Number must be less than or equal to 1000000000",
			"a: Expected number, received string; b: Number must be less than or equal to 2147483647",
		},
		{
			sent{"question": {"q"}, "false_yes": {"1"}, "false_no": {"1"}, "unsure": {"1", "1"}, "a": {"1", "2"}, "b": {}},
			"", "unsure: Expected number, received array", "a: Expected number, received array; b: Required",
		},
		{ // an empty question is every question of quality, and none of the others
			sent{"question": {""}, "false_yes": {"1"}, "false_no": {"1"}, "unsure": {"1"}, "a": {"1"}, "b": {"2"}},
			"", "question: Required", "question: Required",
		},
	} {
		from := request.Source{Query: func(name string) []string { return c.sent[name] }}
		quality, err := parsed(api.ReadQuality, from, "prism", "p", "version", "3")
		if problems(t, err) != c.quality {
			t.Errorf("quality of %v: %v, want %q", c.sent, err, c.quality)
		}
		thresholds, err := parsed(api.ReadThresholds, from, "prism", "p", "version", "3")
		if problems(t, err) != c.thresholds {
			t.Errorf("thresholds of %v: %v, want %q", c.sent, err, c.thresholds)
		}
		compare, err := parsed(api.CompareVersions, from, "prism", "p")
		if problems(t, err) != c.compare {
			t.Errorf("comparison of %v: %v, want %q", c.sent, err, c.compare)
		}
		if c.thresholds != "" {
			continue
		}
		answers := api.MeasuredAnswers{Model: "m", Calibrated: true}
		if (quality != api.ReadQualityRequest{VersionRequest: version, Question: "q", MeasuredAnswers: answers}) ||
			(thresholds != api.ReadThresholdsRequest{
				VersionRequest: version, Question: "q", MeasuredAnswers: answers, FalseYes: 5, FalseNo: 0, Unsure: 0.25,
			}) ||
			(compare != api.CompareVersionsRequest{PrismRequest: version.PrismRequest, A: 1, B: 2, Question: "q"}) {
			t.Errorf("got %+v, %+v, %+v", quality, thresholds, compare)
		}
	}
	if _, err := parsed(api.ReadQuality, request.Source{}, "prism", "p", "version", "0"); problems(t, err) != "version: Number must be greater than or equal to 1" {
		t.Error(err)
	}
}
