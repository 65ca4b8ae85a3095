package request_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
)

// spec: drift-set, drift-reference-set
func TestADriftChangeSaysWhetherAPrismIsWatched(t *testing.T) {
	t.Parallel()
	nine := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	const hour = "Expected a whole hour, such as 2026-11-01T09:00:00Z"
	for _, c := range []struct {
		body, want string
		change     api.DriftChange
	}{
		{`{"watched":true}`, "", api.DriftChange{Watched: true}},
		{`{"watched":false,"version":null,"reference":null}`, "", api.DriftChange{}},
		{
			`{"watched":true,"version":2,"reference":{"from":"2026-11-01T10:00:00+01:00","to":"2026-11-01T11:00:00Z"}}`, "",
			api.DriftChange{Watched: true, Version: 2, Reference: &api.DriftPeriod{From: nine, To: nine.Add(2 * time.Hour)}},
		},
		{`{}`, "watched: Required", api.DriftChange{}},
		{`{"watched":"yes","version":0}`, "watched: Expected boolean, received string; version: Number must be greater than or equal to 1", api.DriftChange{}},
		{`{"watched":true,"reference":[]}`, "reference: Expected object, received array", api.DriftChange{}},
		{`{"watched":true,"reference":{"from":null}}`, "reference.from: Expected string, received null; reference.to: Required", api.DriftChange{}},
		{
			`{"watched":true,"reference":{"from":"2026-11-01T09:00:01Z","to":"monday"}}`,
			"reference.from: " + hour + "; reference.to: Invalid datetime",
			api.DriftChange{},
		},
		{
			`{"watched":true,"reference":{"from":"2026-11-01T09:00:00Z","to":"2026-11-01T09:00:00Z"}}`,
			"reference.from: must be before to",
			api.DriftChange{},
		},
		{
			`{"watched":false,"reference":{"from":"2026-11-01T09:00:00Z","to":"2026-11-01T10:00:00Z"}}`,
			"reference: is only of a prism that is watched",
			api.DriftChange{},
		},
	} {
		sent, err := parsedBody(api.SetDrift, c.body, "prism", "p")
		got := sent.DriftChange
		if problems(t, err) != c.want {
			t.Errorf("%s: %v, want %q", c.body, err, c.want)
		}
		if c.change.Reference != nil && got.Reference != nil {
			got.Reference.From, got.Reference.To = got.Reference.From.UTC(), got.Reference.To.UTC()
		}
		if c.want == "" && !reflect.DeepEqual(got, c.change) {
			t.Errorf("%s: %+v", c.body, got)
		}
	}
}
