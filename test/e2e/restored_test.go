package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// notStored are the operations that read what no backup has: models, windows that end now, and streams of what readRun and listEvents read.
var notStored = []string{"/v1/models", "/v1/models/states", "/v1/prisms/{prism}/drift", "/v1/runs/{run_id}/events", "/v1/events/stream"}

// readQueries are the queries of operations that need one, or that answer otherwise with one.
var readQueries = map[string][]string{
	"/v1/events":                      {"?after=0.0"},
	"/v1/prisms":                      {"?limit=100", "?archived=true"},
	"/v1/prisms/{prism}/compare":      {"?a=1&b=2&question=urgent"},
	"/v1/prisms/{prism}/results":      {"?format=csv", "?format=jsonl"},
	"/v1/prisms/{prism}/distribution": {"?question=urgent"},
	"/v1/prisms/{prism}/label-queue":  {"?question=urgent&order=uncertain"},
	"/v1/prisms/{prism}/versions/{version}/quality/thresholds": {"?question=urgent&false_yes=1&false_no=2&unsure=0.1"},
	"/v1/results":             {"?limit=100", "?format=raw&limit=100"},
	"/v1/results/{result_id}": {"", "?format=raw"},
	"/v1/runs/{run_id}/rows":  {"?format=csv", "?format=jsonl"},
}

// used is when somebody was there last, which reading changes.
var used = regexp.MustCompile(`"(last_used_at|last_seen_at)":("[^"]*"|null)`)

// everything is what each operation of the API that reads says to the account, by its path.
func (c *client) everything(t *testing.T) map[string]string {
	t.Helper()
	source, err := openAPISource()
	if err != nil {
		t.Fatal(err)
	}
	var document struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(source, &document); err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for template, operations := range document.Paths {
		if operations["get"] == nil || slices.Contains(notStored, template) {
			continue
		}
		queries, ok := readQueries[template]
		if !ok {
			queries = []string{""}
		}
		found := 0
		for _, path := range c.paths(t, template) {
			for _, query := range queries {
				r := c.get(t, path+query)
				if r.status == 200 {
					found++
				}
				said[path+query] = fmt.Sprint(r.status, " ", used.ReplaceAllString(string(r.body), ""))
			}
		}
		if found == 0 {
			t.Errorf("nothing of the account is read by GET %s", template)
		}
	}
	return said
}

// paths fills the parameters of a path with each of what the account has.
func (c *client) paths(t *testing.T, template string) (paths []string) {
	t.Helper()
	list, rest, ok := strings.Cut(template, "/{")
	if !ok {
		return []string{template}
	}
	parameter, rest, _ := strings.Cut(rest, "}")
	member, ok := map[string]string{"prism": "slug", "version": "version"}[parameter]
	if !ok {
		member = "id"
	}
	for cursor := ""; ; {
		var page struct {
			Data   []map[string]any
			Cursor *string `json:"next_cursor"`
		}
		c.get(t, list+"?limit=100"+cursor).decode(t, &page)
		for _, row := range page.Data {
			paths = append(paths, c.paths(t, list+"/"+fmt.Sprint(row[member])+rest)...)
		}
		if page.Cursor == nil {
			return paths
		}
		cursor = "&cursor=" + *page.Cursor
	}
}

// wantEverything fails the test unless the account reads what it read before.
func (c *client) wantEverything(t *testing.T, before map[string]string) {
	t.Helper()
	after := c.everything(t)
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if after[path] != before[path] {
			t.Errorf("GET %s says\n%.2000s\nand said\n%.2000s", path, after[path], before[path])
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d paths are read, and %d were", len(after), len(before))
	}
}

