package service_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

const tickets = "text,ref,note\nhello,a,first\n,,second\n\"two\nlines\",c,\n"

func newRun(file prism.FileID) api.NewRun {
	return api.NewRun{
		File: file, Fields: []api.FieldColumn{{Field: "text", Column: "text"}}, Ref: "ref", Context: "note", Name: "March",
	}
}

// run makes a run of the prism a and the file tickets.
func (w *world) run(t *testing.T) (prism.RunID, prism.PrismID) {
	t.Helper()
	id := w.prism(t, "a")
	made, err := w.CreateRun(t.Context(), w.key, prism.Ref{Slug: "a"}, newRun(w.ready(t, []byte(tickets)).ID))
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		ID prism.RunID `json:"id"`
	}
	decode(t, made, &body)
	return body.ID, id
}

func (w *world) leased(t *testing.T) *contract.Chunk {
	t.Helper()
	chunk, err := w.LeaseChunk(t.Context(), prism.UUID{1})
	if err != nil || chunk == nil {
		t.Fatalf("leased %v, %v", chunk, err)
	}
	return chunk
}

// answered saves that rows of a chunk were answered, or failed, which ends the lease.
func (w *world) answered(t *testing.T, c *contract.Chunk, outcomes ...contract.Outcome) {
	t.Helper()
	s := contract.SaveRows{Lease: c.Lease, Done: true}
	for i, o := range outcomes {
		row := c.Rows[i]
		s.Rows = append(s.Rows, contract.RowOutcome{Row: row.Row, Save: &contract.Save{
			Account: c.Facts.Account, ID: row.ID, Prism: c.Facts.Prism, Version: c.Facts.Version.Number, Ref: row.Ref,
			Context: row.Context, Fields: row.Fields, RetryOf: row.RetryOf, Key: c.Facts.Key, Outcome: o,
		}, RowLabels: row.RowLabels})
	}
	before := w.ended.Load()
	if err := w.SaveRows(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if n := w.ended.Load() - before; n != 1 {
		t.Errorf("%d ends of leases were told", n)
	}
}

func used(tokens, cost int64, failed string) contract.Outcome {
	o := contract.Outcome{Answers: []byte(`{"q":{"type":"yes_no","probability":0.75}}`), TookMS: 5, Call: &prism.ModelCall{
		Name: "fast", Usage: prism.Usage{InputTokens: &tokens, Cost: &cost, Currency: "EUR"},
	}}
	if failed != "" {
		o.Answers, o.Error = nil, failed
	}
	return o
}

// spec: run-members, run-usage, run-results
func TestARunIsMadeAnsweredAndShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, _ := w.run(t)
	show := func() string {
		t.Helper()
		r, err := w.FileRun(t.Context(), w.key, id)
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Body)
	}
	for _, part := range []string{
		`{"id":"` + id.String() + `","name":"March","prism":"a","version":1,"file_id":"`,
		`"status":"queued","reason":null,"rows":3,"ok":0,"failed":0,"invalid":0,"cancelled":0,"pending":3,"labels":null,"rows_per_second_now":0,` +
			`"eta_seconds":null,"usage":{"input_tokens":0,"output_tokens":0,"cost":null,"currency":null},"created_at":"2027-`,
		`"started_at":null,"finished_at":null}`,
	} {
		if got := show(); !strings.Contains(got, part) {
			t.Errorf("got %s, want %s", got, part)
		}
	}
	c := w.leased(t)
	w.answered(t, c, used(10, 500_000_000_000, ""), used(20, 500_000_000_000, "It failed."))
	for _, part := range []string{
		`"status":"running","reason":null,"rows":3,"ok":1,"failed":1,"invalid":0,"cancelled":0,"pending":1,"labels":null,"rows_per_second_now":2,` +
			`"eta_seconds":1,"usage":{"input_tokens":30,"output_tokens":0,"cost":1,"currency":"EUR"}`,
	} {
		if got := show(); !strings.Contains(got, part) {
			t.Errorf("got %s, want %s", got, part)
		}
	}
	list := api.ListResultsRequest{ResultFilter: api.ResultFilter{Run: &id}, PageRequest: api.PageRequest{Limit: 1}}
	var refs []string
	for {
		r, err := w.ListResults(t.Context(), w.key, list)
		if err != nil {
			t.Fatal(err)
		}
		var body struct {
			Data []struct {
				Ref string `json:"ref"`
			} `json:"data"`
			NextCursor string `json:"next_cursor"`
		}
		decode(t, r, &body)
		for _, d := range body.Data {
			refs = append(refs, d.Ref)
		}
		if list.Cursor = body.NextCursor; body.NextCursor == "" {
			break
		}
	}
	if fmt.Sprintf("%q", refs) != `["a" ""]` {
		t.Errorf("the results have the refs %q", refs)
	}
	record, err := w.Record(t.Context(), w.key, c.Rows[1].ID)
	if want := `"run_id":"` + id.String() + `","run_row":2`; err != nil || !strings.Contains(string(record.Body), want) {
		t.Errorf("got %s, %v, want %s", record.Body, err, want)
	}
	runs, err := w.ListRuns(t.Context(), w.key, prism.RunRunning, 5)
	if err != nil || !strings.Contains(string(runs.Body), id.String()) {
		t.Errorf("got %s, %v", runs.Body, err)
	}
}

