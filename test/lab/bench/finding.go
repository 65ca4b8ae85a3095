package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

const (
	// foundRows and counted are what the first page of a search and counts of answers may take, in ms.
	foundRows, counted = 300, 500
	// indexBytes is the size of the index, of that of the results, in percent.
	indexBytes = 60
)

// finding is what searches wait for with many results of an account. They are indexed first, which takes a while, so that it is measured
// only when it is named.
func (b *bench) finding(ctx context.Context) error {
	return b.archived(ctx, system.Archive{Results: b.Stored, Failed: 20, Indexed: true}, func(a archive) error {
		began := time.Now()
		if err := awaited(ctx, time.Second, func() (bool, error) { return a.indexed(ctx) }); err != nil {
			return err
		}
		b.report.add(b.out, plain("finding", b.what(a, "indexing"), "results/s", []float64{float64(b.Stored) / time.Since(began).Seconds()}))
		size, err := a.IndexSize(ctx)
		if err != nil {
			return err
		}
		b.report.add(b.out, atMost("finding", b.what(a, "the index, of the size of the results"), "%", []float64{size * 100}, indexBytes))
		ofPrism := "prism=" + system.Small.Slug
		rare := "q=" + fmt.Sprintf("order-%d", b.Stored/2)
		for _, calls := range []struct {
			name  string
			limit float64
			paths []string
		}{
			{"first page of the slowest q, p95", foundRows, lists(
				"", rare, "q=stolen", "q=ord*", "q=sto*", "q=%22my+card%22", "q=stolen+-order-1", "q=nothing",
			)},
			{"first page of the slowest where, p95", foundRows, lists(
				ofPrism, "where=reason:is:card", "where=reason:not:card", "where=urgent:from:0.8", "where=urgent:to:0.001",
				"where=reason.card:from:0.999&where=urgent:from:0.5", "where=reason:labelled", "where=@model:is:"+system.RareModel,
			)},
			{"first page of the slowest sort, p95", foundRows, lists(
				ofPrism, "sort=-urgent", "sort=reason.card", "sort=@took", "sort=@created", "sort=-urgent&where=reason:is:card", "sort=urgent&"+rare,
			)},
			{"counts of answers, p95", counted, []string{"/v1/results/counts?" + ofPrism + "&by=reason,urgent,@status"}},
		} {
			var slowest []float64
			for _, path := range calls.paths {
				p95, err := b.percentile(func() (float64, error) { return a.took(ctx, get, path, "", http.StatusOK) })
				if err != nil {
					return err
				}
				fmt.Fprintf(b.out, "  %s, %s: %s ms\n", a.store, path, number(median(p95)))
				if len(slowest) == 0 || median(p95) > median(slowest) {
					slowest = p95
				}
			}
			b.report.add(b.out, atMost("finding", b.what(a, calls.name), "ms", slowest, calls.limit))
		}
		return nil
	})
}

// lists are the first pages of lists by each of some parameters, with another one.
func lists(with string, parameters ...string) (paths []string) {
	for _, p := range parameters {
		paths = append(paths, "/v1/results?"+strings.TrimPrefix(with+"&"+p, "&"))
	}
	return paths
}

// indexed tells whether a search covers all results.
func (a archive) indexed(ctx context.Context) (bool, error) {
	body, err := a.Call(ctx, get, "/v1/results?q=nothing", "", http.StatusOK)
	if err != nil {
		return false, err
	}
	var page struct {
		Until *string `json:"indexed_until"`
		From  *string `json:"indexed_from"`
	}
	err = json.Unmarshal(body, &page)
	return page.Until == nil && page.From == nil, err
}
