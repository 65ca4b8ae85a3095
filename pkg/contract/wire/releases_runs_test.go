package wire_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/prism"
)

// The previous release has no files and no runs, and ignores the run of a list.
// spec: error-service-unavailable
func TestThePreviousReleaseHasNoFilesAndNoRuns(t *testing.T) {
	t.Parallel()
	url := serve(t, func(app *fiber.App, _ *slog.Logger) {
		for _, path := range []string{"/internal/list-results", "/internal/list-results-filtered", "/internal/export", "/internal/export-filtered"} {
			app.Post(path, func(c *fiber.Ctx) error { return c.SendString("{}") })
		}
	})
	c := resultsAt(t, url)
	var key contract.KeyDigest
	ofRun := contract.ResultFilter{Run: new(prism.RunID)}
	_, create := c.CreateFile(t.Context(), key, contract.NewFile{})
	_, part := c.PutPart(t.Context(), key, contract.FilePart{})
	_, complete := c.CompleteFile(t.Context(), key, prism.FileID{})
	_, files := c.ListFiles(t.Context(), key, contract.Page{})
	_, file := c.File(t.Context(), key, prism.FileID{})
	_, preview := c.FileRows(t.Context(), key, prism.FileID{}, contract.FileRows{})
	_, remove := c.DeleteFile(t.Context(), key, prism.FileID{})
	_, plan := c.PlanRun(t.Context(), key, prism.Ref{}, contract.NewRun{})
	_, planned := c.PlanRows(t.Context(), key, contract.PlanRows{})
	_, start := c.CreateRun(t.Context(), key, prism.Ref{}, contract.NewRun{})
	_, runs := c.ListRuns(t.Context(), key, contract.RunList{})
	_, run := c.FileRun(t.Context(), key, prism.RunID{})
	_, act := c.ActOnRun(t.Context(), key, prism.RunID{}, contract.PauseRun)
	_, limits := c.SetRunLimits(t.Context(), key, prism.RunID{}, contract.RunLimits{})
	_, rows := c.RunRows(t.Context(), key, prism.RunID{}, contract.RunRows{})
	_, lease := c.LeaseChunk(t.Context(), prism.UUID{})
	_, renew := c.RenewLeases(t.Context(), nil)
	_, list := c.ListResults(t.Context(), key, contract.ResultList{ResultFilter: ofRun})
	_, export := c.Export(t.Context(), key, contract.Export{ResultFilter: ofRun})
	for i, err := range []error{
		create, part, complete, files, file, preview, remove, plan, planned, start, runs, run, act, limits, rows, lease, renew,
		c.SaveRows(t.Context(), contract.SaveRows{}), list, export,
	} {
		if !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// The previous release knows no rows of runs: it answers them as calls, and never says that a model is overloaded or that calls come.
// spec: run-leaves-places, run-slows-down, run-yields
func TestThePreviousReleaseIsAskedInTheBackground(t *testing.T) {
	t.Parallel()
	var taken atomic.Int64
	url := serve(t, func(app *fiber.App, _ *slog.Logger) {
		app.Post("/internal/ask", func(c *fiber.Ctx) error {
			taken.Add(1)
			return c.SendString(`{"Error":"no","TookMS":7}`)
		})
	})
	d := prism.Definition{}
	hash, _ := contract.HashDefinition(d)
	got, err := dialModels(t, url).Ask(t.Context(), contract.Ask{Definition: d, Hash: hash, Background: true})
	if err != nil || got.Error != "no" || got.Overloaded || got.CallsCome || taken.Load() != 1 {
		t.Errorf("got %+v, %v of %d calls", got, err, taken.Load())
	}
}

// A worker and a gateway of an earlier build know no repeated values, and send parts as base64 in JSON.
// spec: run-chunks, file-parts
func TestAnEarlierBuildGetsWholeRowsAndSendsPartsInJSON(t *testing.T) {
	t.Parallel()
	far := &wide{rows: []contract.ChunkRow{{Row: 1, Fields: []prism.FieldValue{{Key: "a", Value: "same"}, {Key: "b", Value: "same"}}}}}
	url := serve(t, func(app *fiber.App, log *slog.Logger) { wire.MountResults(app, far, tokens(token), log) })
	call := func(path, body string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d, %v, %s", path, resp.StatusCode, err, got)
		}
		return string(got)
	}
	for path, args := range map[string]string{"/internal/lease-chunk": `{"Worker":"00000000-0000-0000-0000-000000000001"}`, "/internal/plan-rows": "{}"} {
		if got := call(path, args); strings.Count(got, "same") != 2 {
			t.Errorf("%s: %s", path, got)
		}
	}
	call("/internal/put-part", `{"Part":{"Number":7,"Data":"AQI="}}`)
	if far.part.Number != 7 || string(far.part.Data) != "\x01\x02" {
		t.Errorf("got the part %+v", far.part)
	}
}
