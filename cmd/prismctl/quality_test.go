package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

// fakeQuality is a Prism with a prism "tickets", whose latest version is 2, and the examples of the OpenAPI document as its measures.
// It tells the query of the last request.
func fakeQuality(t *testing.T) (u *user, query *string) {
	t.Helper()
	examples, mux := openAPI(t).Components.Examples, http.NewServeMux()
	query = new(string)
	for path, body := range map[string]string{
		"/v1/prisms/tickets":                               whole[client.Prism](`{"slug":"tickets","latest_version":2,"version":{"questions":[{"key":"refund","text":"Due?"}]}}`),
		"/v1/prisms/tickets/versions":                      whole[client.Page[client.Version]](`{"data":[{"version":2},{"version":1}]}`),
		"/v1/prisms/tickets/versions/2/quality":            string(examples["QualityExample"].Value),
		"/v1/prisms/tickets/versions/2/quality/thresholds": string(examples["ThresholdsExample"].Value),
		"/v1/prisms/tickets/compare":                       string(examples["ComparisonExample"].Value),
		"/v1/prisms/few/versions/1/quality": whole[client.Quality](`{"version":1,"questions":[{"question":"a","type":"scale","labels":9,"counted":7,"examples":2},` +
			`{"question":"b","type":"choice","labels":30,"counted":30,"calibration":"c","accuracy":{"value":1,"low":0.9,"high":1},` +
			`"classes":[{"value":"x","n":30,"recall":{"value":1,"low":1,"high":1},"f1":{"value":1,"low":1,"high":1}}]}]}`),
		"/v1/prisms/few/compare": whole[client.Comparison](`{"counted":30,"labels":33,"left_out":{"other_option":2,"other_label":1,"examples":3},"a":{"version":3},"b":{"version":4},` +
			`"mcnemar":{"p":1},"verdict":"not distinguishable with 30 labels"}`),
		"/v1/prisms/tagged/compare": whole[client.Comparison](`{"counted":40,"labels":40,"mcnemar":{"only_a":2,"only_b":9,"p":0.0654},"verdict":"better",` +
			`"a":{"version":1,"tags":` + ofSeveral(0.5, 0.25) + `},"b":{"version":2,"tags":` + ofSeveral(0.75, 0.125) + `},"differences":{"tags":` + ofSeveral(0.25, -0.125) + `}}`),
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			*query = r.URL.RawQuery
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_, _ = w.Write([]byte(body))
		})
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return &user{t: t, dir: t.TempDir(), env: map[string]string{"PRISM_URL": s.URL, "PRISM_API_KEY": "prism_fake", "HOME": t.TempDir()}}, query
}

// ofSeveral is measures of several options together, or their differences.
func ofSeveral(exact, hamming float64) string {
	figure := func(x float64) string { return fmt.Sprintf(`{"value":%v,"low":%v,"high":%v}`, x, x-0.0625, x+0.0625) }
	return fmt.Sprintf(`{"exact_match":%s,"hamming_loss":%s,"micro":{"f1":%s},"macro":{}}`, figure(exact), figure(hamming), figure(exact))
}

