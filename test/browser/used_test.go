package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	api "github.com/prism-results/prism/client"
)

// used is what there is in an account of which every part of the console is used.
type used struct{ result, paused, invalid, file, guessed, unusable, key, member, entry, webhook string }

// use has an account, which prism demo has filled, use the rest: labels, calibrations and drift of both prisms, runs that are
// paused and that have invalid rows, an archived prism and an invitation.
func use(t *testing.T, server *prism) (u used) {
	t.Helper()
	a := user{t, server}
	u.file = a.first("/v1/files") // of the demo's run
	guessed := "Questions of November;;;\r\n;;;\r\nnumber;message;asked at;\r\n" +
		strings.Repeat("1;Das Caf\xe9 hat meine Karte doppelt belastet \x96 bitte zur\xfcckzahlen;2026-11-01;\r\n", 8) + "2;Where is my parcel?\r\n"
	u.guessed = a.upload("questions.csv", guessed)
	u.unusable = a.upload("report.csv", "Report\n"+strings.Repeat("1,2,3\n", 200))
	a.ask("POST", "/v1/prisms", `{"slug":"spam","fields":[{"key":"text"}],
		"questions":[{"key":"spam","type":"yes_no","text":"Is this message spam?"}]}`, 201)
	a.ask("POST", "/v1/prisms/spam/archive", "", 200)
	a.ask("POST", "/v1/members", `{"name":"Ada Byron","role":"editor"}`, 201)
	for _, slug := range []string{"support", "banking77"} {
		a.ask("PUT", "/v1/prisms/"+slug+"/drift", `{"watched":true}`, 200)
	}
	a.label("support", "team", 2, 150)
	a.label("support", "mood", 2, 120)
	a.label("support", "refund", 1, 150)
	a.label("banking77", "intent", 1, 400)
	a.label("banking77", "urgency", 1, 120)
	var fitted struct{ ID string }
	a.into(&fitted, "POST", "/v1/prisms/support/versions/2/calibrations", `{"question":"team","method":"temperature"}`, 201)
	a.ask("PUT", "/v1/prisms/support/versions/2/calibration", fmt.Sprintf(`{"questions":{"team":%q}}`, fitted.ID), 200)
	a.awaitStatus("finished", "/v1/runs/"+a.run("support", `{"from_labels_of":1,"version":2,"name":"Version 2 on the labels of version 1"}`))

	u.paused = a.run("banking77", fmt.Sprintf(`{"file_id":%q,"fields":{"text":"text"},"name":"Questions of November",
		"rows_per_second":5}`, u.file))
	a.await("/v1/runs/"+u.paused, func(is state) bool { return is.OK >= 10 })
	a.ask("POST", "/v1/runs/"+u.paused+"/pause", "", 200)
	text := "number,message\n1,The kettle that came on Monday leaks.\n" + strings.Repeat("2", 201) +
		",Where is my parcel?\n3,Thank you for the spare part!\n"
	u.invalid = a.run("banking77", fmt.Sprintf(`{"file_id":%q,"fields":{"text":"message"},"ref":"number",
		"name":"Messages with long refs"}`, a.upload("messages.csv", text)))
	a.awaitStatus("finished", "/v1/runs/"+u.invalid)
	a.awaitStatus("paused", "/v1/runs/"+u.paused)
	u.result, u.key = a.first("/v1/results?prism=support"), a.first("/v1/keys")
	u.webhook = a.webhook()
	u.member, u.entry = a.first("/v1/members"), a.first("/v1/audit")
	return u
}

