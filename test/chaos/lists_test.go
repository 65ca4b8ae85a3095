package chaos

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/test/internal/attack"
	"github.com/prism-results/prism/test/internal/load"
)

// heavyReads are the reads of the API with the largest responses that they can have: each operation's requests.
func heavyReads(f fat) map[string][]string {
	prism, run, file := "/v1/prisms/"+fatSlug, "/v1/runs/"+f.run, "/v1/files/"+f.file
	calibrations := "/v1/prisms/" + smallSlug + "/versions/1/calibration"
	return map[string][]string{
		"listResults": {
			"/v1/results?limit=100&format=raw&prism=" + fatSlug, "/v1/results?limit=100&prism=" + fatSlug,
			"/v1/results?limit=100&format=raw&run=" + f.run,
		},
		"listPrisms":       {"/v1/prisms?limit=100"},
		"listVersions":     {"/v1/prisms/" + largeSlug + "/versions?limit=100"},
		"listKeys":         {"/v1/keys?limit=100"},
		"listComments":     {"/v1/results/" + f.result + "/comments?limit=100"},
		"readAssignee":     {"/v1/results/" + f.result + "/assignee"},
		"listAssignees":    {"/v1/assignees?limit=100"},
		"listViews":        {"/v1/views?limit=100"},
		"listWebhooks":     {"/v1/webhooks?limit=100"},
		"readWebhook":      {"/v1/webhooks/" + f.webhook},
		"listDeliveries":   {"/v1/webhooks/" + f.webhook + "/deliveries?limit=100"},
		"listEvents":       {"/v1/events?after=0.0&answers=true&run_rows=true&event=result.created"},
		"listMembers":      {"/v1/members?limit=100"},
		"listAudit":        {"/v1/audit?limit=100"},
		"listFiles":        {"/v1/files?limit=100"},
		"listFileRows":     {file + "/rows?limit=100"},
		"listRuns":         {"/v1/runs?limit=100"},
		"listCalibrations": {calibrations + "s?limit=100"},
		"listLabels":       {prism + "/labels?limit=100"},
		"listLabelQueue": {
			prism + "/label-queue?limit=100&question=" + unlabelled, prism + "/label-queue?limit=100&order=uncertain&question=" + unlabelled,
		},

		"exportResults":          {prism + "/results?format=csv", prism + "/results?format=xlsx"},
		"listRunRows":            {run + "/rows?format=csv", run + "/rows?format=xlsx"},
		"readResult":             {"/v1/results/" + f.result + "?format=csv"},
		"readRecord":             {"/v1/results/" + f.result + "/record"},
		"readLabels":             {"/v1/results/" + f.result + "/labels"},
		"readPrism":              {"/v1/prisms/" + largeSlug},
		"readVersion":            {"/v1/prisms/" + largeSlug + "/versions/1"},
		"readCalibration":        {calibrations + "s/" + f.calibration},
		"readPinnedCalibrations": {calibrations},
		"readFile":               {file},
		"readRun":                {run},
		"readDrift":              {prism + "/drift"},
		"readDistribution":       {prism + "/distribution?question=" + unlabelled, prism + "/distribution?where=@status:is:ok&question=" + unlabelled},
		"readUsage":              {"/v1/usage?by=key"},
		"listChanges":            {"/v1/changes?limit=1000"},
		"listModels":             {"/v1/models"},
		"listModelStates":        {"/v1/models/states"},
	}
}

// owners are the reads for which a reader's key is not enough.
var owners = []string{
	"listKeys", "listMembers", "listAssignees", "listAudit", "listModelStates", "listWebhooks", "readWebhook", "listDeliveries", "listEvents",
}

// measured are the reads whose bounds other tests hold: those that measure, and streams of events, which wait.
var measured = []string{"readQuality", "readThresholds", "compareVersions", "followRun", "followEvents"}

// The reads whose responses have fewer bytes are made at once: none of them alone comes near a limit.
const small = 256 << 10

// Whatever a reader lists, and however large its rows are, no process exceeds its memory, and no other account loses a call.
//
// spec: page-bytes, response-budget, overload
func TestNothingDiesOfWhatReadersList(t *testing.T) {
	const callers = 32
	names := map[string]string{"prism-results": "results", "prism-gateway": "gateway", "prism-model-proxy": "modelProxy", "prism-runs": "runs"}
	for name, three := range map[string]bool{"one process": false, "four processes": true} {
		t.Run(name, func(t *testing.T) {
			c := startWith(t, three, three, func(service string) int64 { return chartLimit(t, names[service]) }, 2)
			f := c.fatten(t)
			reads := heavyReads(f)
			c.everyReadIsIn(t, reads)
			attacks := map[string][]load.Request{}
			for operation, paths := range reads {
				for _, path := range paths {
					in := load.Request{Method: http.MethodGet, URL: c.url(path), Key: f.reader}
					if slices.Contains(owners, operation) {
						in.Key = c.keys[0]
					}
					name := operation + " " + path[strings.LastIndexByte(path, '/'):]
					if len(c.must(t, http.StatusOK, in).Body) < small {
						name = "small responses"
					}
					attacks[name] = append(attacks[name], in)
				}
			}
			for name, reads := range attacks {
				t.Run(name, func(t *testing.T) {
					onceOf(t, func() string {
						a := attack.Start(t.Context(), attack.Attack{Addr: c.addr(), Conns: callers, Request: func(n int) []byte {
							in := reads[n%len(reads)]
							return attack.Request(in.Method, strings.TrimPrefix(in.URL, c.url("")), in.Key, nil)
						}})
						calls := c.neighbour(t, 2*time.Second, true)
						a.Stop()
						c.alive(t)
						t.Logf("the reader got %v", a.Statuses())
						for status := range a.Statuses() {
							if status != http.StatusOK && status != http.StatusServiceUnavailable {
								t.Errorf("the reader got a %d", status)
							}
						}
						return calls.late(t)
					})
					for _, in := range reads {
						c.eventually(t, in)
					}
				})
			}
		})
	}
}

// eventually makes a call until the response is no 503: the process may still be busy with others.
func (c *confined) eventually(t *testing.T, in load.Request) {
	t.Helper()
	client := load.NewClient(1, 1)
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), recoveryBudget)
	defer cancel()
	if r := client.Insist(ctx, in); r.Err != nil || r.Status != http.StatusOK {
		t.Errorf("%s: %s", in.URL, r)
	}
}

// everyReadIsIn adds the reads of a path alone, and fails the test when the API has another one that is not tested.
func (c *confined) everyReadIsIn(t *testing.T, reads map[string][]string) {
	t.Helper()
	r := c.must(t, http.StatusOK, load.Request{Method: http.MethodGet, URL: c.url("/openapi.json"), Key: c.quiet()})
	var document struct {
		Paths map[string]struct {
			Get *struct {
				OperationID string `json:"operationId"`
			} `json:"get"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(r.Body, &document); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, operation := range measured {
		known[operation] = true
	}
	for operation := range reads {
		known[operation] = true
	}
	found := 0
	for path, of := range document.Paths {
		if of.Get == nil {
			continue
		}
		if !known[of.Get.OperationID] && !strings.Contains(path, "{") {
			reads[of.Get.OperationID], known[of.Get.OperationID] = []string{path}, true
		}
		if found++; !known[of.Get.OperationID] {
			t.Errorf("GET %s, %s, is not among the reads of this test", path, of.Get.OperationID)
		}
	}
	if found != len(known) {
		t.Errorf("the API has %d reads, and the test %d", found, len(known))
	}
}
