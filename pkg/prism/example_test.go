package prism_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
)

var (
	topic = prism.Question{Key: "topic", Type: prism.Choice, Options: []prism.Option{{Key: "billing", Label: "Billing"}, {Key: "true", Label: "True & <fair>"}}}
	upset = prism.Question{Key: "upset", Type: prism.YesNo}
)

func exampleOf(result byte, message string) prism.Example {
	return prism.Example{
		Fields:  prism.ExampleFields{{Key: "subject", Value: "s"}, {Key: "message", Value: message}},
		Answers: prism.ExampleAnswers{prism.NewExampleAnswer(topic, "true"), prism.NewExampleAnswer(upset, "true")},
		Result:  prism.ResultID{UUID: prism.UUID{result}},
	}
}

// spec: version-examples
func TestExamplesAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	e := exampleOf(0, "<a> & \"b\"")
	text, err := json.Marshal(e)
	if want := `{"fields":{"subject":"s","message":"\u003ca\u003e \u0026 \"b\""},"answers":{"topic":"true","upset":true}}`; err != nil || string(text) != want {
		t.Errorf("got %s, %v", text, err)
	}
	var back prism.Example
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, e) {
		t.Errorf("got %+v, %v", back, err)
	}
	for q, want := range map[string]string{"topic": "true", "upset": "true"} {
		of := topic
		if q == "upset" {
			of = upset
		}
		if value, ok := back.Label(of); !ok || value != want {
			t.Errorf("%s: %q, %v", q, value, ok)
		}
	}
	if value, ok := back.Label(prism.Question{Key: "other", Type: prism.YesNo}); ok {
		t.Errorf("a question without an answer has %q", value)
	}
}

// spec: emptied-examples
func TestAnEmptiedExampleKeepsItsPlaceAndNothingElse(t *testing.T) {
	t.Parallel()
	d := prism.Definition{Examples: []prism.Example{exampleOf(1, "a"), exampleOf(2, "b"), exampleOf(0, "c"), exampleOf(1, "d")}}
	before := d.Examples
	if n := d.EmptyExamples([]prism.ResultID{{UUID: prism.UUID{1}}, {}}); n != 2 {
		t.Errorf("emptied %d", n)
	}
	for i, want := range []bool{true, false, false, true} {
		if d.Examples[i].Emptied() != want || before[i].Emptied() {
			t.Errorf("example %d: %+v, before %+v", i, d.Examples[i], before[i])
		}
	}
	text, err := json.Marshal(d.Examples[0])
	if err != nil || string(text) != `{"fields":{},"answers":{}}` {
		t.Errorf("got %s, %v", text, err)
	}
	var back prism.Example
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, d.Examples[0]) {
		t.Errorf("got %#v, %v", back, err)
	}
}

func TestAnInputIsThatOfAnExampleWhateverTheOrder(t *testing.T) {
	t.Parallel()
	e := exampleOf(1, "m")
	same := []prism.FieldValue{{Key: "message", Value: "m"}, {Key: "subject", Value: "s"}}
	for name, c := range map[string]struct {
		of     prism.Example
		fields []prism.FieldValue
		want   bool
	}{
		"the same": {e, same, true}, "one more": {e, append(same[:2:2], prism.FieldValue{Key: "x"}), false}, "one less": {e, same[:1], false},
		"another value": {e, []prism.FieldValue{same[0], {Key: "subject", Value: "S"}}, false}, "an emptied one": {prism.Example{}, nil, false},
	} {
		if got := c.of.SameInput(c.fields); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestTheReplyOfALabelIsOneThatAModelCanGive(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		q           prism.Question
		value, want string
	}{{topic, "billing", "billing"}, {topic, "other", ""}, {upset, "true", "yes"}, {upset, "false", "no"}} {
		if got := c.q.ReplyOf(c.value); got != c.want {
			t.Errorf("%s %s: %q", c.q.Key, c.value, got)
		}
	}
}