// spec: run-row-values, row-result-id
func TestALeaseHasTheRowsThatWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, of := w.run(t)
	c := w.leased(t)
	text := func(r contract.ChunkRow) string {
		ref := "none"
		if r.Ref != nil {
			ref = *r.Ref
		}
		return fmt.Sprintf("%d %q %q %q", r.Row, r.Fields[0].Value, ref, r.Context)
	}
	var got []string
	for _, r := range c.Rows {
		got = append(got, text(r))
	}
	if want := `[1 "hello" "a" "first" 2 "" "" "second" 3 "two\nlines" "c" ""]`; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if c.Facts.Prism != of || c.Facts.Version.Number != 1 || c.Facts.Archived || c.Run != id {
		t.Errorf("got %+v of run %s", c.Facts, c.Run)
	}
	w.answered(t, c, used(1, 1, "It failed."))
	if again := w.leased(t); len(again.Rows) != 2 || again.Rows[0].ID != c.Rows[1].ID {
		t.Errorf("the second lease has %+v", again.Rows)
	} else {
		w.answered(t, again, used(1, 1, ""), used(1, 1, ""))
	}
	if _, err := w.ActOnRun(t.Context(), w.key, id, api.RetryRun); err != nil {
		t.Fatal(err)
	}
	if retry := w.leased(t); len(retry.Rows) != 1 || *retry.Rows[0].RetryOf != c.Rows[0].ID {
		t.Errorf("the retry has %+v", retry.Rows)
	}
}

// A column that is the value of several fields makes rows larger than they are in the file.
//
// spec: run-chunks
func TestALeaseHasAsManyRowsAsHaveTheBytesOfAChunk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rows, bytes int   // of the file
		leases      []int // rows
	}{
		{6, contract.ChunkBytes / 6, []int{2, 2, 2}}, // each row has half a chunk
		{2, contract.ChunkBytes / 3, []int{1, 1}},    // or a whole one
		{5, 10, []int{5}},
	} {
		w := newWorld(t)
		_, err := w.CreatePrism(t.Context(), w.key, api.NewPrism{
			Slug: "a", NewVersion: api.NewVersion{Definition: definition("one", "two", "three")},
		})
		if err != nil {
			t.Fatal(err)
		}
		run := api.NewRun{File: w.ready(t, []byte("text\n"+strings.Repeat(strings.Repeat("x", c.bytes-4)+"\n", c.rows))).ID, Context: "the same"}
		for _, field := range []string{"one", "two", "three"} {
			run.Fields = append(run.Fields, api.FieldColumn{Field: field, Column: "text"})
		}
		if _, err := w.CreateRun(t.Context(), w.key, prism.Ref{Slug: "a"}, run); err != nil {
			t.Fatal(err)
		}
		var leases []int
		next := int64(1)
		for {
			chunk, err := w.LeaseChunk(t.Context(), prism.UUID{1})
			if err != nil {
				t.Fatal(err)
			}
			if chunk == nil {
				break
			}
			if chunk.Rows[0].Row != next {
				t.Errorf("a lease begins with row %d, not %d", chunk.Rows[0].Row, next)
			}
			next += int64(len(chunk.Rows))
			leases = append(leases, len(chunk.Rows))
			w.answered(t, chunk, slices.Repeat([]contract.Outcome{used(1, 1, "")}, len(chunk.Rows))...)
		}
		if !slices.Equal(leases, c.leases) {
			t.Errorf("%d rows of %d bytes: leases of %v rows, want %v", c.rows, c.bytes, leases, c.leases)
		}
	}
}

