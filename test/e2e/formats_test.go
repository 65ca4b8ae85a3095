package e2e

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// nastyQuestions have labels that break careless writers of csv and tsv.
const nastyQuestions = `[
	{"key":"pick","type":"choice","text":"Which?","options":[
		{"key":"comma","label":"Comma, label"},{"key":"quoted","label":"A \"quoted\" label"},{"key":"plain","label":"Plain"}]},
	{"key":"sure","type":"yes_no","text":"Sure?"},
	{"key":"level","type":"scale","text":"How much?","levels":[{"key":"low","label":"Low\tlabel"},{"key":"high","label":"=HIGH()"}]}]`

var exact = model.Answers{
	"pick": model.Options{"comma": 0.25, "quoted": 0.5, "plain": 0.25}, "sure": model.Yes(0.5),
	"level": model.Levels{0.25, 0.75},
}

// dateTime is the form of created_at (spec: created-at).
var dateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)

// sample is a result with its prism in an account.
type sample struct {
	prism  string
	tag    string
	result result
}

func (s *stack) sample(t *testing.T, step model.Step, more ...any) sample {
	t.Helper()
	prism := s.main.prism(t, twoFields, nastyQuestions)
	script := s.model.Script(step)
	body := object(append([]any{"fields", raw(object("message", script.Tag, "subject", "a, \"b\"\r\n\tc\rd\ne"))}, more...)...)
	r := s.main.create(t, prism, body)
	var res result
	r.decode(t, &res)
	return sample{prism, script.Tag, res}
}

