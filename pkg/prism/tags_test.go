package prism_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
)

// about is a tags with four options.
func about() prism.Question {
	return prism.Question{Key: "about", Type: prism.Tags, Text: "What is it about?", Options: []prism.Option{
		{Key: "price", Label: "The price"}, {Key: "delivery", Label: "Delivery", Description: "when it comes"}, {Key: "staff", Label: "Staff"}, {Key: "vip", Label: "VIP; gold"},
	}}
}

func aboutAnswer(ps ...float64) prism.Answer {
	a := prism.Answer{Question: "about", Type: prism.Tags}
	for i, p := range ps {
		a.Probabilities = append(a.Probabilities, prism.KeyProbability{Key: about().Options[i].Key, Probability: p})
	}
	return a
}

// spec: question-tags, escalation, label-value
func TestAnyNumberOfTagsIsRight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ps        []float64
		replies   []string
		value     string
		certainty float64
	}{
		{[]float64{0, 0.1, 0.2, 0.3}, nil, `[]`, 0.7},
		{[]float64{1, 1, 1, 1}, []string{"price", "delivery", "staff", "vip"}, `["price","delivery","staff","vip"]`, 1},
		{[]float64{0.5, 0.49, 0.9, 0.5}, []string{"staff", "price", "vip"}, `["price","staff","vip"]`, 0.5},
		{[]float64{0.25}, nil, `[]`, 0.75},
	} {
		a := aboutAnswer(c.ps...)
		if got := a.Replies(); !slices.Equal(got, c.replies) {
			t.Errorf("%v: chose %v, want %v", c.ps, got, c.replies)
		}
		if got := a.Reply(); got != strings.Join(c.replies[:min(1, len(c.replies))], "") {
			t.Errorf("%v: the first is %q", c.ps, got)
		}
		if a.Value() != c.value || a.Certainty() != c.certainty {
			t.Errorf("%v: the label is %s, and certain with %v", c.ps, a.Value(), a.Certainty())
		}
		if got := a.Type.ShownLabel(a.Value()); !reflect.DeepEqual(got, sorted(c.replies)) {
			t.Errorf("%v: the label is shown as %v", c.ps, got)
		}
		for i, p := range a.Probabilities {
			part, ok := a.Part(p.Key)
			right := a.Type.PartOfLabel(a.Value(), p.Key)
			if !ok || part.Type.Classes() != prism.Binary || part.Probability != c.ps[i] || part.Value() != right {
				t.Errorf("%v: %s is %+v, %s", c.ps, p.Key, part, right)
			}
		}
		if _, ok := a.Part("none"); ok {
			t.Error("an unknown option has a part")
		}
	}
}

// sorted are keys in the order of the definition, and never nil.
func sorted(keys []string) []string {
	all := []string{}
	for _, o := range about().Options {
		if slices.Contains(keys, o.Key) {
			all = append(all, o.Key)
		}
	}
	return all
}

// spec: asked-parts
func TestATagsIsMadeOfAYesNoForEachOption(t *testing.T) {
	t.Parallel()
	parts := about().Parts()
	var answers []prism.Answer
	for i, q := range parts {
		if q.Key != about().Options[i].Key || q.Type != prism.YesNo {
			t.Errorf("part %d is %+v", i, q)
		}
		answers = append(answers, prism.Answer{Question: q.Key, Type: prism.YesNo, Probability: float64(i) / 4})
	}
	if want := "What is it about?\nDoes this apply: Delivery: when it comes"; parts[1].Text != want {
		t.Errorf("asked %q, want %q", parts[1].Text, want)
	}
	if got := about().Whole(answers); !reflect.DeepEqual(got, aboutAnswer(0, 0.25, 0.5, 0.75)) {
		t.Errorf("together they are %+v", got)
	}
	if of := (prism.Question{Type: prism.Choice, Options: about().Options}).Parts(); of != nil {
		t.Errorf("a choice has parts: %+v", of)
	}
}

// spec: label-value
func TestALabelOfATagsIsAList(t *testing.T) {
	t.Parallel()
	const options = "'price' | 'delivery' | 'staff' | 'vip'"
	const wrong, noList = "0: Expected " + options, "Expected a list of " + options
	for text, want := range map[string]string{
		`["vip","price"]`:      `["price","vip"]`,
		`["vip","VIP; Gold"]`:  `["vip"]`,
		` [ ] `:                `[]`,
		"none":                 `[]`,
		"NONE":                 `[]`,
		"delivery":             `["delivery"]`,
		"VIP; gold":            `["vip"]`,
		"the price ; STAFF":    `["price","staff"]`,
		"Delivery;price;price": `["price","delivery"]`,
		"":                     wrong,
		"price;":               "1: Expected " + options,
		"price,vip":            wrong,
		`["vip","other"]`:      "1: Expected " + options,
		`[1]`:                  noList,
		`["price"`:             noList,
		`["price;staff"]`:      wrong,
		`{"price":true}`:       wrong,
	} {
		value, problem := about().ReadLabel(text)
		if value+problem != want {
			t.Errorf("%q is %q, %q, want %q", text, value, problem, want)
		}
	}
	q := about()
	q.Options[0].Key = "none"
	if value, _ := q.ReadLabel("none"); value != `["none"]` {
		t.Errorf("an option that is called none is %q", value)
	}
	if got := prism.Tags.ShownLabel("price"); got != "price" {
		t.Errorf("a label of a choice that became a tags is %v", got)
	}
}
