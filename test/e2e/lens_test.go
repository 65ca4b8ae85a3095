package e2e

import (
	"strings"
	"testing"
)

// TestLens holds how the Lens shows stored answers, and what a new version does to the Lens.
// spec: lens-columns, show-average, lens-edit, versions
func TestLens(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
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
	})
}
