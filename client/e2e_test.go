package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/client/prismtest"
)

const unknownID = "00000000-0000-7000-8000-000000000000"

// triage has a question of each type.
func triage(slug string) client.NewPrism {
	return client.NewPrism{Slug: slug, Name: "Triage", NewVersion: client.NewVersion{
		Definition: client.Definition{
			Instructions: "A message from a customer.",
			Fields:       []client.Field{{Key: "message", Label: "Message"}},
			Questions: []client.Question{
				{Key: "topic", Type: client.Choice, Text: "What is it about?", InsufficientInformation: true, Options: []client.Option{
					{Key: "delivery", Label: "Delivery", Description: "where it is"}, {Key: "billing", Label: "Billing"},
				}},
				{Key: "upset", Type: client.YesNo, Text: "Is the customer upset?"},
				{Key: "urgency", Type: client.Scale, Text: "How soon?", Levels: []client.Level{{Key: "low", Label: "Low"}, {Key: "high", Label: "High"}}},
			},
		},
	}}
}

func TestEveryOperation(t *testing.T) {
	t.Parallel()
	c, ctx := account(t), t.Context()

	if p, err := c.CreatePrism(ctx, triage("triage"), client.WithDryRun()); err != nil || p.Slug != "triage" {
		t.Errorf("got %+v, %v", p, err)
	}
	p, err := c.CreatePrism(ctx, triage("triage")) // a check has stored nothing
	check(t, err)
	if _, err := c.CreatePrism(ctx, triage("triage"), client.WithDryRun()); !errors.Is(err, client.ErrConflict) {
		t.Errorf("got %v", err)
	}
	if v, err := c.CreateVersion(ctx, "triage", triage("").NewVersion, client.WithDryRun()); err != nil || v.Version != 2 {
		t.Errorf("got %+v, %v", v, err)
	}
	one := client.Lens{Columns: p.Lens.Columns[:1]}
	if p, err := c.ReplaceLens(ctx, "triage", one, client.WithDryRun()); err != nil || len(p.Lens.Columns) != 1 {
		t.Errorf("got %+v, %v", p, err)
	}
	if p.Slug != "triage" || *p.Name != "Triage" || p.LatestVersion != 1 || len(p.Lens.Columns) != 6 || *p.Version.Instructions == "" ||
		len(p.Version.Questions[0].Options) != 2 || !p.Version.Questions[0].InsufficientInformation || *p.Version.Questions[2].Levels[1].Value != 2 {
		t.Errorf("got %+v", p)
	}
	again, err := c.ReadPrism(ctx, p.ID)
	check(t, err)
	wantJSON(t, again, p)

	key := client.NewIdempotencyKey()
	r, err := c.CreateResult(ctx, "triage", client.NewResult{
		Fields: map[string]string{"message": "Where is it?"}, Ref: "r-1", Context: "It snows.", Version: 1, IdempotencyKey: key,
	})
	check(t, err)
	if *r.Ref != "r-1" || r.Status != client.OK || time.Since(r.CreatedAt.Time) > time.Hour || r.Row != nil || r.Body != nil {
		t.Errorf("got %+v", r)
	}
	topic, err := r.Answers.Choice("topic")
	check(t, err)
	upset, err := r.Answers.YesNo("upset")
	check(t, err)
	urgency, err := r.Answers.Scale("urgency")
	check(t, err)
	if topic.Value != "delivery" || len(topic.Probabilities) != 3 || topic.Probabilities[2].Key != "insufficient_information" ||
		topic.Confidence <= 0 || upset.Probability != 0.75 || urgency.Level != "low" ||
		urgency.Probabilities[0] != (client.Probability{Key: "low", P: 0.75}) {
		t.Errorf("got %+v", r)
	}
	if _, err := r.Answers.Scale("topic"); err == nil || err.Error() != `client: question "topic" is of type choice, not scale` {
		t.Error(err)
	}
	repeat, err := c.CreateResult(ctx, "triage", client.NewResult{Text: "another", IdempotencyKey: key})
	check(t, err)
	wantJSON(t, repeat, r)
	var meta client.Meta
	read, err := c.ReadResult(ctx, r.ID, client.WithMeta(&meta))
	check(t, err)
	wantJSON(t, read, r)
	if meta.RequestID == "" || meta.Status != http.StatusOK || meta.Attempts != 1 || meta.Header.Get("X-Request-Id") != meta.RequestID {
		t.Errorf("got %+v", meta)
	}
	shown, err := c.ReadResult(ctx, r.ID, client.WithFormat(client.JSON))
	check(t, err)
	if topic, _ := shown.Row.Get("topic"); topic != "delivery" || shown.Row[1].Value != 0.75 || shown.Answers != nil {
		t.Errorf("got %+v", shown)
	}

	for format, want := range map[client.Format]string{
		client.JSON: `"topic":"delivery"`, client.Raw: `"probabilities":{`, client.CSV: "Delivery,0.75", client.TSV: "Delivery\t0.75", client.JSONL: `"topic":"delivery"`,
	} {
		as := client.WithFormat(format)
		read, err := c.ReadResult(ctx, r.ID, as)
		check(t, err)
		created, err := c.CreateResult(ctx, "triage", client.NewResult{Text: "x", IdempotencyKey: key}, as)
		check(t, err)
		if string(read.Body) != string(created.Body) || !strings.Contains(string(read.Body), want) {
			t.Errorf("%s: got %q and %q", format, read.Body, created.Body)
		}
		var failed *client.FailedError
		if _, err := c.CreateResult(ctx, "triage", client.NewResult{Text: prismtest.Refuse}, as); !errors.As(err, &failed) || len(failed.Body) == 0 {
			t.Errorf("%s: got %v", format, err)
		}
		if got, err := c.RetryResult(ctx, lastFailed(t, c), as); !errors.As(err, &failed) || len(failed.Body) == 0 {
			t.Errorf("%s: got %v, %v", format, got, err)
		}
	}
	var failed *client.FailedError
	if _, err = c.CreateResult(ctx, "triage", client.NewResult{Text: prismtest.Refuse}); !errors.As(err, &failed) {
		t.Fatal(err)
	}
	first := failed.Result
	if first.Status != client.Failed || first.Answers != nil || *first.Error == "" {
		t.Errorf("got %+v", first)
	}
	if _, err = c.RetryResult(ctx, first.ID); !errors.As(err, &failed) || failed.Result.ID == first.ID {
		t.Errorf("got %v", err)
	}

	v, err := c.CreateVersion(ctx, "triage", client.NewVersion{
		Definition: client.Definition{
			Fields: p.Version.Fields, Questions: p.Version.Questions[1:2],
		},
	})
	check(t, err)
	stored, err := c.ReadVersion(ctx, "triage", 2)
	check(t, err)
	wantJSON(t, stored, v)
	lens := client.Lens{Columns: []client.Column{{Name: "Upset", Question: "upset", Show: client.ShowAnswer, YesAt: new(0.9), NoAt: new(0.1)}}}
	p, err = c.ReplaceLens(ctx, "triage", lens)
	check(t, err)
	wantJSON(t, p.Lens, lens)
	shown, err = c.ReadResult(ctx, r.ID, client.WithFormat(client.JSON))
	if err != nil || shown.Row[0] != (client.Cell{Column: "Upset", Value: "unsure"}) {
		t.Errorf("got %+v, %v", shown, err)
	}

	p, err = c.ArchivePrism(ctx, "triage")
	check(t, err)
	if p.ArchivedAt == nil {
		t.Error("it is not archived")
	}
	wantSlugs(t, c, client.PrismFilter{Archived: true}, "triage")
	wantSlugs(t, c, client.PrismFilter{})
	p, err = c.UnarchivePrism(ctx, "triage")
	check(t, err)
	if p.ArchivedAt != nil {
		t.Error("it is archived")
	}
	wantSlugs(t, c, client.PrismFilter{}, "triage")

	made, err := c.CreateKey(ctx, client.NewKey{Name: "another"})
	check(t, err)
	other := connect(t, made.Key.Reveal())
	var keys []client.APIKey
	for k, err := range other.Keys(ctx) {
		check(t, err)
		keys = append(keys, k)
	}
	if len(keys) != 2 || keys[0].ID != made.ID || keys[0].Name != "another" || keys[0].Role != client.Owner ||
		!strings.HasPrefix(made.Key.Reveal(), keys[0].Prefix) {
		t.Errorf("got %+v", keys)
	}
	revoked, err := c.RevokeKey(ctx, made.ID)
	check(t, err)
	if revoked.RevokedAt == nil {
		t.Error("it is not revoked")
	}
	if _, err := other.ListKeys(ctx, client.PageOptions{}); !errors.Is(err, client.ErrUnauthorized) {
		t.Error(err)
	}
	wantActions(t, c, client.AuditFilter{Actor: keys[1].ID, From: keys[0].CreatedAt.Time}, client.KeyCreate, client.KeyRevoke)
	wantActions(t, c, client.AuditFilter{Actor: "operator", To: keys[0].CreatedAt.Time}, client.AccountCreate, client.KeyCreate)
}

