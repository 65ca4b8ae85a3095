package e2e

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// TestLens holds how the Lens shows stored answers, and what a new version does to the Lens.
// spec: lens-columns, show-average, lens-edit, versions
func TestLens(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: derived-lens
		t.Run("the derived Lens has an answer and a number for each question", func(t *testing.T) {
			t.Parallel()
			r := s.main.get(t, "/v1/prisms/"+s.main.triage(t))
			var got struct {
				Lens struct {
					Columns []struct{ Name, Question, Show string }
				}
			}
			r.decode(t, &got)
			want := []struct{ Name, Question, Show string }{
				{"intent", "intent", "answer"},
				{"intent_probability", "intent", "probability"},
				{"urgent", "urgent", "answer"},
				{"urgent_probability", "urgent", "probability"},
				{"mood", "mood", "answer"},
				{"mood_average", "mood", "average"},
			}
			wantEqual(t, "the Lens", got.Lens.Columns, want)
		})
		// spec: show-answer, show-probability, show-confidence
		t.Run("a column shows what it is told to", func(t *testing.T) {
			t.Parallel()
			prism := s.main.prism(t, oneField, triageQuestions, "lens", raw(`{"columns":[
				{"name":"Mood average","question":"mood","show":"average"},
				{"name":"mood.chosen","question":"mood","show":"probability"},
				{"name":"p-angry","question":"mood","show":"probability","option":"angry"},
				{"name":"p_transfer","question":"intent","show":"probability","option":"transfer"},
				{"name":"p_unknown","question":"intent","show":"probability","option":"insufficient_information"},
				{"name":"sure","question":"intent","show":"confidence"},
				{"name":"intent","question":"intent","show":"answer"},
				{"name":"strict","question":"urgent","show":"answer","yes_at":0.9,"no_at":0.1},
				{"name":"easy","question":"urgent","show":"answer","yes_at":0.55},
				{"name":"hard","question":"urgent","show":"answer","no_at":0.58},
				{"name":"p","question":"urgent","show":"probability"}]}`))
			script := s.model.Script(model.Answer(model.Answers{
				"intent": model.Options{"card": 0.125, "transfer": 0.375, "insufficient_information": 0.5},
				"urgent": model.Yes(0.5625), "mood": model.Levels{0.25, 0.25, 0.5},
			}))
			created := s.main.create(t, prism, text(script.Tag)).ok(t)
			want := `{"Mood average":5.75,"mood.chosen":0.5,"p-angry":0.5,"p_transfer":0.375,"p_unknown":0.5,"sure":0.25,` +
				`"intent":"insufficient_information","strict":"unsure","easy":"yes","hard":"no","p":0.5625}`
			if got := string(created.Answers); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
			if got := string(s.main.read(t, created.ID, "csv").body); !strings.Contains(got, ",Insufficient information,") {
				t.Errorf("csv has no label of the added option: %q", got)
			}
		})
		// spec: show-answer
		t.Run("yes from 0.6 on, no up to 0.4, unsure between", func(t *testing.T) {
			t.Parallel()
			prism := s.main.prism(t, oneField, yesNo)
			for p, want := range map[model.Yes]string{1: "yes", 0.6: "yes", 0.59: "unsure", 0.41: "unsure", 0.4: "no", 0: "no"} {
				script := s.model.Script(model.Answer(model.Answers{"urgent": p}))
				created := s.main.create(t, prism, text(script.Tag)).ok(t)
				wantEqual(t, "the answer", created.answer(t, "urgent"), want)
			}
		})
		// spec: lens-is-applied-on-read, raw-ignores-the-lens
		t.Run("editing the Lens changes json and leaves raw alone", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			created := s.main.create(t, prism, text("x")).ok(t)
			before := s.main.read(t, created.ID, "raw")
			r := s.main.put(t, "/v1/prisms/"+prism+"/lens", `{"columns":[{"name":"only","question":"mood","show":"answer"}]}`)
			r.wantStatus(t, 200)
			wantMembers(t, s.main.read(t, created.ID, "json").body, []string{"answers"}, "only")
			s.main.read(t, created.ID, "raw").wantBody(t, string(before.body))
			header, _, _ := strings.Cut(string(s.main.read(t, created.ID, "csv").body), "\r\n")
			wantEqual(t, "the csv header", header, "result_id,ref,version,status,error,created_at,message,only")
		})
		// spec: lens-of-a-new-version
		t.Run("a new version without a Lens takes the derived one", func(t *testing.T) {
			t.Parallel()
			prism := s.main.prism(t, oneField, triageQuestions, "lens", raw(`{"columns":[{"name":"only","question":"mood","show":"answer"}]}`))
			created := s.main.create(t, prism, text("x")).ok(t)
			s.main.post(t, "/v1/prisms/"+prism+"/versions", object("fields", raw(oneField), "questions", raw(yesNo))).wantStatus(t, 201)
			wantMembers(t, s.main.read(t, created.ID, "").body, []string{"answers"}, "urgent", "urgent_probability")
		})
		// spec: lens-of-a-new-version
		t.Run("a new version takes the Lens sent with it", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			s.main.post(t, "/v1/prisms/"+prism+"/versions", object("fields", raw(oneField), "questions", raw(yesNo),
				"lens", raw(`{"columns":[{"name":"u","question":"urgent","show":"probability"}]}`))).wantStatus(t, 201)
			created := s.main.create(t, prism, text("x")).ok(t)
			wantMembers(t, created.Answers, nil, "u")
			wantEqual(t, "the version", created.Version, 2)
		})
		// spec: lens-column-without-an-answer
		t.Run("the current Lens shows null for what an older answer does not have", func(t *testing.T) {
			t.Parallel()
			prism := s.main.prism(t, oneField, yesNo)
			old := s.main.create(t, prism, text("x")).ok(t)
			s.main.post(t, "/v1/prisms/"+prism+"/versions", object("fields", raw(oneField), "questions", raw(triageQuestions),
				"lens", raw(`{"columns":[{"name":"u","question":"urgent","show":"answer"},{"name":"i","question":"intent","show":"answer"},
					{"name":"m","question":"mood","show":"average"}]}`))).wantStatus(t, 201)
			if got := string(readResult(t, s.main, old.ID).Answers); got != `{"u":"yes","i":null,"m":null}` {
				t.Errorf("json %s", got)
			}
			if got := string(s.main.read(t, old.ID, "csv").body); !strings.HasSuffix(got, ",Yes,,\r\n") {
				t.Errorf("csv %q", got)
			}
		})
		// spec: tabular-fields, labels-of-the-answering-version
		t.Run("tabular columns follow the latest version, and labels the one that answered", func(t *testing.T) {
			t.Parallel()
			prism := s.main.prism(t, `[{"key":"gone"},{"key":"kept"}]`, `[{"key":"pick","type":"choice","text":"Which?","options":[
				{"key":"a","label":"Old A"},{"key":"b","label":"Old B"}]}]`)
			body := object("fields", raw(`{"gone":"g","kept":"k"}`))
			old := s.main.create(t, prism, body).ok(t)
			s.main.post(t, "/v1/prisms/"+prism+"/versions", object("fields", raw(`[{"key":"added"},{"key":"kept"}]`),
				"questions", raw(`[{"key":"pick","type":"choice","text":"Which?","options":[
					{"key":"a","label":"New A"},{"key":"c","label":"New C"}]}]`))).wantStatus(t, 201)
			s.main.read(t, old.ID, "csv").wantBody(t, "result_id,ref,version,status,error,created_at,added,kept,pick,pick_probability\r\n"+
				old.ID+",,1,ok,,"+old.CreatedAt+",,k,Old A,0.75\r\n")
			if got := string(s.main.read(t, old.ID, "jsonl").body); !strings.Contains(got, `"added":null,"kept":"k","pick":"a"`) {
				t.Errorf("jsonl %s", got)
			}
		})
		// spec: pinned-version
		t.Run("a call may pin an older version", func(t *testing.T) {
			t.Parallel()
			prism := s.main.prism(t, oneField, yesNo)
			s.main.post(t, "/v1/prisms/"+prism+"/versions", object("fields", raw(twoFields), "questions", raw(yesNo))).wantStatus(t, 201)
			created := s.main.create(t, prism, text("x", "version", 1)).ok(t)
			wantEqual(t, "the version", created.Version, 1)
			s.main.create(t, prism, text("x")).wantFail(t, fail{400, "validation_failed", "Missing fields: subject, message"})
		})
		// spec: archived-prism-results-stay-readable
		t.Run("archiving a prism leaves its results readable in every format", func(t *testing.T) {
			t.Parallel()
			for _, format := range []string{"json", "raw", "csv", "tsv", "jsonl"} {
				s.main.read(t, s.fill(t, "{archived_ok}"), format).wantStatus(t, 200)
				s.main.read(t, s.fill(t, "{archived_failed}"), format).wantStatus(t, 200)
			}
		})
	})
}

// readResult reads a result as json.
func readResult(t *testing.T, c *client, id string) result {
	t.Helper()
	r := c.read(t, id, "")
	r.wantStatus(t, 200)
	var res result
	r.decode(t, &res)
	return res
}
