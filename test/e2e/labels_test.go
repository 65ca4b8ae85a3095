package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestLabels holds the calls on labels.
func TestLabels(t *testing.T) {
	type page struct {
		Data []struct {
			ID     string `json:"result_id"`
			Labels map[string]struct {
				Value  any
				Sample *string
				Origin string
			}
		}
		Sample string
		Cursor *string `json:"next_cursor"`
	}
	read := func(t *testing.T, r reply) (p page) {
		t.Helper()
		r.wantStatus(t, 200)
		if err := json.Unmarshal(r.body, &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	onEach(t, func(t *testing.T, s *stack) {
		// spec: labels-put, labels-read, label-value, label-one
		t.Run("labels of a result are put, read, replaced and removed", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism := own.prism(t, oneField, yesNo)
			id := own.create(t, prism, text("x")).ok(t).ID
			path := "/v1/results/" + id + "/labels"
			question := own.question(t, prism)
			r := own.put(t, path, `{"labels":{"`+question+`":"Yes"},"sample":"random","annotator":"Zoë"}`)
			r.wantStatus(t, 200)
			wantMembers(t, r.body, nil, "result_id", "ref", "version", "labels")
			wantMembers(t, r.body, []string{"labels", question}, "value", "sample", "annotator", "origin", "key_id", "labelled_at")
			own.get(t, path).wantBody(t, string(r.body))
			if record := own.get(t, "/v1/results/"+id+"/record"); !strings.Contains(string(record.body), `"labels":{"`+question+`":{"value":true,`) {
				t.Errorf("got %s", record.body)
			}
			own.put(t, path, `{"labels":{"`+question+`":7,"other":true}}`).wantFail(t,
				invalid("labels."+question+": Expected string, boolean or null, received number"))
			own.put(t, path, `{"labels":{"`+question+`":"maybe","other":true}}`).wantFail(t,
				invalid("labels."+question+": Expected 'true' | 'false'; labels.other: Unknown question"))
			own.put(t, path, `{"labels":{"`+question+`":null}}`).wantBody(t, `{"result_id":"`+id+`","ref":null,"version":1,"labels":{}}`)
			s.other.get(t, path).wantFail(t, fail{404, "not_found", "Result not found"})
			s.other.put(t, path, `{"labels":{"`+question+`":true}}`).wantFail(t, fail{404, "not_found", "Result not found"})
		})
		// spec: edits-that-time-out
		t.Run("a label that could not be stored in time is not stored later", func(t *testing.T) {
			t.Parallel()
			if s.topology == standalone {
				return // nothing else can hold a row of a file
			}
			own := s.ownAccount(t)
			prism := own.prism(t, oneField, yesNo)
			id := own.create(t, prism, text("x")).ok(t).ID
			conn := s.connectTo(t, id)
			exec := func(statement string, args ...any) {
				t.Helper()
				if _, err := conn.Exec(t.Context(), statement, args...); err != nil {
					t.Fatal(err)
				}
			}
			exec("BEGIN")
			exec("SELECT 1 FROM results WHERE id = $1 FOR UPDATE", strings.TrimPrefix(id, "res_"))
			path := "/v1/results/" + id + "/labels"
			own.put(t, path, `{"labels":{"`+own.question(t, prism)+`":true}}`).wantStatus(t, 503)
			exec("ROLLBACK")
			own.get(t, path).wantBody(t, `{"result_id":"`+id+`","ref":null,"version":1,"labels":{}}`)
		})
		// spec: label-of-ok-results, error-only-ok-is-labelled
		t.Run("a failed result is not labelled", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			failed, _ := own.refused(t, own.triage(t))
			own.put(t, "/v1/results/"+failed.ID+"/labels", `{"labels":{"topic":null}}`).wantFail(t,
				fail{409, "conflict", "Only an ok result can be labelled."})
		})
		// spec: labels-add, label-by-ref, labels-list, label-queue, label-queue-random, label-queue-uncertain, label-deleted
		t.Run("many labels are stored, listed, queued around and deleted with their results", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism := own.prism(t, oneField, yesNo)
			question := own.question(t, prism)
			var ids []string
			for i := range 6 {
				ids = append(ids, own.create(t, prism, text("x", "ref", fmt.Sprint("r", i))).ok(t).ID)
			}
			of := "/v1/prisms/" + prism
			queue := func(more string) (got []string) {
				for cursor := ""; ; {
					p := read(t, own.get(t, of+"/label-queue?limit=2&question="+question+more+cursor))
					for _, r := range p.Data {
						got = append(got, r.ID)
					}
					if p.Cursor == nil {
						return got
					}
					cursor = "&cursor=" + *p.Cursor
				}
			}
			random := queue("")
			if got := slices.Sorted(slices.Values(random)); !slices.Equal(got, ids) {
				t.Fatalf("the queue has %v of %v", got, ids)
			}
			if got := queue("&order=uncertain"); len(got) != 6 {
				t.Errorf("the least sure are %v", got)
			}
			label := func(result, value string) string {
				return fmt.Sprintf(`{%s,"question":%q,"value":%s}`, result, question, value)
			}
			own.post(t, of+"/labels", `{"labels":[`+strings.Join([]string{
				label(`"result_id":"`+random[0]+`"`, "true"), label(`"ref":"none"`, "true"), label(`"result_id":"`+random[1]+`"`, `"x"`),
				label(`"result_id":"`+random[1]+`"`, "false"),
			}, ",")+`],"sample":"random"}`).wantBody(t,
				`{"labelled":2,"not_found":[1],"invalid":[{"index":2,"message":"value: Expected 'true' | 'false'"}]}`)
			if got := queue("&version=1"); !slices.Equal(got, random[2:]) {
				t.Errorf("the queue is %v, want %v", got, random[2:])
			}
			list := read(t, own.get(t, of+"/labels?version=1&question="+question))
			if len(list.Data) != 2 || *list.Data[0].Labels[question].Sample != "random" || list.Cursor != nil {
				t.Errorf("got %+v", list)
			}
			if one := read(t, own.get(t, of+"/labels?limit=1")); len(one.Data) != 1 || one.Cursor == nil {
				t.Errorf("got %+v", one)
			}
			own.delete(t, "/v1/results/"+random[0]).wantStatus(t, 204)
			if list := read(t, own.get(t, of+"/labels")); len(list.Data) != 1 || list.Data[0].ID != random[1] {
				t.Errorf("got %+v", list)
			}
			own.get(t, of+"/label-queue?question=none").wantFail(t, invalid("question: Unknown question"))
			own.get(t, of+"/label-queue").wantFail(t, invalid("question: Required"))
			s.other.get(t, of+"/labels").wantFail(t, fail{404, "not_found", "Prism not found"})
		})
		// spec: label-roles
		t.Run("a labeller labels, and a caller does not", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism := own.prism(t, oneField, yesNo)
			question := own.question(t, prism)
			id := own.create(t, prism, text("x")).ok(t).ID
			labeller, _ := own.withRole(t, "labeller", "")
			caller, _ := own.withRole(t, "caller", "")
			labeller.get(t, "/v1/prisms/"+prism+"/label-queue?question="+question).wantStatus(t, 200)
			labeller.put(t, "/v1/results/"+id+"/labels", `{"labels":{"`+question+`":true}}`).wantStatus(t, 200)
			caller.get(t, "/v1/results/"+id+"/labels").wantStatus(t, 200)
			roleNotAllowed := fail{403, "unauthorized", "Your role does not allow this."}
			caller.put(t, "/v1/results/"+id+"/labels", `{"labels":{"`+question+`":true}}`).wantFail(t, roleNotAllowed)
			caller.post(t, "/v1/prisms/"+prism+"/labels", `{"labels":[{"ref":"r","question":"q","value":true}]}`).wantFail(t, roleNotAllowed)
		})
		// spec: run-labels, run-labels-invalid
		t.Run("a run labels its results by a column of its file", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism := own.prism(t, oneField, yesNo)
			question := own.question(t, prism)
			f := own.upload(t, "csv", "text,right\r\none,yes\r\ntwo,\r\nthree,perhaps\r\nfour,FALSE\r\n")
			more := `,"labels":{"` + question + `":"right"}`
			own.runFile(t, prism, f.ID, `,"labels":{"other":"right"}`).wantFail(t, invalid("labels.other: Unknown question"))
			dry := own.runFile(t, prism, f.ID, more+`,"dry_run":true`)
			dry.wantStatus(t, 200)
			want := `"invalid_labels":[{"row":3,"message":"labels.` + question + `: Expected 'true' | 'false'"}],"invalid_labels_total":1,`
			if !strings.Contains(string(dry.body), want) {
				t.Errorf("got %s", dry.body)
			}
			run := own.runFile(t, prism, f.ID, more).run(t, 201)
			if done := own.follow(t, run.ID); done.OK != 4 {
				t.Errorf("got %+v", done)
			}
			if r := own.get(t, "/v1/runs/"+run.ID); !strings.Contains(string(r.body), `"labels":{"stored":2,"invalid":1}`) {
				t.Errorf("got %s", r.body)
			}
			list := read(t, own.get(t, "/v1/prisms/"+prism+"/labels"))
			var values []any
			for _, r := range list.Data {
				values = append(values, r.Labels[question].Value)
				if l := r.Labels[question]; l.Origin != "file" || l.Sample != nil {
					t.Errorf("got %+v", l)
				}
			}
			if len(values) != 2 || values[0] == values[1] {
				t.Errorf("got %v", values)
			}
		})
	})
}

// question is the key of the only question of a prism.
func (c *client) question(t *testing.T, prism string) string {
	t.Helper()
	var p struct {
		Version struct{ Questions []struct{ Key string } }
	}
	c.get(t, "/v1/prisms/"+prism).decode(t, &p)
	return p.Version.Questions[0].Key
}
