package chaos

import (
	"net/http"
	"testing"
	"time"

	"github.com/prism-results/prism/test/internal/attack"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/wide"
)

// What measures cost is bounded: whatever there is to measure, no process exceeds the memory that the chart gives to it, and another
// account loses no call. How long its calls take is measured by the benchmark (docs/reliability.md).
//
// spec: place-classes, measures-hold-little, fair-connections
func TestMeasuresTakeNeitherMemoryNorCallsFromOthers(t *testing.T) {
	const (
		callers  = 64
		accounts = 4 // with the quiet one
	)
	names := map[string]string{"prism-results": "results", "prism-gateway": "gateway", "prism-model-proxy": "modelProxy"}
	c := startConfined(t, true, func(service string) int64 { return chartLimit(t, names[service]) }, accounts)
	var by []attack.Measurer
	for _, key := range c.keys[:accounts-1] {
		c.must(t, http.StatusCreated, load.Request{Method: http.MethodPost, URL: c.url("/v1/prisms"), Key: key, Body: wide.Definition()})
		by = append(by, attack.Measurer{Key: key})
	}
	results, err := wide.Fill(t.Context(), c.database, wide.Results)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range results {
		by[i].Result = id
	}
	onceOf(t, func() string {
		a := attack.Start(t.Context(), attack.Measures(c.addr(), callers, wide.Results, by...).Attack)
		calls := c.neighbour(t, 15*time.Second, true)
		a.Stop()
		c.alive(t)
		statuses := a.Statuses()
		t.Logf("labels and measures: %v", statuses)
		for status, n := range statuses {
			if status != http.StatusOK && status != http.StatusServiceUnavailable {
				t.Errorf("VIOLATION: %d responses have the status %d\n%s", n, status, c.tails(10))
			}
		}
		if statuses[http.StatusServiceUnavailable] == 0 {
			return "no measure was refused, so no bound was reached"
		}
		return calls.late(t)
	})
	// What is not measured in the time of a call is measured by the next ones.
	quality := load.Request{Method: http.MethodGet, URL: c.url("/v1/prisms/" + wide.Slug + "/versions/1/quality"), Key: c.keys[0]}
	client := load.NewClient(1, 0)
	defer client.Close()
	ends := time.Now().Add(recoveryBudget)
	for n := 1; ; n++ {
		r := client.Do(t.Context(), quality)
		if r.Err == nil && r.Status == http.StatusOK {
			t.Logf("everything was measured by the %dth call", n)
			break
		}
		if !r.Unavailable() || time.Now().After(ends) {
			t.Fatalf("after %d calls: %s", n, r)
		}
	}
	c.alive(t)
}