// views are pages of data of other kinds than those of the first of each list.
func (u used) views() []view {
	support, bank := "/prisms/support/quality?question=", "/prisms/banking77/quality?question="
	return []view{
		{name: "failed results", path: "/results?status=failed"},
		{name: "results of banking77", path: "/results?prism=banking77"},
		{name: "filtered results", path: "/results?prism=support&q=refund&sort=-refund&where=" +
			url.QueryEscape(`["team:is:billing,shipping","team:from:0.4","refund:unlabelled"]`)},
		{name: "archived prism", path: "/prisms/spam/settings"},
		{name: "archived prisms", path: "/prisms?archived=all", heading: "Prisms"},
		{name: "mapping", path: "/runs/new?prism=banking77&file=" + u.file, heading: "New run"},
		{name: "how a file is read", path: "/runs/new?prism=banking77&file=" + u.guessed, heading: "New run"},
		{name: "unusable file", path: "/runs/new?prism=banking77&file=" + u.unusable, heading: "New run"},
		{name: "paused run", path: "/runs/" + u.paused},
		{name: "invalid run", path: "/runs/" + u.invalid},
		{name: "invalid row", path: "/runs/" + u.invalid + "?only=invalid&row=2"},
		{name: "quality", path: "/prisms/support/quality"},
		{name: "reliability of a choice", path: support + "team"},
		{name: "reliability calibrated", path: support + "team&calibrated=true"},
		{name: "reliability of a scale", path: support + "mood"},
		{name: "confusion of 6", path: support + "team&tab=confusion"},
		{name: "confusion of 21", path: bank + "intent&tab=confusion"},
		{name: "coverage of a choice", path: support + "team&tab=coverage"},
		{name: "compare", path: support + "refund&tab=versions"},
		{name: "calibrations", path: support + "team&tab=calibration"},
		{name: "drift by hours", path: bank + "intent&tab=drift"},
		{name: "drift by days", path: bank + "intent&tab=drift&span=days"},
		{name: "label of 21", path: "/prisms/banking77/label?question=intent"},
		{name: "label every question", path: "/prisms/support/label?answers=true"},
		{name: "label by a file", path: "/prisms/banking77/label?import=true&file=" + u.file},
		{name: "usage by key", path: "/usage?by=key"},
		{name: "usage by prism", path: "/usage?by=prism"},
		{name: "connect a model", path: "/models?host=azure", heading: "Models"},
		{name: "open version", path: "/prisms/support/settings?version=2"},
		{name: "definition as JSON", path: "/prisms/spam/settings?as=json"},
		{name: "edit from version 1", path: "/prisms/support/edit?from=1"},
		{name: "overview of a yes or no", path: "/prisms/support?question=refund"},
		{name: "overview of 21", path: "/prisms/banking77?question=intent"},
		{name: "overview of nothing", path: "/prisms/spam"},
		{name: "try an older version", path: "/prisms/support/try?version=1"},
		{name: "new prism from an example", path: "/prisms/new?from=support&try=true"},
	}
}

// user makes calls for the account.
type user struct {
	t *testing.T
	*prism
}

func (a user) ask(method, path, body string, want int) []byte {
	a.t.Helper()
	return a.callAs(a.t, a.used, method, path, body, want)
}

func (a user) into(value any, method, path, body string, want int) {
	a.t.Helper()
	if err := json.Unmarshal(a.ask(method, path, body, want), value); err != nil {
		a.t.Fatal(err)
	}
}

// first is the slug or the id of the first of a list.
func (a user) first(path string) string {
	a.t.Helper()
	var list struct{ Data []struct{ ID, Slug string } }
	a.into(&list, "GET", path, "", 200)
	if len(list.Data) == 0 {
		a.t.Fatalf("%s has nothing", path)
	}
	return cmp.Or(list.Data[0].Slug, list.Data[0].ID)
}

// labelYesNo labels 100 results of the latest version of a prism, as many as reliability takes, and returns the yes_no question.
func (a user) labelYesNo(slug string) string {
	a.t.Helper()
	var is struct {
		Latest  int `json:"latest_version"`
		Version struct {
			Questions []struct{ Key, Type string }
		}
	}
	a.into(&is, "GET", "/v1/prisms/"+slug, "", 200)
	at := slices.IndexFunc(is.Version.Questions, func(q struct{ Key, Type string }) bool { return q.Type == "yes_no" })
	if at < 0 {
		a.t.Fatalf("%s has no yes_no question", slug)
	}
	question := is.Version.Questions[at].Key
	var queue struct {
		Data []struct {
			ID string `json:"result_id"`
		}
	}
	a.into(&queue, "GET", fmt.Sprintf("/v1/prisms/%s/label-queue?question=%s&version=%d&limit=100", slug, question, is.Latest), "", 200)
	var labels []string
	for i, r := range queue.Data {
		labels = append(labels, labelOf(r.ID, question, i%3 == 0))
	}
	if n := a.addLabels(slug, labels); n != 100 {
		a.t.Fatalf("%d results were labelled", n)
	}
	return question
}