// spec: run-checks, run-dry-run
func TestARunIsCheckedAsItsCallsWouldBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prism(t, "a")
	w.prism(t, "archived")
	if _, err := w.SetArchived(t.Context(), w.key, prism.Ref{Slug: "archived"}, true); err != nil {
		t.Fatal(err)
	}
	file := w.ready(t, []byte(tickets)).ID
	column := func(field, column string) func(*api.NewRun) {
		return func(n *api.NewRun) { n.Fields = []api.FieldColumn{{Field: field, Column: column}} }
	}
	for name, c := range map[string]struct {
		prism string
		with  func(*api.NewRun)
		want  error
	}{
		"another prism":   {"b", func(*api.NewRun) {}, apierr.PrismNotFound()},
		"an archived one": {"archived", func(*api.NewRun) {}, apierr.PrismNotFound()},
		"another version": {"a", func(n *api.NewRun) { n.Version = 2 }, apierr.VersionNotFound()},
		"another file":    {"a", func(n *api.NewRun) { n.File = prism.FileID{UUID: w.id()} }, apierr.FileNotFound()},
		"an upload":       {"a", func(n *api.NewRun) { n.File = w.upload(t, 5, nil).ID }, apierr.FileNotReady()},
		"no field":        {"a", func(n *api.NewRun) { n.Fields = nil }, apierr.MissingFields([]string{"text"})},
		"an unknown field": {"a", func(n *api.NewRun) {
			n.Fields = append(n.Fields, api.FieldColumn{Field: "zulu", Column: "text"})
		}, apierr.UnknownFields([]string{"zulu"})},
		"no column": {"a", column("text", "Text"), apierr.Invalid(apierr.Problem{Path: "fields.text", Text: "No such column"})},
		"no ref":    {"a", func(n *api.NewRun) { n.Ref = "x" }, apierr.Invalid(apierr.Problem{Path: "ref", Text: "No such column"})},
	} {
		n := newRun(file)
		c.with(&n)
		if _, err := w.CreateRun(t.Context(), w.key, prism.Ref{Slug: c.prism}, n); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if _, err := w.PlanRun(t.Context(), w.key, prism.Ref{Slug: c.prism}, n); !errors.Is(err, c.want) {
			t.Errorf("the plan of %s: got %v, want %v", name, err, c.want)
		}
	}
	plan, err := w.PlanRun(t.Context(), w.key, prism.Ref{Slug: "a"}, newRun(file))
	if err != nil || plan.Rows != 3 || plan.Chunks != 1 || plan.Version.Number != 1 {
		t.Errorf("the plan is %+v, %v", plan, err)
	}
	rows, err := w.PlanRows(t.Context(), w.key, contract.PlanRows{Prism: prism.Ref{Slug: "a"}, Run: newRun(file)})
	if err != nil || len(rows) != 3 || rows[2].Row != 3 || rows[0].Fields[0].Value != "hello" {
		t.Errorf("the rows are %+v, %v", rows, err)
	}
	if runs, err := w.ListRuns(t.Context(), w.key, "", 5); err != nil ||
		!strings.HasPrefix(string(runs.Body), `{"data":[]`) {
		t.Errorf("a plan made %s, %v", runs.Body, err)
	}
}

