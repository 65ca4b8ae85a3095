package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

const (
	// firstRows and previewed are what the first rows of a list and a preview may take, in ms.
	firstRows, previewed = 300, 150
	// readUsage is what a month of usage may take beside tailRows of it that are not added up, in ms.
	readUsage, tailRows = 200, 100_000
	// madeRetry is what a retry of all results may take, in s.
	madeRetry = 10
)

// console is what the pages of the console wait for with many results of an account: the first rows of a list by each filter, a
// preview of a Lens, a month of usage, and a retry of all results.
func (b *bench) console(ctx context.Context) error {
	if err := b.archived(ctx, system.Archive{Results: b.Stored, Failed: 20}, func(a archive) error {
		if err := b.firstRows(ctx, a); err != nil {
			return err
		}
		if err := b.previews(ctx, a); err != nil {
			return err
		}
		return b.usage(ctx, a)
	}); err != nil {
		return err
	}
	return b.archived(ctx, system.Archive{Results: b.Stored, Failed: 1}, func(a archive) error { return b.retryAll(ctx, a) })
}

func (b *bench) what(a archive, what string) string {
	return fmt.Sprintf("%s with %d results, %s", a.store, b.Stored, what)
}

// firstRows reads the first page of a list as the Results page does, by each of its filters, and whether there are newer rows: by
// what an index finds, and by what has the page look at one result after the other (spec: result-list-looks).
func (b *bench) firstRows(ctx context.Context, a archive) error {
	ago := func(days int) string { return time.Now().AddDate(0, 0, -days).UTC().Format(time.RFC3339) }
	prism := "prism=" + system.Small.Slug
	indexed := []string{
		"limit=1", "", prism, "status=failed", "ref=" + system.RareRef, "from=" + ago(1), "from=" + ago(15) + "&to=" + ago(14),
	}
	looked := []string{
		prism + "&status=ok", prism + "&status=failed", prism + "&status=failed&version=1&from=" + ago(9) + "&to=" + ago(8),
		prism + "&version=2", "model=default", "model=" + system.RareModel, "from=" + ago(1) + "&model=" + system.RareModel,
		prism + "&model=" + system.RareModel, "key_id=" + a.rare, "key_id=00000000-0000-7000-8000-000000000000",
	}
	for _, lists := range []struct {
		name    string
		filters []string
	}{
		{"first rows by the slowest filter that an index finds, p95", indexed},
		{"first rows by the slowest filter that looks at results, p95", looked},
	} {
		var slowest []float64
		for _, filter := range lists.filters {
			path := "/v1/results?limit=50&" + filter
			if filter == "limit=1" {
				path = "/v1/results?" + filter
			}
			p95, err := b.percentile(func() (float64, error) { return a.took(ctx, get, path, "", http.StatusOK) })
			if err != nil {
				return err
			}
			fmt.Fprintf(b.out, "  %s, %s: %s ms\n", a.store, path, number(median(p95)))
			if len(slowest) == 0 || median(p95) > median(slowest) {
				slowest = p95
			}
		}
		b.report.add(b.out, atMost("console", b.what(a, lists.name), "ms", slowest, firstRows))
	}
	return nil
}

// previews shows the newest 20 results through another Lens each time, as somebody types one.
func (b *bench) previews(ctx context.Context, a archive) error {
	page, err := a.ListResults(ctx, client.ResultFilter{Prism: system.Small.Slug}, client.PageOptions{Limit: 20})
	if err != nil {
		return err
	}
	var ids []string
	for _, r := range page.Data {
		ids = append(ids, r.ID)
	}
	typed := 0
	p95, err := b.percentile(func() (float64, error) {
		typed++
		body, err := json.Marshal(map[string]any{"result_ids": ids, "columns": []client.Column{
			{Name: fmt.Sprintf("reason_%d", typed), Question: "reason", Show: client.ShowAnswer},
			{Name: "confidence", Question: "reason", Show: client.ShowConfidence},
			{Name: "card", Question: "reason", Show: client.ShowProbability, Option: "card"},
			{Name: "urgent", Question: "urgent", Show: client.ShowAnswer},
			{Name: "p_urgent", Question: "urgent", Show: client.ShowProbability},
		}})
		if err != nil {
			return 0, err
		}
		return a.took(ctx, post, "/v1/prisms/"+system.Small.Slug+"/lens/preview", string(body), http.StatusOK)
	})
	if err == nil {
		b.report.add(b.out, atMost("console", b.what(a, "a Lens preview of 20 results, p95"), "ms", p95, previewed))
	}
	return err
}

// usage reads a month of usage. In Postgres it is read beside many rows that are not added up yet: a process that holds its lock
// keeps others from adding up.
func (b *bench) usage(ctx context.Context, a archive) error {
	measured := "a month of usage"
	if a.URL != "" {
		held, err := system.HoldFold(ctx, a.URL, min(tailRows, b.Stored))
		if err != nil {
			return err
		}
		defer held.Close()
		measured = fmt.Sprintf("a month of usage beside %d rows to add up", min(tailRows, b.Stored))
	}
	from := time.Now().AddDate(0, 0, -30).UTC().Format(time.DateOnly)
	by, n := []string{"day", "prism", "model", "key"}, 0
	p95, err := b.percentile(func() (float64, error) {
		n++
		return a.took(ctx, get, "/v1/usage?by="+by[n%len(by)]+"&from="+from, "", http.StatusOK)
	})
	if err == nil {
		b.report.add(b.out, atMost("console", b.what(a, measured+", p95"), "ms", p95, readUsage))
	}
	return err
}

// retryAll counts the failed results of a prism and stores their retry, which is then stopped.
func (b *bench) retryAll(ctx context.Context, a archive) error {
	match := client.ResultRetry{Prism: system.Small.Slug}
	var matching int
	var counted []float64
	for range b.Rounds {
		began := time.Now()
		n, err := a.RetryResults(ctx, match, 0, client.WithDryRun())
		if err != nil {
			return err
		}
		matching, counted = n.Retrying, append(counted, time.Since(began).Seconds())
	}
	if matching != b.Stored {
		return fmt.Errorf("%d results match, want %d", matching, b.Stored)
	}
	before, err := a.busy()
	if err != nil {
		return err
	}
	began := time.Now()
	if _, err := a.RetryResults(ctx, match, matching); err != nil {
		return err
	}
	made := time.Since(began).Seconds()
	after, err := a.busy()
	if err != nil {
		return err
	}
	b.report.add(b.out,
		atMost("console", b.what(a, "counting what a retry matches"), "s", counted, madeRetry),
		atMost("console", b.what(a, "storing a retry of all"), "s", []float64{made}, madeRetry),
		plain("console", b.what(a, "storing a retry of all, processor time"), "s", []float64{after - before}))
	_, err = a.ArchivePrism(ctx, system.Small.Slug) // which ends the retry
	return err
}