func wantActions(t *testing.T, c *client.Client, f client.AuditFilter, want ...client.AuditAction) {
	t.Helper()
	var got []client.AuditAction
	for e, err := range c.Audit(t.Context(), f) {
		check(t, err)
		got = append(got, e.Action)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func lastFailed(t *testing.T, c *client.Client) string {
	t.Helper()
	page, err := c.ListResults(t.Context(), client.ResultFilter{Status: client.Failed}, client.PageOptions{Limit: 1})
	check(t, err)
	return page.Data[0].ID
}

func TestListsAndExports(t *testing.T) {
	t.Parallel()
	c, ctx := account(t), t.Context()
	_, err := c.CreatePrism(ctx, triage("one"))
	check(t, err)
	_, err = c.CreatePrism(ctx, triage("two"))
	check(t, err)
	const n = 105 // more than a page
	var ids []string
	var last client.Result
	for i := range n {
		last, err = c.CreateResult(ctx, "one", client.NewResult{Text: "x", Ref: fmt.Sprint("r", i%2)})
		check(t, err)
		ids = append(ids, last.ID)
	}
	listed := func(f client.ResultFilter) (got []string) {
		for r, err := range c.Results(ctx, f) {
			check(t, err)
			got = append(got, r.ID)
		}
		return got
	}
	got := listed(client.ResultFilter{})
	slices.Sort(got)
	slices.Sort(ids)
	if !slices.Equal(got, ids) {
		t.Errorf("got %d results, want %d", len(got), n)
	}
	for want, f := range map[int]client.ResultFilter{
		n: {Prism: "one"}, 0: {Prism: "two"}, n - n/2: {Ref: "r0"}, n / 2: {Prism: "one", Ref: "r1", Status: client.OK},
	} {
		if got := listed(f); len(got) != want {
			t.Errorf("%+v: got %d results, want %d", f, len(got), want)
		}
	}
	if got := listed(client.ResultFilter{Status: client.Failed}); got != nil {
		t.Error("none has failed")
	}
	for r, err := range c.Results(ctx, client.ResultFilter{}) {
		check(t, err)
		if topic, err := r.Answers.Choice("topic"); err != nil || topic.Value != "delivery" || r.Row != nil {
			t.Errorf("got %+v, %v", r, err)
		}
		break // a loop may end early
	}
	for r, err := range c.Results(ctx, client.ResultFilter{}, client.WithFormat(client.JSON)) {
		check(t, err)
		if topic, _ := r.Row.Get("topic"); topic != "delivery" || r.Answers != nil {
			t.Errorf("got %+v", r)
		}
		break
	}
	for _, err := range c.Results(ctx, client.ResultFilter{Prism: "none"}) {
		if !errors.Is(err, client.ErrNotFound) {
			t.Error(err)
		}
	}
	page, err := c.ListPrisms(ctx, client.PrismFilter{}, client.PageOptions{Limit: 1})
	check(t, err)
	next, err := c.ListPrisms(ctx, client.PrismFilter{}, client.PageOptions{Limit: 1, Cursor: *page.NextCursor})
	check(t, err)
	got = []string{page.Data[0].Slug, next.Data[0].Slug} // made in one millisecond, they may stand in any order
	if slices.Sort(got); !slices.Equal(got, []string{"one", "two"}) || next.NextCursor != nil {
		t.Errorf("got %v, %v", got, next.NextCursor)
	}

	for format, lines := range map[client.Format]int{"": n + 1, client.CSV: n + 1, client.TSV: n + 1, client.JSONL: n} {
		stream, err := c.ExportResults(ctx, "one", client.Export{Format: format, Status: client.OK})
		check(t, err)
		if got := strings.Count(text(t, stream), "\n"); got != lines {
			t.Errorf("%s: got %d lines, want %d", format, got, lines)
		}
	}
	type exported struct {
		ID    string   `json:"result_id"`
		Ref   string   `json:"ref"`
		Text  string   `json:"message"`
		Topic string   `json:"topic"`
		Upset *float64 `json:"upset_probability"`
	}
	got = nil
	for row, err := range client.Rows[exported](c.ExportResults(ctx, "one", client.Export{Format: client.JSONL})) {
		check(t, err)
		if row.Text != "x" || row.Topic != "delivery" || *row.Upset != 0.75 || !strings.HasPrefix(row.Ref, "r") {
			t.Errorf("got %+v", row)
		}
		got = append(got, row.ID)
	}
	if slices.Sort(got); !slices.Equal(got, ids) {
		t.Errorf("got %d rows, want %d", len(got), n)
	}
	for _, err := range client.Rows[exported](c.ExportResults(ctx, "none", client.Export{Format: client.JSONL})) {
		if !errors.Is(err, client.ErrNotFound) {
			t.Error(err)
		}
	}
	stream, err := c.ExportResults(ctx, "one", client.Export{Format: client.JSONL, From: last.CreatedAt.Time, To: last.CreatedAt.Add(time.Millisecond)})
	check(t, err)
	if got := text(t, stream); !strings.Contains(got, last.ID) || strings.Count(got, "\n") > 5 {
		t.Errorf("got %s", got)
	}
}

// TestTheServedDocumentIsTheOneTheClientIsTestedAgainst ties the running binary to the drift tests.
func TestTheServedDocumentIsTheOneTheClientIsTestedAgainst(t *testing.T) {
	t.Parallel()
	res, err := http.Get(server.URL + "/openapi.json")
	check(t, err)
	var served, tested any
	check(t, json.NewDecoder(res.Body).Decode(&served))
	_ = res.Body.Close()
	check(t, json.Unmarshal(document(t), &tested))
	wantJSON(t, served, tested)
}

// document is the OpenAPI document that the drift tests read.
func document(t *testing.T) []byte {
	t.Helper()
	root, err := prismtest.Root()
	check(t, err)
	b, err := os.ReadFile(filepath.Join(root, "services/gateway/internal/apidoc/openapi.json"))
	check(t, err)
	return b
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantJSON(t *testing.T, got, want any) {
	t.Helper()
	g, err := json.Marshal(got)
	check(t, err)
	w, err := json.Marshal(want)
	check(t, err)
	if string(g) != string(w) {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

func text(t *testing.T, r io.ReadCloser) string {
	t.Helper()
	b, err := io.ReadAll(r)
	check(t, err)
	check(t, r.Close())
	return string(b)
}

func wantSlugs(t *testing.T, c *client.Client, f client.PrismFilter, want ...string) {
	t.Helper()
	var got []string
	for p, err := range c.Prisms(t.Context(), f) {
		check(t, err)
		got = append(got, p.Slug)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
