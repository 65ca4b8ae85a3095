package service_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
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
	stream, err := w.Export(t.Context(), w.key, contract.Export{Prism: prism.Ref{Slug: "a"}, Format: contract.TSV})
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
		stream, err := w.Export(t.Context(), w.key, contract.Export{
			Prism: prism.Ref{Slug: "a"}, Format: contract.JSONL,
			ResultFilter: contract.ResultFilter{From: body.At.Add(c.from), To: body.At.Add(c.to)},
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
	page := contract.Page{Limit: 2}
	for {
		doc, err := w.ListResults(t.Context(), w.key, contract.ResultList{Page: page})
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
		page.Cursor = *body.Next
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	_, err := w.ListResults(t.Context(), w.key, contract.ResultList{Page: contract.Page{Limit: 2, Cursor: "x"}})
	if !errors.Is(err, apierr.Invalid(apierr.Problem{Path: "cursor", Text: "Invalid cursor"})) {
		t.Error(err)
	}
}

// inputs records whether look-ups of a result load its input.
type inputs struct {
	store.Store
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