// furnish gives the account some of all that an account can have.
func (c *client) furnish(t *testing.T) {
	t.Helper()
	prism := c.triage(t)
	of := "/v1/prisms/" + prism
	var rows strings.Builder
	rows.WriteString("text,right,haste,ref\r\n")
	for i := range 120 {
		_, _ = fmt.Fprintf(&rows, "text %d,%s,%t,\"a \"\"ref\"\" %d\"\r\n", i, []string{"card", "transfer"}[i%2], i%2 == 0, i)
	}
	f := c.upload(t, "csv", rows.String())
	c.post(t, "/v1/webhooks", `{"url":"https://example.com/hook","events":["result.created"],"enabled":false}`).wantStatus(t, 201)
	c.newFile(t, "jsonl", 3<<20) // an upload that is not completed
	if done := c.follow(t, c.runFile(t, prism, f.ID, `,"ref":"ref","labels":{"intent":"right","urgent":"haste"}`).run(t, 201).ID); done.OK != 120 {
		t.Fatalf("got %+v", done)
	}
	var fitted struct{ ID string }
	c.post(t, of+"/versions/1/calibrations", `{"question":"intent","method":"temperature"}`).decode(t, &fitted)
	c.put(t, of+"/versions/1/calibration", `{"questions":{"intent":"`+fitted.ID+`"}}`).wantStatus(t, 200)
	c.post(t, of+"/versions", object("fields", raw(oneField), "questions", raw(triageQuestions))).wantStatus(t, 201)
	if done := c.follow(t, c.post(t, of+"/runs", `{"from_labels_of":1,"version":2}`).run(t, 201).ID); done.OK != 120 {
		t.Fatalf("got %+v", done)
	}
	c.put(t, of+"/lens", `{"columns":[{"name":"calibrated","question":"intent","show":"probability","calibrated":true}]}`).wantStatus(t, 200)
	c.put(t, of+"/retention", `{"days":3650}`).wantStatus(t, 200)
	c.refused(t, prism, "context", "a context")
	c.archive(t, c.triage(t))
	c.post(t, "/v1/members", object("name", "Ada", "email", "ada@example.com", "role", "editor")).wantStatus(t, 201)
	c.newAPIKey(t)
}

// write is what a read says once a write is done.
type write struct{ path, says string }

// busy is an account that writes while a backup is taken, one write after the other: what is restored has the first of them.
type busy struct {
	*client
	prism, run string
	least      int // of the writes, which were done before the backup
	writes     []write
}

// busyRows is how many rows the run has that goes on during the backup.
const busyRows = 300

func newBusy(t *testing.T, s *stack) *busy {
	t.Helper()
	b := &busy{client: s.ownAccount(t)}
	b.prism = b.client.prism(t, oneField, yesNo)
	f := b.upload(t, "csv", "text\n"+strings.Repeat("x\n", busyRows))
	b.run = b.runFile(t, b.prism, f.ID, `,"rows_per_second":20`).run(t, 201).ID
	b.write(t)
	b.least = len(b.writes)
	return b
}

// write stores a result, its label, and a file.
func (b *busy) write(t *testing.T) {
	t.Helper()
	done := func(path string) {
		r := b.get(t, path)
		r.wantStatus(t, 200)
		b.writes = append(b.writes, write{path, string(r.body)})
	}
	path := "/v1/results/" + b.create(t, b.prism, text(fmt.Sprint("result ", len(b.writes)))).ok(t).ID
	done(path)
	b.put(t, path+"/labels", `{"labels":{"urgent":true}}`).wantStatus(t, 200)
	done(path + "/labels")
	f := b.upload(t, "csv", fmt.Sprintf("text\n%d\n", len(b.writes)))
	done("/v1/files/" + f.ID + "/rows")
}

// pause ends the writes of the run until it is resumed.
func (b *busy) pause(t *testing.T) {
	t.Helper()
	path := "/v1/runs/" + b.run
	b.post(t, path+"/pause", "") // unless it is over
	for end := time.Now().Add(startBudget); ; {
		switch r := b.get(t, path).run(t, 200); {
		case r.Status == "paused" || r.Status == "finished":
			return
		case time.Now().After(end):
			t.Fatalf("the run is %+v", r)
		}
	}
}

// restored holds that the writes before some moment are all there as they were, and none behind it, and that the run goes on.
func (b *busy) restored(t *testing.T) {
	t.Helper()
	there := 0
	for i, w := range b.writes {
		if r := b.get(t, w.path); r.status != 200 || string(r.body) != w.says {
			continue
		}
		if there++; there <= i {
			t.Errorf("write %d of %d is there, and %d before it are not: %s", i, len(b.writes), i+1-there, w.path)
		}
	}
	t.Logf("%d of %d writes were restored, %d were done before the backup", there, len(b.writes), b.least)
	if there < b.least {
		t.Errorf("%d writes are there, and %d were done before the backup", there, b.least)
	}
	b.put(t, "/v1/runs/"+b.run+"/limits", `{"rows_per_second":null,"concurrency":null}`) // unless it is over
	if done := b.follow(t, b.run); done.Status != "finished" || done.OK != busyRows {
		t.Errorf("the run is %+v", done)
	}
	if results := b.walk(t, "/v1/results?run="+b.run, 100); len(results) != busyRows {
		t.Errorf("the run has %d results", len(results))
	}
}
