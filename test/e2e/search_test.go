package e2e

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// found is what a prism of searches has: the ids of its results by their refs.
type found struct {
	slug string
	ids  map[string]string
}

// searched makes a prism whose results have texts in ten scripts, one answer each of its kind, a failed result, and a label.
func (c *client) searched(t *testing.T) found {
	t.Helper()
	f := found{c.triage(t), map[string]string{}}
	for ref, message := range map[string]string{
		"latin": "The Parcel is LATE, déjà vu", "greek": "Το δέμα χάθηκε", "cyrillic": "Посылка потеряна", "arabic": "الطرد ضاع",
		"hebrew": "החבילה אבדה", "devanagari": "पार्सल खो गया", "han": "包裹丢失了", "kana": "荷物がなくなりました", "hangul": "소포가 사라졌어요", "thai": "พัสดุหายไป",
	} {
		f.ids[ref] = c.create(t, f.slug, text(message, "ref", ref)).ok(t).ID
	}
	for ref, answers := range map[string]model.Answers{
		"card":     {"intent": model.Options{"card": 0.9, "transfer": 0.1, "insufficient_information": 0}, "urgent": model.Yes(0.95), "mood": model.Levels{0, 0, 1}},
		"transfer": {"intent": model.Options{"card": 0.25, "transfer": 0.75, "insufficient_information": 0}, "urgent": model.Yes(0.5), "mood": model.Levels{0, 1, 0}},
		"nothing":  {"intent": model.Options{"card": 0, "transfer": 0, "insufficient_information": 1}, "urgent": model.Yes(0.05), "mood": model.Levels{1, 0, 0}},
	} {
		f.ids[ref] = c.create(t, f.slug, text("answered "+c.stack.model.Script(model.Answer(answers)).Tag, "ref", ref)).ok(t).ID
	}
	failed, _ := c.refused(t, f.slug, "ref", "failed", "context", "a broken device")
	f.ids["failed"] = failed.ID
	c.put(t, "/v1/results/"+f.ids["card"]+"/labels", `{"labels":{"intent":"transfer","urgent":true}}`).wantStatus(t, 200)
	return f
}

// find lists the refs of what a search finds, in its order, in pages.
func (c *client) find(t *testing.T, f found, limit int, query ...string) (refs []string) {
	t.Helper()
	q := url.Values{"prism": {f.slug}}
	for i := 0; i < len(query); i += 2 {
		q.Add(query[i], query[i+1])
	}
	for _, id := range c.walk(t, "/v1/results?"+q.Encode(), limit) {
		refs = append(refs, f.ref(id))
	}
	return refs
}

func (f found) ref(id string) string {
	for ref, of := range f.ids {
		if of == id {
			return ref
		}
	}
	return id
}