// spec: run-idempotency
func TestAnIdempotencyKeyMakesOneRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prism(t, "a")
	w.prism(t, "b")
	n := newRun(w.ready(t, []byte(tickets)).ID)
	n.IdempotencyKey = "nightly"
	first, err := w.CreateRun(t.Context(), w.key, prism.Ref{Slug: "a"}, n)
	if err != nil {
		t.Fatal(err)
	}
	n.File = prism.FileID{} // deleted since
	if again, err := w.CreateRun(t.Context(), w.key, prism.Ref{Slug: "a"}, n); err != nil || string(again.Body) != string(first.Body) {
		t.Errorf("got %s, %v, want %s", again.Body, err, first.Body)
	}
	if _, err := w.CreateRun(t.Context(), w.key, prism.Ref{Slug: "b"}, n); !errors.Is(err, apierr.KeyOfAnotherPrism()) {
		t.Error(err)
	}
}

// spec: run-states, run-limits, run-retry
func TestActionsOnARunSayWhyNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, _ := w.run(t)
	act := func(a api.Op[api.RunRequest, api.Run]) (string, error) {
		r, err := w.ActOnRun(t.Context(), w.key, id, a)
		return string(r.Body), err
	}
	if _, err := act(api.RetryRun); !errors.Is(err, apierr.NoFailedRows()) {
		t.Error(err)
	}
	rate := 5.
	if _, err := w.SetRunLimits(t.Context(), w.key, id, api.RunLimits{RowsPerSecond: &rate}); err != nil {
		t.Error(err)
	}
	c := w.leased(t)
	if c.RowsPerSecond != rate {
		t.Errorf("the lease has %v", c.RowLimits)
	}
	if body, err := act(api.PauseRun); err != nil || !strings.Contains(body, `"status":"pausing"`) {
		t.Errorf("%s, %v", body, err)
	}
	if states, err := w.RenewLeases(t.Context(), []contract.Lease{c.Lease}); err != nil || !states[0].Stop {
		t.Errorf("%+v, %v", states, err)
	}
	w.clock.Add(runs.StopWait.Milliseconds())
	if _, err := w.store.TendRuns(t.Context(), time.UnixMilli(w.clock.Load())); err != nil {
		t.Fatal(err)
	}
	if err := w.SaveRows(t.Context(), contract.SaveRows{Lease: c.Lease}); !errors.Is(err, contract.ErrLeaseLost) {
		t.Error(err)
	}
	if body, err := act(api.CancelRun); err != nil || !strings.Contains(body, `"status":"cancelled"`) {
		t.Errorf("%s, %v", body, err)
	}
	if _, err := act(api.ResumeRun); !errors.Is(err, apierr.RunOver()) {
		t.Error(err)
	}
	id = prism.RunID{UUID: w.id()}
	if _, err := act(api.PauseRun); !errors.Is(err, apierr.RunNotFound()) {
		t.Error(err)
	}
}

// crowded is a store of an account that has as many runs and deletions as it may have.
type crowded struct{ sqlstore.Store }

func (crowded) CreateRun(context.Context, prism.AccountID, runs.Run, store.By) (runs.Run, error) {
	return runs.Run{}, store.ErrTooManyRuns
}

func (crowded) AddDeletion(context.Context, deletion.Job, string, int64, store.By) error {
	return store.ErrTooManyDeletions
}

// spec: runs-not-over, deletions-under-way
func TestAnAccountIsToldOfWhatItHasTooMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.prism(t, "a")
	w.saved(t, w.save(of))
	n := newRun(w.ready(t, []byte(tickets)).ID)
	w.store.Store = crowded{w.store.Store}
	if _, err := w.CreateRun(t.Context(), w.key, prism.Ref{ID: of}, n); !errors.Is(err, apierr.TooManyRuns()) {
		t.Errorf("a run: %v", err)
	}
	in := api.DeleteResultsRequest{PrismRequest: api.PrismRequest{Prism: prism.Ref{ID: of}}, ResultDeletion: api.ResultDeletion{Status: prism.OK}}
	if _, err := w.Do(t.Context(), w.key, api.DeleteResults, &in); !errors.Is(err, apierr.TooManyDeletions()) {
		t.Errorf("a deletion: %v", err)
	}
}
