package request_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// spec: usage-query, usage-days
func TestUsageIsReadFromTheQuery(t *testing.T) {
	t.Parallel()
	var key prism.KeyID
	if err := key.UnmarshalText([]byte(anID)); err != nil {
		t.Fatal(err)
	}
	day := func(n prism.Day) *prism.Day { return &n }
	for _, c := range []struct {
		q    request.Query
		want api.ReadUsageRequest
	}{
		{query("from", "", "to", "", "by", "", "prism", "", "model", "", "key_id", "", "other", "x"), api.ReadUsageRequest{By: api.ByDay}},
		{query("from", "1970-01-02", "by", "key"), api.ReadUsageRequest{By: api.ByKey, From: day(1)}},
		{query("to", "2026-11-01T00:00:00Z"), api.ReadUsageRequest{By: api.ByDay, To: day(20_758)}},
		{query("to", "2026-11-01T02:00:00.000+02:00"), api.ReadUsageRequest{By: api.ByDay, To: day(20_758)}},
		{query("from", "2024-01-01", "to", "2025-01-01"), api.ReadUsageRequest{By: api.ByDay, From: day(19_723), To: day(20_089)}},
		{
			query("by", "model", "prism", "tickets", "model", "fast", "key_id", strings.ToUpper(anID)),
			api.ReadUsageRequest{By: api.ByModel, Prism: &prism.Ref{Slug: "tickets"}, Model: "fast", Key: &key},
		},
	} {
		if got, err := parsed(api.ReadUsage, request.Source{Query: c.q}); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("got %+v %v, want %+v", got, err, c.want)
		}
	}
	const noDay = ": Expected a day, such as 2026-11-01, or its midnight in UTC"
	for _, c := range []struct {
		q    request.Query
		want string
	}{
		{query("from", "2026-11-1"), "from" + noDay},
		{query("from", "2026-02-30"), "from" + noDay},
		{query("from", "2026-11-01T00:00:00.001Z"), "from" + noDay},
		{query("to", "2026-11-01T00:00:00+02:00"), "to" + noDay},
		{query("to", "12026-11-01"), "to" + noDay},
		{query("from", "a", "from", "b"), "from: Expected string, received array"},
		{query("from", "2026-11-01", "to", "2026-11-01"), "from: must be before to"},
		{query("from", "2025-01-01", "to", "2026-01-03"), "from: must be at most 366 days before to"},
		{
			query("from", "x", "to", "y", "by", "week", "prism", "a\x00", "model", strings.Repeat("m", 201), "key_id", "me"),
			"from" + noDay + "; to" + noDay + "; by: Expected 'day' | 'prism' | 'model' | 'key'; prism: " + unclean +
				"; model: String must contain at most 200 character(s); key_id: Invalid uuid",
		},
		{
			query("from", "2026-11-02", "to", "2026-11-01", "by", "week"),
			"by: Expected 'day' | 'prism' | 'model' | 'key'; from: must be before to",
		},
	} {
		_, err := parsed(api.ReadUsage, request.Source{Query: c.q})
		wantProblems(t, err, c.want)
	}
	if _, err := parsed(api.ReadRecord, request.Source{}, "result_id", "me"); err == nil || err.Error() != "400 Invalid request: result_id: Invalid uuid" {
		t.Errorf("a record of no id: %v", err)
	}
}
