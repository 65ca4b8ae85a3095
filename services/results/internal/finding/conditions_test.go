package finding_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
)

// tickets has a question of each type; v2 asks another one under the key refund.
func tickets() (v1, v2 prism.Definition) {
	topic := prism.Question{
		Key: "topic", Type: prism.Choice, InsufficientInformation: true, Options: []prism.Option{{Key: "billing"}, {Key: "account"}, {Key: "other"}},
	}
	mood := prism.Question{Key: "mood", Type: prism.Scale, Levels: []prism.Level{{Key: "calm", Value: new(1.0)}, {Key: "angry", Value: new(3.0)}}}
	bare := mood
	bare.Levels = []prism.Level{{Key: "calm"}, {Key: "angry"}}
	v1 = prism.Definition{Questions: []prism.Question{topic, {Key: "refund", Type: prism.YesNo}, mood}}
	v2 = prism.Definition{Questions: []prism.Question{topic, {Key: "refund", Type: prism.Choice, Options: []prism.Option{{Key: "full"}, {Key: "part"}}}, bare}}
	return v1, v2
}

func schema() finding.Schema {
	v1, v2 := tickets()
	return finding.NewSchema(v1, v2)
}

func answered() *finding.Found {
	v1, _ := tickets()
	f := &finding.Found{
		Definition: v1, Labels: map[string]string{"topic": "account", "refund": "true"},
		Answers: prism.Answers{
			{Question: "topic", Type: prism.Choice, Chosen: "billing", Confidence: 0.5, Probabilities: []prism.KeyProbability{
				{Key: "billing", Probability: 0.6}, {Key: "account", Probability: 0.25}, {Key: "other", Probability: 0.15},
			}},
			{Question: "refund", Type: prism.YesNo, Probability: 0.5},
			{Question: "mood", Type: prism.Scale, Chosen: "angry", Probabilities: []prism.KeyProbability{
				{Key: "calm", Probability: 0.25}, {Key: "angry", Probability: 0.75},
			}},
		},
	}
	f.Result = prism.Result{
		ID: prism.ResultID{UUID: prism.UUID{1}}, Version: 1, Status: prism.OK, TookMS: 800, CreatedAt: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC),
		Call: &prism.ModelCall{Name: "fast"},
	}
	return f
}

func failed() *finding.Found {
	return &finding.Found{Result: prism.Result{ID: prism.ResultID{UUID: prism.UUID{2}}, Version: 2, Status: prism.Failed, TookMS: 900}}
}

func TestAConditionHoldsAsItSays(t *testing.T) {
	t.Parallel()
	for where, want := range map[string][2]bool{ // of an answered and of a failed result
		"topic:is:billing": {true}, "topic:is:other,billing": {true}, "topic:is:account": {}, "topic:not:billing": {}, "topic:not:account,other": {true},
		"topic:is:insufficient_information": {}, "refund:is:yes": {true}, "refund:is:no": {}, "refund:not:no": {true}, "mood:is:angry": {true},
		"refund:from:0.5": {true}, "refund:from:0.51": {}, "refund:to:0.5": {true}, "refund:to:0.4999": {}, "topic:from:0.6": {true}, "topic:to:0.59": {},
		"mood:from:0.75": {true}, "topic.account:from:0.25": {true}, "topic.account:to:0.2": {}, "mood.calm:to:0.25": {true},
		"topic@confidence:to:0.5": {true}, "topic@confidence:from:0.6": {}, "mood@average:from:2.5": {true}, "mood@average:from:2.51": {},
		"topic:labelled": {true, false}, "mood:labelled": {}, "mood:unlabelled": {true, true}, "topic:unlabelled": {false, true}, "topic:wrong": {true},
		"topic@label:is:account": {true}, "topic@label:is:billing,other": {}, "topic@label:not:billing": {true}, "topic@label:not:account": {},
		"refund@label:is:yes": {true}, "refund@label:is:no": {}, "mood@label:is:calm": {}, "mood@label:not:calm": {},
		"refund:wrong": {}, "mood:wrong": {}, "refund.full:from:0": {}, "refund:is:full": {}, "refund:not:full": {true},
		"@created:from:2026-11-02T00:00:00Z": {true}, "@created:to:2026-11-02T00:00:00Z": {false, true},
		"@created:to:2026-11-02T01:00:00.001+01:00": {true, true}, "@took:from:800.5": {false, true}, "@took:to:8e2": {true},
		"@version:is:2,3": {false, true}, "@version:not:02": {true}, "@model:is:fast": {true}, "@model:not:slow": {true}, "@status:is:failed": {false, true},
		"@status:not:failed": {true}, "@labelled:is:yes": {true, false}, "@labelled:is:no": {false, true},
	} {
		all, problems := schema().ParseConditions([]string{where})
		if problems != nil {
			t.Errorf("%s: %v", where, problems)
			continue
		}
		if got := [2]bool{all.Match(answered()), all.Match(failed())}; got != want {
			t.Errorf("%s: %v", where, got)
		}
	}
}

func TestAllConditionsHold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		where []string
		want  bool
	}{
		{nil, true}, {[]string{"topic:is:billing", "refund:from:0.5"}, true}, {[]string{"topic:is:billing", "refund:from:0.6"}, false},
	} {
		all, problems := schema().ParseConditions(c.where)
		if problems != nil || all.Match(answered()) != c.want {
			t.Errorf("%q: %v", c.where, problems)
		}
	}
}

