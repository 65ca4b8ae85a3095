package service_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

func TestAnExportReadsEveryPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.prism(t, "a")
	const rows = 1203 // more than two pages of the most rows
	for i := range rows {
		s := w.save(id)
		s.Fields[0].Value = fmt.Sprint("row ", i)
		if _, err := w.Save(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	stream, err := w.Export(t.Context(), w.key, prism.Ref{Slug: "a"}, api.ExportResultsRequest{Format: contract.TSV})
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(stream.Body)
	if err := errors.Join(err, stream.Body.Close()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
	if len(lines) != rows+1 || !strings.HasPrefix(lines[0], "result_id\tref\t") {
		t.Fatalf("%d lines, the first %q", len(lines), lines[0])
	}
	for i, line := range lines[1:] {
		if !strings.Contains(line, fmt.Sprintf("\trow %d\t", i)) {
			t.Fatalf("line %d is %q", i, line)
		}
	}
}

func TestAnExportIsBoundedByTimesBetweenMilliseconds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.prism(t, "a")
	saved := w.save(id)
	doc, err := w.Save(t.Context(), saved)
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		At time.Time `json:"created_at"`
	}
	decode(t, doc, &body)
	for _, c := range []struct {
		name     string
		from, to time.Duration // from when the result was saved
		rows     int
	}{
		{"from is inclusive", 0, time.Second, 1},
		{"to is exclusive", -time.Second, 0, 0},
		{"from just after", time.Nanosecond, time.Second, 0},
		{"from just before", -time.Nanosecond, time.Second, 1},
		{"to just after", -time.Second, time.Nanosecond, 1},
		{"to just before", -time.Second, -time.Nanosecond, 0},
	} {
		stream, err := w.Export(t.Context(), w.key, prism.Ref{Slug: "a"}, api.ExportResultsRequest{
			Format:       contract.JSONL,
			ResultFilter: api.ResultFilter{From: body.At.Add(c.from), To: body.At.Add(c.to)},
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(stream.Body)
		if err := errors.Join(err, stream.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if rows := strings.Count(string(got), "\n"); rows != c.rows {
			t.Errorf("%s: %d rows, want %d", c.name, rows, c.rows)
		}
	}
}

func TestPagesOfResultsFollowEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.prism(t, "a")
	var want []string
	for range 5 {
		s := w.save(id)
		if _, err := w.Save(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		want = append([]string{s.ID.String()}, want...)
	}
	var got []string
	page, cursor := api.PageRequest{Limit: 2}, ""
	for {
		doc, err := w.ListResults(t.Context(), w.key, api.ListResultsRequest{PageRequest: page, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		var body struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
			Next *string `json:"next_cursor"`
		}
		decode(t, doc, &body)
		for _, r := range body.Data {
			got = append(got, r.ID)
		}
		if body.Next == nil {
			break
		}
		cursor = *body.Next
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	_, err := w.ListResults(t.Context(), w.key, api.ListResultsRequest{PageRequest: api.PageRequest{Limit: 2}, Cursor: "x"})
	if !errors.Is(err, apierr.Invalid(apierr.Problem{Path: "cursor", Text: "Invalid cursor"})) {
		t.Error(err)
	}
}

// inputs records whether look-ups of a result load its input.
type inputs struct {
	sqlstore.Store
	asked []store.Input
}

func (i *inputs) ResultFacts(
	ctx context.Context, key contract.KeyDigest, id prism.ResultID, in store.Input,
) (store.ResultFacts, error) {
	i.asked = append(i.asked, in)
	return i.Store.ResultFacts(ctx, key, id, in)
}

func TestOnlyTabularReadsLoadTheInputOfAResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	saved := w.save(w.prism(t, "a"))
	if _, err := w.Save(t.Context(), saved); err != nil {
		t.Fatal(err)
	}
	for f, want := range map[contract.Format]store.Input{
		contract.JSON: store.WithoutInput, contract.Raw: store.WithoutInput,
		contract.CSV: store.WithInput, contract.TSV: store.WithInput, contract.JSONL: store.WithInput,
	} {
		asked := &inputs{Store: w.store.Store}
		w.store.Store = asked
		response, err := w.Read(t.Context(), w.key, saved.ID, f)
		if err != nil || len(asked.asked) != 1 || asked.asked[0] != want {
			t.Errorf("%s loads the input: %v, want %v, %v", f, asked.asked, want, err)
		}
		if shown := strings.Contains(string(response.Body), "hello"); shown != bool(want) {
			t.Errorf("%s shows the input: %v: %s", f, shown, response.Body)
		}
	}
}

// looksAtTwo is a store whose lists look at two results.
type looksAtTwo struct{ sqlstore.Store }

func (s looksAtTwo) LookedAt(
	ctx context.Context, account prism.AccountID, f store.Filter, after prism.UUID, results int,
) (prism.UUID, error) {
	if results != 20_000 {
		return prism.UUID{}, fmt.Errorf("%d results are looked at", results)
	}
	return s.Store.LookedAt(ctx, account, f, after, 2)
}

// spec: result-list-looks
func TestAListThatLooksAtEachResultEndsAPageEarly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.prism(t, "a")
	for range 5 {
		if _, err := w.Save(t.Context(), w.save(id)); err != nil {
			t.Fatal(err)
		}
	}
	w.store.Store = looksAtTwo{w.store.Store}
	ref, none := "r", prism.KeyID{UUID: prism.UUID{9}}
	for name, c := range map[string]struct {
		list  api.ListResultsRequest
		pages []int // results of each page
	}{
		"no filter":                   {api.ListResultsRequest{}, []int{5}},
		"a prism":                     {api.ListResultsRequest{Prism: &prism.Ref{Slug: "a"}}, []int{5}},
		"failed":                      {api.ListResultsRequest{Status: prism.Failed}, []int{0}},
		"a ref and a model":           {api.ListResultsRequest{ResultFilter: api.ResultFilter{Ref: &ref, Model: "m"}}, []int{0}},
		"ok":                          {api.ListResultsRequest{Status: prism.OK}, []int{2, 2, 1}},
		"ok, one on each page":        {api.ListResultsRequest{Status: prism.OK, PageRequest: api.PageRequest{Limit: 1}}, []int{1, 1, 1, 1, 1}},
		"a version":                   {api.ListResultsRequest{ResultFilter: api.ResultFilter{Version: 1}}, []int{2, 2, 1}},
		"failed, of a prism":          {api.ListResultsRequest{Status: prism.Failed, Prism: &prism.Ref{Slug: "a"}}, []int{0, 0, 0}},
		"a model that answered none":  {api.ListResultsRequest{ResultFilter: api.ResultFilter{Model: "none"}}, []int{0, 0, 0}},
		"an API key that called none": {api.ListResultsRequest{ResultFilter: api.ResultFilter{Key: &none}}, []int{0, 0, 0}},
	} {
		if c.list.Limit == 0 {
			c.list.Limit = 50
		}
		var got []int
		for {
			response, err := w.ListResults(t.Context(), w.key, c.list)
			if err != nil {
				t.Fatal(name, err)
			}
			var page struct {
				Data   []strictjson.Value `json:"data"`
				Cursor *string            `json:"next_cursor"`
			}
			decode(t, response, &page)
			got = append(got, len(page.Data))
			if page.Cursor == nil || len(got) > 9 {
				break
			}
			c.list.Cursor = *page.Cursor
		}
		if !slices.Equal(got, c.pages) {
			t.Errorf("%s: pages of %v results, want %v", name, got, c.pages)
		}
	}
}
