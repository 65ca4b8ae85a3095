package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestADriftIsATable(t *testing.T) {
	t.Parallel()
	const (
		window = `"from":"2026-11-01T08:00:00.000Z","to":"2026-11-01T09:04:00.000Z",`
		few    = `{` + window + `"results":90,"alarm":false,"probability":null,"classes":null}`
		many   = `{` + window + `"results":1260,"alarm":true,"probability":{"psi":0.214038,"limit":0.1,"alarm":true},"classes":{"psi":0.052117,"limit":0.12,"alarm":false}}`
		body   = `{"version":2,"watched":true,"counted_to":"2026-11-01T09:04:00.000Z",` +
			`"reference":{"kind":"first","from":"2026-10-20T11:30:00.000Z","to":"2026-10-23T16:12:09.120Z","results":1999},` +
			`"questions":[{"question":"topic","index":0,"type":"choice","metrics":false,"hour":` + few + `,"day":` + many + `,"hours":[],"days":[` + many + `]}]}`
	)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	u := &user{t: t, dir: t.TempDir(), env: map[string]string{"PRISM_URL": s.URL, "PRISM_API_KEY": "k", "HOME": t.TempDir()}}
	got := u.run("quality", "drift", "tickets", "-o", "csv").
		want(exitOK, "Version 2, counted to 2026-11-01T09:04:00.000Z. Its reference is its first results, 1999 of 2000.\n"+
			"1 of its 1 questions have no metrics, and so no alert.")
	const want = "question,window,results,probability,limit,classes,classes_limit,alarm\n" +
		"topic,hour,90,,,,,no\ntopic,day,1260,0.2140,0.1000,0.0521,0.1200,yes\n"
	if got.out != want {
		t.Errorf("got  %s\nwant %s", got.out, want)
	}
	if got := u.ok("quality", "drift", "tickets", "--jq", ".questions[0].days[0].probability.psi"); got != "0.214038\n" {
		t.Errorf("got %s", got)
	}
}

// spec: drift-set, drift-reference-set
func TestAPrismIsWatchedAndNotAnyMore(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.makePrism()
	u.run("quality", "drift", "tickets").want(exitOK, "tickets is not watched: prismctl quality watch tickets")
	u.run("quality", "watch", "tickets").want(exitOK, "Its reference is its first results, 0 of 2000.")
	u.run("quality", "watch", "tickets", "--from", "2026-01-01").want(exitUsage, "a reference period needs both --from and --to")
	u.run("quality", "watch", "tickets", "--from", "soon", "--to", "2026-01-01").want(exitUsage, "--from takes a day or a time")
	u.run("quality", "watch", "tickets", "--from", "2020-01-01", "--to", "2020-01-02").want(exitInvalid, "reference.from: must be at most 90 days ago")
	u.run("quality", "watch", "tickets", "--version", "2").want(exitNotFound, "Prism version not found")
	u.run("quality", "unwatch", "tickets").want(exitOK, "tickets is not watched any more.")
}
