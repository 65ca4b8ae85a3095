package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// The model of these tests answers a text with the probability of yes that the text hides.
func TestQuality(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: quality, thresholds, compare, compare-verdict, run-from-labels, calibration-create, calibrated-column
		t.Run("labels measure a version, calibrate it, and compare it with the next", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism := own.prism(t, oneField, yesNo)
			question := own.question(t, prism)
			of := "/v1/prisms/" + prism
			var labels []string
			for i := range 40 {
				id := own.create(t, prism, text(fmt.Sprint("text ", i))).ok(t).ID
				labels = append(labels, fmt.Sprintf(`{"result_id":%q,"question":%q,"value":%v}`, id, question, i%2 == 0))
			}
			own.get(t, of+"/versions/1/quality?question="+question).wantFail(t, fail{409, "conflict", "Too few labels: 0 of 30."})
			own.post(t, of+"/labels", `{"labels":[`+strings.Join(labels, ",")+`],"sample":"random"}`).wantStatus(t, 200)
			var measured struct {
				Questions []struct {
					Counted  int
					Accuracy *struct{ Value, Low, High float64 }
				}
			}
			r := own.get(t, of+"/versions/1/quality?question="+question)
			r.wantStatus(t, 200)
			if err := json.Unmarshal(r.body, &measured); err != nil {
				t.Fatal(err)
			}
			if q := measured.Questions[0]; q.Counted != 40 || q.Accuracy.Value != 0.5 || q.Accuracy.Low > 0.36 || q.Accuracy.High < 0.64 {
				t.Errorf("got %s", r.body)
			}
			again := own.get(t, of+"/versions/1/quality?question="+question)
			again.wantBody(t, string(r.body))
			costs := own.get(t, of+"/versions/1/quality/thresholds?question="+question+"&false_yes=3&false_no=1&unsure=1")
			costs.wantStatus(t, 200)
			if !strings.Contains(string(costs.body), `"yes_at":0.75,"no_at":0.75,`) {
				t.Errorf("got %.300s", costs.body)
			}
			own.post(t, of+"/versions/1/calibrations", `{"question":"`+question+`","method":"auto"}`).wantFail(t,
				fail{409, "conflict", "Too few labels: 40 of 200."})

			own.post(t, of+"/versions", object("fields", raw(oneField), "questions", raw(yesNo))).wantStatus(t, 201)
			dry := own.post(t, of+"/runs", `{"from_labels_of":1,"version":2,"dry_run":true}`)
			dry.wantStatus(t, 200)
			if !strings.HasPrefix(string(dry.body), `{"rows":40,"rows_checked":40,"invalid":[],"invalid_total":0,"invalid_labels":[],"invalid_labels_total":0,`) {
				t.Errorf("got %s", dry.body)
			}
			own.get(t, "/v1/files").wantBody(t, `{"data":[],"next_cursor":null}`)
			if audit := own.get(t, "/v1/audit"); strings.Contains(string(audit.body), "file.delete") {
				t.Errorf("after a dry run the audit has %s", audit.body)
			}
			const body = `{"from_labels_of":1,"version":2,"idempotency_key":"labels"}`
			run := own.post(t, of+"/runs", body).run(t, 201)
			if done := own.follow(t, run.ID); done.OK != 40 {
				t.Fatalf("got %+v", done)
			}
			if same := own.post(t, of+"/runs", body).run(t, 201); same.ID != run.ID {
				t.Errorf("the repeat made the run %s", same.ID)
			}
			compared := own.get(t, of+"/compare?a=1&b=2&question="+question)
			compared.wantStatus(t, 200)
			if !strings.HasSuffix(string(compared.body), `"mcnemar":{"only_a":0,"only_b":0,"p":1},"verdict":"not distinguishable with 40 labels"}`) {
				t.Errorf("got %s", compared.body)
			}
			s.other.get(t, of+"/compare?a=1&b=2&question="+question).wantFail(t, noPrism)
		})
		// spec: calibration-create, calibration-list, calibration-read, calibration-pins, calibration-pin-change, calibrated-column
		t.Run("a calibration is fitted to labels, pinned, and shown by a column of the Lens", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism := own.triage(t)
			var file strings.Builder
			file.WriteString("text,right\r\n")
			for i := range 120 {
				_, _ = fmt.Fprintf(&file, "text %d,%s\r\n", i, []string{"card", "transfer"}[i%2])
			}
			f := own.upload(t, "csv", file.String())
			if done := own.follow(t, own.runFile(t, prism, f.ID, `,"labels":{"intent":"right"}`).run(t, 201).ID); done.OK != 120 {
				t.Fatalf("got %+v", done)
			}
			of := "/v1/prisms/" + prism
			fitted := own.post(t, of+"/versions/1/calibrations", `{"question":"intent","method":"temperature"}`)
			fitted.wantStatus(t, 201)
			var calibration struct {
				ID          string
				Temperature float64
			}
			if err := json.Unmarshal(fitted.body, &calibration); err != nil || calibration.Temperature <= 0 {
				t.Fatalf("got %s, %v", fitted.body, err)
			}
			own.get(t, of+"/versions/1/calibrations").wantBody(t, `{"data":[`+string(fitted.body)+`],"next_cursor":null}`)
			own.get(t, of+"/versions/1/calibrations/"+calibration.ID).wantBody(t, string(fitted.body))
			own.put(t, of+"/lens", `{"columns":[{"name":"stored","question":"intent","show":"probability"},
				{"name":"calibrated","question":"intent","show":"probability","calibrated":true}]}`).wantStatus(t, 200)
			id := own.create(t, prism, text("another")).ok(t).ID
			columns := func() (c struct {
				Answers struct {
					Stored     float64
					Calibrated *float64
				}
			},
			) {
				r := own.get(t, "/v1/results/"+id)
				r.wantStatus(t, 200)
				if err := json.Unmarshal(r.body, &c); err != nil {
					t.Fatal(err)
				}
				return c
			}
			if c := columns(); c.Answers.Calibrated != nil {
				t.Errorf("nothing is pinned, but the column shows %v", *c.Answers.Calibrated)
			}
			pinned := own.put(t, of+"/versions/1/calibration", `{"questions":{"intent":"`+calibration.ID+`"}}`)
			pinned.wantBody(t, `{"version":1,"questions":{"intent":"`+calibration.ID+`","urgent":null,"mood":null}}`)
			own.get(t, of+"/versions/1/calibration").wantBody(t, string(pinned.body))
			if c := columns(); c.Answers.Calibrated == nil || *c.Answers.Calibrated == c.Answers.Stored {
				t.Errorf("the columns show %+v", c.Answers)
			}
		})
	})
}