// TestSearch holds the searches of lists, exports, counts, retries, deletions and queues of labels.
func TestSearch(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: search-words
		t.Run("words are found in every script", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			f := own.searched(t)
			for q, want := range map[string]string{
				"parcel late": "latin", "DEJA": "latin", `"is late"`: "latin", "χαθηκε": "greek", "потеряна": "cyrillic", "ضاع": "arabic",
				"אבדה": "hebrew", "पार्सल": "devanagari", "丢失": "han", "なくな": "kana", "사라": "hangul", "หาย": "thai", "deliver* or parc*": "latin",
				"late -parcel or 包裹": "han", "broken device": "failed",
			} {
				wantEqual(t, q, own.find(t, f, 3, "q", q), []string{want})
			}
			wantEqual(t, "a word that none has", len(own.find(t, f, 3, "q", "absent")), 0)
			wantEqual(t, "the words of another account", len(s.other.walk(t, "/v1/results?q=parcel+late+deja", 5)), 0)
			own.get(t, "/v1/results?q=%22open").wantFail(t, invalid("q: Expected a closing quotation mark"))
		})
		// spec: search-where
		t.Run("conditions are of answers, labels and what Prism knows", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			f := own.searched(t)
			for where, want := range map[string][]string{
				"intent:is:transfer": {"transfer"}, "intent:is:insufficient_information": {"nothing"}, "intent:not:card": {"nothing", "transfer"},
				"urgent:is:no": {"nothing"}, "urgent:to:0.5": {"nothing", "transfer"}, "intent.transfer:from:0.7": {"transfer"}, "mood:is:angry": {"card"},
				"intent:labelled": {"card"}, "intent:wrong": {"card"}, "urgent:wrong": nil, "@status:is:failed": {"failed"}, "@labelled:is:yes": {"card"},
				"intent@label:is:transfer": {"card"}, "intent@label:not:card": {"card"}, "intent@label:is:card": nil, "@version:is:2": nil,
			} {
				got := own.find(t, f, 5, "where", where)
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("%s finds %v, want %v", where, got, want)
				}
			}
			wantEqual(t, "two conditions", own.find(t, f, 5, "where", "urgent:from:0.4", "where", "intent:is:transfer"), []string{"transfer"})
			wantEqual(t, "words, conditions and a filter", own.find(t, f, 5, "q", "answered", "where", "mood:not:calm", "ref", "card"), []string{"card"})
			own.get(t, "/v1/results?prism="+f.slug+"&where=topic:is:a&where=urgent:from:x&sort=nothing").wantFail(t,
				invalid("where.0: Unknown question; where.1: Expected number; sort: Unknown question"))
			own.get(t, "/v1/results?where=urgent:labelled").wantFail(t, invalid("prism: must be sent with where"))
		})
		// spec: search-sort, search-cursor, search-page
		t.Run("pages in the order of an answer have each result once, whatever is saved and deleted meanwhile", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			f := own.searched(t)
			path := "/v1/results?prism=" + f.slug + "&where=intent.transfer:to:0.9&where=@version:is:1&sort=-intent.transfer"
			var first idPage
			own.get(t, path+"&q=answered&limit=1").decode(t, &first)
			wantEqual(t, "the first", f.ref(first.Data[0].ID), "transfer")
			later := own.create(t, f.slug, text("answered "+s.model.Script(model.Answer(model.Answers{"intent": model.Options{"card": 0.95, "transfer": 0.05, "insufficient_information": 0}})).Tag)).ok(t).ID
			own.delete(t, "/v1/results/"+f.ids["transfer"]).wantStatus(t, 204)
			var rest idPage
			own.get(t, path+"&q=answered&limit=9&cursor="+*first.NextCursor).decode(t, &rest)
			var refs []string
			for _, one := range rest.Data {
				if one.ID != later { // which may be there
					refs = append(refs, f.ref(one.ID))
				}
			}
			wantEqual(t, "the rest", refs, []string{"card", "nothing"})
			own.get(t, path+"&limit=1&cursor="+*first.NextCursor).wantFail(t, invalid("cursor: Invalid cursor"))
			oldest := own.find(t, f, 4, "sort", "@created")
			slices.Reverse(oldest)
			wantEqual(t, "newest first", own.find(t, f, 3, "sort", "-@created"), oldest)
		})
		// spec: search-of-all, result-counts
		t.Run("exports, retries, deletions and queues take what a search finds, and counts count it", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			f := own.searched(t)
			exported := string(own.get(t, "/v1/prisms/"+f.slug+"/results?format=jsonl&q=answered&where=urgent:from:0.4").body)
			for ref, id := range f.ids {
				if want := ref == "card" || ref == "transfer"; strings.Contains(exported, id) != want {
					t.Errorf("the export has %s: %v", ref, !want)
				}
			}
			queue := string(own.get(t, "/v1/prisms/"+f.slug+"/label-queue?question=intent&q=answered").body)
			uncertain := string(own.get(t, "/v1/prisms/"+f.slug+"/label-queue?question=intent&order=uncertain&where=urgent:to:0.5").body)
			for _, page := range []string{queue, uncertain} {
				if strings.Count(page, `"result_id"`) != 2 || !strings.Contains(page, f.ids["transfer"]) || !strings.Contains(page, f.ids["nothing"]) {
					t.Errorf("the queue is %s", page)
				}
			}
			var counts struct {
				Total int
				Exact bool
				By    map[string]json.RawMessage
			}
			own.get(t, "/v1/results/counts?prism="+f.slug+"&q=answered&by=intent,urgent,mood,@version,@status,@labelled").decode(t, &counts)
			wantEqual(t, "the total", counts.Total, 3)
			wantEqual(t, "whether all were counted", counts.Exact, true)
			for name, want := range map[string]string{
				"@labelled": `[{"value":"no","label":"no","count":2},{"value":"yes","label":"yes","count":1}]`,
				"@status":   `[{"value":"ok","label":"ok","count":3}]`, "@version": `[{"value":"1","label":"1","count":3}]`,
				"intent": `[{"value":"card","label":"Card, lost or stolen","count":1},{"value":"transfer","label":"Transfer","count":1},` +
					`{"value":"insufficient_information","label":"insufficient_information","count":1}]`,
				"mood": `[{"value":"calm","label":"Calm","count":1},{"value":"upset","label":"Upset","count":1},{"value":"angry","label":"Angry","count":1}]`,
				"urgent": `[{"value":"0.0","label":"0.0 to 0.1","count":1},{"value":"0.5","label":"0.5 to 0.6","count":1},` +
					`{"value":"0.9","label":"0.9 to 1.0","count":1}]`,
			} {
				wantEqual(t, name, string(counts.By[name]), want)
			}
			own.get(t, "/v1/results/counts?by=@status,intent").wantFail(t, invalid("by.1: Unknown question"))
			own.retryMany(t, f.slug, `"dry_run":true,"q":"broken","where":["@version:is:1"]`).wantBody(t, `{"retrying":1}`)
			own.retryMany(t, f.slug, `"dry_run":true,"q":"absent"`).wantBody(t, `{"retrying":0}`)
			own.retryMany(t, f.slug, `"expect":0,"q":"broken"`).wantFail(t, fail{409, "conflict", "1 results match now."})
			own.retryMany(t, f.slug, `"expect":1,"q":"broken"`).wantBody(t, `{"retrying":1}`)
			path := "/v1/prisms/" + f.slug + "/results/delete"
			own.post(t, path, `{"dry_run":true,"q":"answered","where":["urgent:from:0.4"]}`).wantBody(t, `{"deleting":2}`)
			own.post(t, path, `{"where":["nothing:labelled"]}`).wantFail(t, invalid("where.0: Unknown question"))
			own.post(t, path, `{"q":"answered","where":["urgent:from:0.4"]}`).wantBody(t, `{"deleting":2}`)
			if _, body := own.audit(t, "limit=1"); !strings.Contains(body, `"by":["q","where"]`) || strings.Contains(body, "answered") {
				t.Errorf("the audit has %s", body)
			}
			s.other.get(t, "/v1/results/counts?q=answered&by=@status").wantStatus(t, 200)
		})
		// spec: run-from-results
		t.Run("a run answers the inputs of results anew, with another version", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			f := own.searched(t)
			of := "/v1/prisms/" + f.slug
			own.post(t, of+"/versions", object("fields", raw(oneField), "questions", raw(triageQuestions))).wantStatus(t, 201)
			run := own.post(t, of+"/runs", `{"from_results":{"q":"answered","where":["urgent:from:0.4"]},"version":2}`).run(t, 201)
			if done := own.follow(t, run.ID); done.OK != 2 {
				t.Fatalf("got %+v", done)
			}
			wantEqual(t, "answered anew", len(own.find(t, f, 5, "where", "@version:is:2", "where", "urgent:from:0.4")), 2)
			dry := own.post(t, of+"/runs", `{"from_results":{"ids":["`+f.ids["card"]+`"]},"dry_run":true}`)
			dry.wantStatus(t, 200)
			if !strings.HasPrefix(string(dry.body), `{"rows":1,`) {
				t.Errorf("got %s", dry.body)
			}
		})
		// spec: prism-searchable, error-not-searchable, view-filters
		t.Run("a prism that is not searchable is left out", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			f := own.searched(t)
			path := "/v1/prisms/" + f.slug + "/searchable"
			r := own.put(t, path, `{"searchable":false}`)
			r.wantStatus(t, 200)
			own.get(t, "/v1/prisms/"+f.slug).wantBody(t, string(r.body))
			refused := fail{409, "conflict", "This prism is not searchable."}
			for _, query := range []string{"q=parcel", "where=urgent:is:yes", "sort=@took"} {
				own.get(t, "/v1/results?prism="+f.slug+"&"+query).wantFail(t, refused)
			}
			own.get(t, "/v1/results/counts?by=@status&prism="+f.slug).wantFail(t, refused)
			own.post(t, "/v1/prisms/"+f.slug+"/results/delete", `{"dry_run":true,"q":"parcel"}`).wantFail(t, refused)
			own.post(t, "/v1/prisms/"+f.slug+"/results/delete", `{"dry_run":true,"version":1}`).wantBody(t, `{"deleting":14}`)
			own.get(t, "/v1/prisms/"+f.slug+"/distribution?question=urgent&by=day&q=parcel").wantFail(t, refused)
			view := `{"name":"x","filters":{"prism":"` + f.slug + `"`
			own.post(t, "/v1/views", view+`,"sort":"@took"}}`).wantFail(t, refused)
			own.post(t, "/v1/views", view+`}}`).wantStatus(t, 201)
			wantEqual(t, "found in all prisms", len(own.walk(t, "/v1/results?q=parcel", 5)), 0)
			wantEqual(t, "results of the prism", len(own.walk(t, "/v1/results?prism="+f.slug, 5)), len(f.ids))
			own.put(t, path, `{"searchable":true}`).wantStatus(t, 200)
			tick, deadline := time.NewTicker(50*time.Millisecond), time.NewTimer(patience)
			defer tick.Stop()
			defer deadline.Stop()
			for all := false; !all; { // while results are indexed anew, pages say so
				select {
				case <-tick.C:
					all = !strings.Contains(string(own.get(t, "/v1/results?limit=1&prism="+f.slug+"&q=parcel").body), "indexed_from")
				case <-deadline.C:
					t.Fatal("the results are not indexed again")
				}
			}
			wantEqual(t, "found again", own.find(t, f, 3, "q", "parcel late"), []string{"latin"})
			own.put(t, path, `{}`).wantFail(t, invalid("searchable: Required"))
		})
	})
}