// labelOf is a label of a result in JSON.
func labelOf(result, question string, value any) string {
	if text, ok := value.(string); ok {
		value = strconv.Quote(text)
	}
	return fmt.Sprintf(`{"result_id":%q,"question":%q,"value":%v}`, result, question, value)
}

// addLabels stores labels, and returns how many results have them.
func (a user) addLabels(slug string, labels []string) int {
	a.t.Helper()
	var added struct{ Labelled int }
	a.into(&added, "POST", "/v1/prisms/"+slug+"/labels", `{"labels":[`+strings.Join(labels, ",")+`],"sample":"random"}`, 200)
	return added.Labelled
}

// label labels results of a version: three of four with what was answered, and the others with the answer of another result.
func (a user) label(slug, question string, version, n int) {
	a.t.Helper()
	var labels, others []string
	for cursor := ""; len(labels) < n; {
		var list struct {
			Data []struct {
				ID      string
				Answers map[string]any
			}
			Next *string `json:"next_cursor"`
		}
		a.into(&list, "GET", fmt.Sprintf("/v1/results?prism=%s&version=%d&status=ok&limit=100%s", slug, version, cursor), "", 200)
		for i, r := range list.Data {
			answer, _ := r.Answers[question].(string)
			if answer == "" || answer == "insufficient_information" || answer == "unsure" || len(labels) == n {
				continue
			}
			if !slices.Contains(others, answer) {
				others = append(others, answer)
			}
			if i%4 == 3 {
				answer = others[i/4%len(others)]
			}
			var value any = answer
			if answer == "yes" || answer == "no" {
				value = answer == "yes"
			}
			labels = append(labels, labelOf(r.ID, question, value))
		}
		if list.Next == nil {
			break
		}
		cursor = "&cursor=" + *list.Next
	}
	if n := a.addLabels(slug, labels); n != len(labels) || n < 100 {
		a.t.Fatalf("%d of %d labels of %s are stored", n, len(labels), question)
	}
}

// run starts a run.
func (a user) run(slug, body string) string {
	a.t.Helper()
	var made struct{ ID string }
	a.into(&made, "POST", "/v1/prisms/"+slug+"/runs", body, 201)
	return made.ID
}

// upload uploads a file, and waits until it is read, as one that can be used or not.
func (a user) upload(name, text string) string {
	a.t.Helper()
	c, err := api.New(api.Config{URL: a.url, Key: a.used})
	if err != nil {
		a.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(a.t.Context(), callBudget)
	defer cancel()
	f, err := c.UploadFile(ctx, api.Upload{Name: name, Format: api.FileCSV, Content: strings.NewReader(text), Bytes: int64(len(text))})
	if unusable, ok := errors.AsType[*api.UnusableFileError](err); ok {
		return unusable.File.ID
	}
	if err != nil {
		a.t.Fatal(err)
	}
	return f.ID
}

// state is that of a file or a run.
type state struct {
	Status string
	OK     int
}

// awaitCount reads a list until it has a number of items.
func (a user) awaitCount(path string, n int) {
	a.t.Helper()
	a.awaitOf(path, func() (string, bool) {
		var list struct{ Data []any }
		a.into(&list, "GET", path, "", 200)
		return fmt.Sprint(len(list.Data)), len(list.Data) == n
	})
}

// awaitStatus reads a file or a run until it has a status.
func (a user) awaitStatus(status, path string) {
	a.t.Helper()
	a.await(path, func(is state) bool { return is.Status == status })
}

// await reads a file or a run until it is so.
func (a user) await(path string, so func(state) bool) {
	a.t.Helper()
	a.awaitOf(path, func() (string, bool) {
		var now state
		a.into(&now, "GET", path, "", 200)
		return fmt.Sprintf("%+v", now), so(now)
	})
}

// awaitOf looks until it is so. look says how it is, too.
func (a user) awaitOf(path string, look func() (string, bool)) {
	a.t.Helper()
	tick, late := time.NewTicker(50*time.Millisecond), time.NewTimer(callBudget)
	defer tick.Stop()
	defer late.Stop()
	for {
		now, so := look()
		if so {
			return
		}
		select {
		case <-tick.C:
		case <-late.C:
			a.t.Fatalf("%s stays %s", path, now)
		}
	}
}