// TestFormats holds the five formats, byte for byte.
func TestFormats(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: lens-columns, derived-lens, show-answer, show-probability, result-members, format-json
		t.Run("json has the Lens columns in Lens order", func(t *testing.T) {
			t.Parallel()
			at := s.sample(t, model.Answer(exact), "ref", "order <7> & co")
			r := s.main.read(t, at.result.ID, "json")
			r.wantType(t, "application/json; charset=utf-8")
			wantMembers(t, r.body, nil, "id", "ref", "prism", "version", "status", "error", "took_ms", "created_at", "answers")
			r.wantBody(t, `{"id":"`+at.result.ID+`","ref":"order <7> & co","prism":"`+at.prism+`","version":1,"status":"ok","error":null,"took_ms":`+
				number(at.result.TookMS)+`,"created_at":"`+at.result.CreatedAt+`","answers":{"pick":"quoted","pick_probability":0.5,`+
				`"sure":"unsure","sure_probability":0.5,"level":"high","level_average":1.75}}`)
		})
		// spec: question-yes-no, format-raw, raw-answer-shapes
		t.Run("raw has every probability in definition order", func(t *testing.T) {
			t.Parallel()
			at := s.sample(t, model.Answer(exact))
			r := s.main.read(t, at.result.ID, "raw")
			r.wantType(t, "application/json; charset=utf-8")
			r.wantBody(t, `{"id":"`+at.result.ID+`","ref":null,"prism":"`+at.prism+`","version":1,"status":"ok","error":null,"took_ms":`+
				number(at.result.TookMS)+`,"created_at":"`+at.result.CreatedAt+`","answers":{"pick":{"type":"choice","value":"quoted",`+
				`"probabilities":{"comma":0.25,"quoted":0.5,"plain":0.25},"confidence":0.25},"sure":{"type":"yes_no","probability":0.5},`+
				`"level":{"type":"scale","level":"high","probabilities":{"low":0.25,"high":0.75}}}}`)
		})
		// spec: tabular-columns, csv-cells, csv-labels, media-types
		t.Run("csv has labels, quotes what needs it, keeps line breaks and ends lines in CRLF", func(t *testing.T) {
			t.Parallel()
			at := s.sample(t, model.Answer(exact), "ref", "r,1")
			r := s.main.read(t, at.result.ID, "csv")
			r.wantType(t, "text/csv; charset=utf-8")
			r.wantBody(t, "result_id,ref,version,status,error,created_at,subject,message,pick,pick_probability,sure,sure_probability,level,level_average\r\n"+
				at.result.ID+`,"r,1",1,ok,,`+at.result.CreatedAt+`,"a, ""b""`+"\r\n\tc\rd\ne\","+at.tag+`,"A ""quoted"" label",0.5,Unsure,0.5,=HIGH(),1.75`+"\r\n")
		})
		// spec: rows-for-people
		t.Run("an export for people has a mark, its delimiter and no formula, and a single result has none of it", func(t *testing.T) {
			t.Parallel()
			at := s.sample(t, model.Answer(exact), "ref", "-r;1")
			const people = "?format=tsv&bom=true&delimiter=;&safe=true"
			s.main.get(t, "/v1/results/"+at.result.ID+people).wantBody(t, string(s.main.read(t, at.result.ID, "tsv").body))
			s.main.get(t, "/v1/prisms/"+at.prism+"/results"+people).wantBody(t,
				"\ufeffresult_id;ref;version;status;error;created_at;subject;message;pick;pick_probability;sure;sure_probability;level;level_average\n"+
					at.result.ID+`;"'-r;1";1;ok;;`+at.result.CreatedAt+`;"a, ""b""`+"\r\n\tc\rd\ne\";"+at.tag+`;"A ""quoted"" label";0.5;Unsure;0.5;'=HIGH();1.75`+"\n")
		})
		// spec: tsv-cells
		t.Run("tsv makes spaces of tabs and line breaks and ends lines in LF", func(t *testing.T) {
			t.Parallel()
			at := s.sample(t, model.Answer(model.Answers{"level": model.Levels{1, 0}, "sure": model.Yes(0.75)}))
			r := s.main.read(t, at.result.ID, "tsv")
			r.wantType(t, "text/tab-separated-values; charset=utf-8")
			r.wantBody(t, "result_id\tref\tversion\tstatus\terror\tcreated_at\tsubject\tmessage\tpick\tpick_probability\tsure\tsure_probability\tlevel\tlevel_average\n"+
				at.result.ID+"\t\t1\tok\t\t"+at.result.CreatedAt+"\ta, \"b\"  c d e\t"+at.tag+"\tComma, label\t0.75\tYes\t0.75\tLow label\t1\n")
		})
		// spec: jsonl-rows
		t.Run("jsonl has keys and lower-case words, and null for what is not there", func(t *testing.T) {
			t.Parallel()
			at := s.sample(t, model.Answer(exact))
			r := s.main.read(t, at.result.ID, "jsonl")
			r.wantType(t, "application/jsonl; charset=utf-8")
			r.wantBody(t, `{"result_id":"`+at.result.ID+`","ref":null,"version":1,"status":"ok","error":null,"created_at":"`+at.result.CreatedAt+
				`","subject":"a, \"b\"\r\n\tc\rd\ne","message":"`+at.tag+`","pick":"quoted","pick_probability":0.5,"sure":"unsure",`+
				`"sure_probability":0.5,"level":"high","level_average":1.75}`+"\n")
		})

		// spec: tabular-failed-row
		t.Run("a failed result has an error and empty Lens columns in csv, tsv and jsonl", func(t *testing.T) {
			t.Parallel()
			at := s.sample(t, model.Status(400))
			const text = "The model service refused the call (status 400)."
			if got, want := string(s.main.read(t, at.result.ID, "csv").body), at.tag+",,,,,,\r\n"; !strings.HasSuffix(got, want) || !strings.Contains(got, ",failed,"+text+",") {
				t.Errorf("csv %q", got)
			}
			if got, want := string(s.main.read(t, at.result.ID, "tsv").body), at.tag+"\t\t\t\t\t\t\n"; !strings.HasSuffix(got, want) || !strings.Contains(got, "\tfailed\t"+text+"\t") {
				t.Errorf("tsv %q", got)
			}
			if got := string(s.main.read(t, at.result.ID, "jsonl").body); !strings.HasSuffix(got, `"pick":null,"pick_probability":null,"sure":null,"sure_probability":null,"level":null,"level_average":null}`+"\n") ||
				!strings.Contains(got, `"status":"failed","error":"`+text+`"`) {
				t.Errorf("jsonl %q", got)
			}
		})
		for _, format := range []string{"json", "raw", "csv", "tsv", "jsonl"} {
			// spec: same-format-for-create-read-retry
			t.Run("create, retry and read answer alike in format "+format, func(t *testing.T) {
				t.Parallel()
				prism, script := s.main.triage(t), s.model.Script(model.Status(400))
				created := s.main.post(t, "/v1/prisms/"+prism+"/results?format="+format, text(script.Tag))
				created.wantStatus(t, 502)
				first := s.onlyResult(t, prism)
				s.main.read(t, first, format).wantBody(t, string(created.body))

				again := s.main.post(t, "/v1/results/"+first+"/retry?format="+format, "")
				again.wantStatus(t, 502)
				script.Then()
				second := s.newest(t, prism)
				s.main.read(t, second, format).wantBody(t, string(again.body))
				last := s.main.post(t, "/v1/results/"+second+"/retry?format="+format, "")
				last.wantStatus(t, 200)
				read := s.main.read(t, s.newest(t, prism), format)
				read.wantBody(t, string(last.body))
				for _, r := range []reply{created, again, last} {
					r.wantType(t, read.header.Get("Content-Type"))
				}
			})
		}
	})
}

func number(n int64) string {
	b, _ := json.Marshal(n)
	return string(b)
}

// page is a list of results.
type page struct {
	Data       []result `json:"data"`
	NextCursor *string  `json:"next_cursor"`
}

func (c *client) results(t *testing.T, query string) page {
	t.Helper()
	r := c.get(t, "/v1/results?"+query)
	r.wantStatus(t, 200)
	var p page
	r.decode(t, &p)
	return p
}

// onlyResult is the id of a prism's one result.
func (s *stack) onlyResult(t *testing.T, prism string) string {
	t.Helper()
	p := s.main.results(t, "prism="+prism)
	if len(p.Data) != 1 {
		t.Fatalf("%d results, want 1", len(p.Data))
	}
	return p.Data[0].ID
}

// newest is the id of a prism's newest result.
func (s *stack) newest(t *testing.T, prism string) string {
	t.Helper()
	p := s.main.results(t, "limit=1&prism="+prism)
	if len(p.Data) != 1 {
		t.Fatal("no result")
	}
	return p.Data[0].ID
}
