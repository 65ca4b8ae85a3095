package request_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

const aCalibration = "0199f5d0-21b4-7e90-8c3d-6f1a2b3c4d5e"

// spec: calibration-create
func TestANewCalibrationHasAQuestionAndAMethod(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"question":"q","method":"auto"}`:        "",
		`{"question":"q","method":"temperature"}`: "",
		`{"question":"q","method":"platt"}`:       "",
		`{"question":"q","method":"isotonic"}`:    "",
		`{}`:                                      "question: Required; method: Required",
		`{"question":1,"method":null}`:            "question: Expected string, received number; method: Expected string, received null",
		`{"question":"q","method":"Auto"}`:        "method: Expected 'auto' | 'temperature' | 'platt' | 'isotonic'",
	} {
		got, err := parsedBody(api.CreateCalibration, body, "prism", "p", "version", "2")
		if problems(t, err) != want {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
		if want == "" && (got.Question != "q" || !strings.Contains(body, string(got.Method)) || got.Prism.Slug != "p" || got.Version != 2) {
			t.Errorf("%s: %+v", body, got)
		}
	}
	_, err := parsedBody(api.CreateCalibration, `[]`, "prism", "p", "version", "0")
	if want := "version: Number must be greater than or equal to 1; body: Expected object, received array"; problems(t, err) != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

// spec: calibration-pin-change
func TestPinsAreIdsOrNullByQuestion(t *testing.T) {
	t.Parallel()
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"q%d":null`, i)
		}
		return `{"questions":{` + b.String()[1:] + `}}`
	}
	id, err := prism.ParseUUID(aCalibration)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		body, want string
		pins       api.Pins
	}{
		{`{"questions":{}}`, "", api.Pins{}},
		{
			`{"questions":{"b":"` + strings.ToUpper(aCalibration) + `","a":null}}`, "",
			api.Pins{{Target: "b", Calibration: prism.CalibrationID{UUID: id}}, {Target: "a"}},
		},
		{`{"questions":{"a":"` + aCalibration + `","a":null}}`, "", api.Pins{{Target: "a"}}},
		{`{"questions":{"a":"x","b":1,"c":{}}}`, "questions.a: Invalid uuid; questions.b: Expected string, received number; " +
			"questions.c: Expected string, received object", nil},
		{`{}`, "questions: Required", nil},
		{`{"questions":["a"]}`, "questions: Expected object, received array", nil},
		{`{"questions":{"\u0000":null}}`, "questions: must not contain NUL or unpaired surrogate characters", nil},
		{many(201), "questions: Object must contain at most 200 member(s)", nil},
	} {
		got, err := parsedBody(api.PinCalibrations, c.body, "prism", "p", "version", "1")
		if problems(t, err) != c.want {
			t.Errorf("%.60s: %v, want %q", c.body, err, c.want)
		}
		if c.want == "" && !reflect.DeepEqual(got.Questions, c.pins) {
			t.Errorf("%s: %+v", c.body, got)
		}
	}
	if got, err := parsedBody(api.PinCalibrations, many(200), "prism", "p", "version", "1"); err != nil || len(got.Questions) != 200 {
		t.Errorf("%d pins, %v", len(got.Questions), err)
	}
}

// spec: calibrated-column
func TestAColumnIsCalibratedIfItSaysTrue(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`true`: "", `false`: "", `null`: "", `"true"`: "columns.0.calibrated: Expected boolean, received string",
	} {
		l, err := parsedBody(api.ReplaceLens, `{"columns":[{"name":"n","question":"q","show":"answer","calibrated":`+value+`}]}`, "prism", "p")
		if problems(t, err) != want {
			t.Errorf("%s: %v, want %q", value, err, want)
		}
		if want == "" && l.Calibrated() != (value == "true") {
			t.Errorf("%s: %+v", value, l)
		}
	}
}