func TestMeasures(t *testing.T) {
	t.Parallel()
	u, query := fakeQuality(t)
	const of = " --question refund"
	const costs = of + " --false-yes 5 --false-no 1.5 --unsure 0"
	for _, c := range []struct{ golden, args, query string }{
		{"quality", "quality tickets --model m --calibrated" + of, "calibrated=true&model=m&question=refund"},
		{"quality-wide", "quality tickets -o wide", ""},
		{"quality-csv", "quality tickets --version 2 -o csv", ""},
		{"quality-few", "quality few --version 1 -o wide", ""},
		{"quality-few-csv", "quality few --version 1 -o csv", ""},
		{"quality-thresholds", "quality thresholds tickets" + costs, "false_no=1.5&false_yes=5&question=refund&unsure=0"},
		{"quality-thresholds-csv", "quality thresholds tickets -o csv --model m" + costs, "false_no=1.5&false_yes=5&model=m&question=refund&unsure=0"},
		{"compare", "compare tickets 1 2" + of, "a=1&b=2&question=refund"},
		{"compare-wide", "compare tickets 1 2 -o wide" + of, "a=1&b=2&question=refund"},
		{"compare-csv", "compare tickets 1 2 -o csv" + of, "a=1&b=2&question=refund"},
		{"compare-few", "compare few 3 4" + of, "a=3&b=4&question=refund"},
		{"compare-tags", "compare tagged 1 2 --question tags", "a=1&b=2&question=tags"},
	} {
		wantGolden(t, c.golden, u.ok(strings.Fields(c.args)...))
		if *query != c.query {
			t.Errorf("%s sends %s, want %s", c.args, *query, c.query)
		}
	}
	for want, args := range map[string]string{
		`[false,true]`:            "quality tickets -o json --jq .questions[0].confusion.values",
		`"rps":null,"mae":null,`:  "quality tickets -o jsonl",
		"verdict: better\n":       "compare tickets 1 2 -o yaml" + of,
		`{"at":0.5,"from_no":12,`: "quality thresholds tickets --jq .counts[1]" + costs,
		"refund\tDue?\n":          "__complete quality tickets --question ",
		"refund\tDue?\n:4\n":      "__complete labels queue --prism tickets --question ",
		"2\t0001-01-01":           "__complete compare tickets ",
		"1\t0001-01-01":           "__complete compare tickets 2 ",
	} {
		if got := u.ok(strings.Split(args, " ")...); !strings.Contains(got, want) {
			t.Errorf("%s: got %s", args, got)
		}
	}
	u.run("quality").want(exitUsage, "missing argument <prism>\nUsage: prismctl quality PRISM [flags]")
	u.run("quality", "thresholds", "tickets", "--question", "q").want(exitUsage, `required flag(s) "false-no", "false-yes", "unsure" not set`)
	u.run("compare", "tickets", "1", "latest", "--question", "q").want(exitUsage, "the versions A and B are numbers")
	u.run("compare", "tickets", "1", "2").want(exitUsage, `required flag(s) "question" not set`)
}

func TestASignificanceHasFourDigitsOrIsBelowTheLeastThatIsShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p           float64
		want, exact string
	}{
		{1, "1", "1"},
		{0.143463134765625, "0.1435", "0.143463134765625"},
		{0.0001, "0.0001", "0.0001"},
		{0.00012345678, "0.0001235", "0.00012345678"},
		{0.00009999, "< 0.0001", "0.00009999"},
		{4.58e-5, "< 0.0001", "0.0000458"},
		{1.2e-300, "< 0.0001", "0." + strings.Repeat("0", 299) + "12"},
		{0, "< 0.0001", "0"},
	} {
		a := newApp()
		if got := a.pValue(c.p); got != c.want {
			t.Errorf("%v is %s, want %s", c.p, got, c.want)
		}
		if a.exact = true; a.pValue(c.p) != c.exact {
			t.Errorf("%v with all digits is %s, want %s", c.p, a.pValue(c.p), c.exact)
		}
	}
}

// The real Prism refuses what cannot be measured.
//
// spec: quality, thresholds, compare, too-few-labels
func TestMeasuresWithoutLabelsAreRefused(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.makePrism()
	u.run("quality", "tickets").want(exitConflict, "Too few labels: 0 of 30.")
	u.run("quality", "tickets", "--question", "none").want(exitInvalid, "question: Unknown question")
	u.run("quality", "tickets", "--version", "2").want(exitNotFound, "Prism version not found")
	u.run("quality", "thresholds", "tickets", "--question", "urgent", "--false-yes", "-1", "--false-no", "1", "--unsure", "1").
		want(exitInvalid, "false_yes: ")
	u.run("quality", "thresholds", "tickets", "--question", "urgent", "--false-yes", "1", "--false-no", "1", "--unsure", "0").
		want(exitConflict, "Too few labels: 0 of 30.")
	u.run("compare", "tickets", "1", "2", "--question", "urgent").want(exitNotFound, "Prism version not found")
	u.run("compare", "tickets", "1", "1", "--question", "urgent").want(exitConflict, "Too few labels: 0 of 30.")
}
