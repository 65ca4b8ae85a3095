package request_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: view-create, view-filters, view-replace
func TestAViewIsSaved(t *testing.T) {
	t.Parallel()
	id, err := prism.ParseUUID(anID)
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]api.NewView{
		`{"name":"All","filters":{}}`: {Name: "All"},
		`{"name":"All","filters":{"prism":null,"q":null},"columns":null,"default":null}`: {Name: "All"},
		`{"name":"n","filters":{"prism":"p","status":"ok","ref":"","version":2,"from":"2026-11-01T00:00:00Z","to":"2026-11-02T00:00:00Z","model":"m",` +
			`"key_id":"` + anID + `","run":"` + anID + `","q":"a","where":["b:is:c"],"sort":"-b"},"columns":["text"],"default":true}`: {
			Name: "n", Columns: []string{"text"}, Default: true, Filters: api.ViewFilters{
				Prism: "p", Status: prism.OK, Ref: new(""), Version: 2, Model: "m", Key: prism.KeyID{UUID: id}, Run: prism.RunID{UUID: id},
				From: &api.Time{Time: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}, To: &api.Time{Time: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)},
				Q: "a", Where: []string{"b:is:c"}, Sort: "-b",
			},
		},
	} {
		created, err := parsedBody(api.CreateView, body)
		if err != nil || !reflect.DeepEqual(created.NewView, want) {
			t.Errorf("%s: %+v, %v", body, created, err)
		}
		replaced, err := parsedBody(api.ReplaceView, body, "view_id", anID)
		if err != nil || !reflect.DeepEqual(replaced.NewView, want) || replaced.View.UUID != id {
			t.Errorf("%s: %+v, %v", body, replaced, err)
		}
	}
	for body, want := range map[string]string{
		`{}`:                      "name: Required; filters: Required",
		`{"name":"","filters":7}`: "name: String must contain at least 1 character(s); filters: Expected object, received number",
		`{"name":"n","filters":{"where":["a:is:b"]}}`: "filters.prism: must be sent with where",
		`{"name":"n","filters":{"from":"yesterday"}}`: "filters.from: Invalid datetime",
		`{"name":"n","filters":{"prism":"p","where":["` + strings.Repeat("a", 1001) + `"]},"columns":["` + strings.Repeat("a", 201) + `"]}`: "filters.where.0: String must contain at most 1000 character(s); columns.0: String must contain at most 200 character(s)",
	} {
		_, err := parsedBody(api.CreateView, body)
		wantProblems(t, err, want)
	}
}
