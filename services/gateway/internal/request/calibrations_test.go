package request_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
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
		of, n, err := request.ParseNewCalibration("p", "2", jsonBody(body))
		if problems(t, err) != want {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
		if want == "" && (n.Question != "q" || !strings.Contains(body, string(n.Method)) ||
			of != contract.VersionRef{Prism: prism.Ref{Slug: "p"}, Number: 2}) {
			t.Errorf("%s: %+v of %+v", body, n, of)
		}
	}
	_, _, err := request.ParseNewCalibration("p", "0", jsonBody(`[]`))
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
		pins       []contract.CalibrationPin
	}{
		{`{"questions":{}}`, "", []contract.CalibrationPin{}},
		{
			`{"questions":{"b":"` + strings.ToUpper(aCalibration) + `","a":null}}`, "",
			[]contract.CalibrationPin{{Question: "b", Calibration: prism.CalibrationID{UUID: id}}, {Question: "a"}},
		},
		{`{"questions":{"a":"` + aCalibration + `","a":null}}`, "", []contract.CalibrationPin{{Question: "a"}}},
		{`{"questions":{"a":"x","b":1,"c":{}}}`, "questions.a: Invalid uuid; questions.b: Expected string, received number; " +
			"questions.c: Expected string, received object", nil},
		{`{}`, "questions: Required", nil},
		{`{"questions":["a"]}`, "questions: Expected object, received array", nil},
		{`{"questions":{"\u0000":null}}`, "questions: must not contain NUL or unpaired surrogate characters", nil},
		{many(65), "questions: Object must contain at most 64 member(s)", nil},
	} {
		_, pins, err := request.ParsePins("p", "1", jsonBody(c.body))
		if problems(t, err) != c.want {
			t.Errorf("%.60s: %v, want %q", c.body, err, c.want)
		}
		if c.want == "" && !reflect.DeepEqual(pins, c.pins) {
			t.Errorf("%s: %+v", c.body, pins)
		}
	}
	if _, pins, err := request.ParsePins("p", "1", jsonBody(many(64))); err != nil || len(pins) != 64 {
		t.Errorf("%d pins, %v", len(pins), err)
	}
}

// spec: calibrated-column
func TestAColumnIsCalibratedIfItSaysTrue(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`true`: "", `false`: "", `null`: "", `"true"`: "columns.0.calibrated: Expected boolean, received string",
	} {
		_, l, err := request.ParseLens("p", nil, jsonBody(`{"columns":[{"name":"n","question":"q","show":"answer","calibrated":`+value+`}]}`))
		if problems(t, err) != want {
			t.Errorf("%s: %v, want %q", value, err, want)
		}
		if want == "" && l.Calibrated() != (value == "true") {
			t.Errorf("%s: %+v", value, l)
		}
	}
}
