package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/cmd/prism/internal/sample"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results"
)

// spec: demo-account.
func TestTheDemoFillsAnAccountWithAMonth(t *testing.T) {
	ctx := t.Context()
	cfg := results.Config{DataDir: t.TempDir()}
	plan := sample.Plan{Calls: 300, Days: 30, Until: time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)}
	var out bytes.Buffer
	if err := fill(ctx, cfg, "example", plan, "bin/prism", &out, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"example" has 300 results`) {
		t.Errorf("printed %q", out.String())
	}

	a := readAccount(t, cfg, "example")

	type row struct {
		Prism  string
		Status string
		Model  string
		At     time.Time `json:"created_at"`
	}
	var calls, failed int
	days, models := map[string]bool{}, map[string]bool{}
	for _, slug := range []string{"banking77", "support"} {
		for _, name := range []string{"words-1", "words-2"} {
			stream, err := contract.Open(ctx, a, a.key, api.ExportResults, api.ExportResultsRequest{
				PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: slug}}, Format: contract.JSONL,
				ResultFilter: api.ResultFilter{Model: name, To: plan.Until.Add(time.Hour)},
			})
			if err != nil {
				t.Fatal(err)
			}
			for lines := json.NewDecoder(stream.Body); ; {
				var r row
				if err := lines.Decode(&r); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				calls++
				if r.Status == "failed" {
					failed++
				}
				models[name] = true
				days[r.At.Format(time.DateOnly)] = true
			}
			_ = stream.Body.Close()
		}
	}
	retries := calls - plan.Calls
	if retries < 0 || retries > failed || failed == 0 || failed > calls/4 || len(models) != 2 || len(days) < 20 {
		t.Errorf("%d results, %d failed, %d retries, models %v, %d days", calls, failed, retries, models, len(days))
	}

	ended := readAs[api.Page[api.Run]](a, api.ListRuns, api.ListRunsRequest{Status: prism.RunFinished, PageRequest: api.PageRequest{Limit: 10}})
	if len(ended.Data) != 2 || ended.Data[0].OK != 800 || ended.Data[0].Labels == nil || ended.Data[0].Labels.Stored != 800 {
		t.Errorf("finished runs: %+v", ended.Data)
	}
	if err := fill(ctx, cfg, "example", plan, "bin/prism", &out, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("the demo filled an account that there is already")
	}
}

func TestArgumentsOfTheDemo(t *testing.T) {
	for _, args := range []string{"--results 0", "--results many", "--days 366", "--results 1000001", "extra", "--unknown"} {
		err := fillDemo(t.Context(), strings.Fields(args), config.Environment{}, io.Discard, io.Discard)
		if err == nil || !strings.HasPrefix(err.Error(), "usage: prism demo") {
			t.Errorf("%s: %v", args, err)
		}
	}
	var out bytes.Buffer
	if err := fillDemo(t.Context(), []string{"--help"}, config.Environment{}, &out, io.Discard); !errors.Is(err, flag.ErrHelp) || !strings.Contains(out.String(), "--account") {
		t.Errorf("--help: %v, %q", err, out.String())
	}
}