func TestTheProblemsOfConditionsNameTheirPlacesAndNoValue(t *testing.T) {
	t.Parallel()
	for where, want := range map[string]string{
		"": "Expected question:operator:value", "topic": "Expected question:operator:value", "none:is:billing": "Unknown question",
		":is:billing": "Unknown question", "TOPIC:is:billing": "Unknown question", ".billing:from:0": "Unknown question", ".x@created:from:0": "Unknown question",
		"topic.none:from:0": "Unknown option", "refund.yes:from:0": "Unknown option", "topic.:from:0": "Unknown option",
		"topic.billing@confidence:from:0": "Unknown option", "topic:is:none": "Unknown option", "topic:is:yes": "Unknown option",
		"mood:is:billing": "Unknown option", "topic@label:is:none": "Unknown option", "topic.billing@label:is:billing": "Unknown option",
		"topic@label:is": "Expected a value", "topic@label:from:0": "Unknown operator", "topic@label:labelled": "Unknown operator",
		"refund@label:is:true": "Unknown option", "@label:is:x": "Unknown name behind @", "none@label:is:x": "Unknown question", "@status:is:done": "Unknown option", "@labelled:is:true": "Unknown option",
		"topic:is": "Expected a value", "topic:is:": "Expected a value", "topic:is:billing,": "Expected a value", "@model:is:,": "Expected a value",
		"topic:has:billing": "Unknown operator", "topic:": "Unknown operator", "topic.billing:is:x": "Unknown operator", "@created:is:x": "Unknown operator",
		"@version:from:1": "Unknown operator", "@model:labelled": "Unknown operator", "topic@confidence:wrong": "Unknown operator", "topic.billing:labelled": "Unknown operator",
		"topic:labelled:": "Expected question:operator:value", "topic:wrong:x": "Expected question:operator:value",
		"@none:is:x": "Unknown name behind @", "@:is:x": "Unknown name behind @", "mood@confidence:from:0": "Unknown name behind @",
		"topic@average:from:0": "Unknown name behind @", "topic@created:from:0": "Unknown name behind @", "topic@:from:0": "Unknown name behind @",
		"refund:from:": "Expected number", "refund:from:half": "Expected number", "refund:from:NaN": "Expected number", "refund:from:Inf": "Expected number",
		"refund:from:0x1p-2": "Expected number", "refund:from:1_0": "Expected number", "refund:from:1e999": "Expected number", "@version:is:0": "Expected number",
		"@version:is:one": "Expected number", "@created:from:2026-11-02": "Invalid datetime",
		"topic:is:" + strings.Repeat("billing,", 100) + "billing": "Expected at most 100 values",
	} {
		_, problems := schema().ParseConditions([]string{"topic:is:billing", where})
		if !slices.Equal(problems, []apierr.Problem{{Path: "where.1", Text: want}}) {
			t.Errorf("%s: %v, want %q", where, problems, want)
		}
	}
}

func TestASortIsOfNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]finding.Order{
		"": {}, "@created": {Subject: finding.Subject{Measure: finding.Created}}, "-@took": {finding.Subject{Measure: finding.Took}, true},
		"refund": {Subject: finding.Subject{Question: "refund"}}, "-topic.billing": {finding.Subject{Question: "topic", Option: "billing"}, true},
		"mood@average": {Subject: finding.Subject{Question: "mood", Measure: finding.Average}},
	} {
		if got, problem := schema().ParseOrder(text); problem != "" || got != want {
			t.Errorf("%q: %+v %s", text, got, problem)
		}
	}
	for text, want := range map[string]string{
		"-": "Unknown question", "none": "Unknown question", "--refund": "Unknown question", "topic.none": "Unknown option",
		"@model": "Unknown name behind @", "@none": "Unknown name behind @", "refund@average": "Unknown name behind @", "topic@label": "Unknown name behind @",
	} {
		if _, problem := schema().ParseOrder(text); problem != want {
			t.Errorf("%q: %q, want %q", text, problem, want)
		}
	}
}

func TestResultsAreListedInTheirOrder(t *testing.T) {
	t.Parallel()
	named := func(id byte, took int64, refund float64) *finding.Found {
		f := failed()
		f.Result.ID.UUID[0], f.Result.TookMS = id, took
		if refund >= 0 {
			f.Answers = prism.Answers{{Question: "refund", Type: prism.YesNo, Probability: refund}}
		}
		return f
	}
	all := []*finding.Found{named(1, 5, 0.5), named(2, 7, -1), named(3, 5, 0.9), named(4, 6, 0.5), named(5, 9, -1)}
	for sort, want := range map[string][]byte{
		"": {5, 4, 3, 2, 1}, "-@created": {5, 4, 3, 2, 1}, "@created": {1, 2, 3, 4, 5}, "@took": {3, 1, 4, 2, 5}, "-@took": {5, 2, 4, 3, 1},
		"refund": {4, 1, 3, 5, 2}, "-refund": {3, 4, 1, 5, 2},
	} {
		order, problem := schema().ParseOrder(sort)
		if problem != "" {
			t.Fatal(problem)
		}
		var got []byte
		for _, f := range slices.SortedFunc(slices.Values(all), order.Compare) {
			got = append(got, f.Result.ID.UUID[0])
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", sort, got, want)
		}
	}
}

func FuzzConditions(f *testing.F) {
	for _, text := range []string{"topic:is:billing,account", "refund:from:0.8", "topic@confidence:to:0.5", "@created:from:2026-11-02T00:00:00Z", "topic:wrong", "-mood@average"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, problems := schema().ParseConditions([]string{text})
		if problems == nil {
			all.Match(answered())
			all.Match(failed())
		}
		if order, problem := schema().ParseOrder(text); problem == "" {
			if order.Compare(answered(), failed()) == 0 || order.Compare(answered(), failed()) != -order.Compare(failed(), answered()) {
				t.Errorf("%q orders nothing", text)
			}
		}
	})
}
