package service_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// paging is a store whose exports have as many rows as left says. It reports the size of each page.
type paging struct {
	sqlstore.Store
	row     prism.Result
	left    int
	fetched func(rows int)
}

func (p *paging) ExportResults(
	_ context.Context, _ prism.AccountID, _ prism.PrismID, _ store.Filter, page store.Page,
) ([]prism.Result, error) {
	rows := make([]prism.Result, min(page.Limit, p.left))
	for i := range rows {
		rows[i] = p.row
	}
	p.left -= len(rows)
	p.fetched(len(rows))
	return rows, nil
}

// spec: export-is-streamed
func TestAnExportHoldsOneBoundedPageAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const total = 2000
	read, fetched := -1, 0 // rows; the header is the first line
	w.store.Store = &paging{
		Store: w.store.Store, left: total, row: prism.Result{Prism: w.prism(t, "a"), Version: 1, Status: prism.Failed},
		fetched: func(rows int) {
			if read != fetched {
				t.Errorf("a page was fetched when %d of %d fetched rows were read", read, fetched)
			}
			if rows > 500 {
				t.Errorf("a page has %d rows", rows)
			}
			fetched += rows
		},
	}
	stream, err := w.Export(t.Context(), w.key, prism.Ref{Slug: "a"}, api.ExportResultsRequest{Format: contract.TSV})
	if err != nil {
		t.Fatal(err)
	}
	for buffer := make([]byte, 100); err == nil; {
		var n int
		n, err = stream.Body.Read(buffer)
		read += bytes.Count(buffer[:n], []byte("\n"))
	}
	if err := stream.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, io.EOF) || read != total || fetched != total {
		t.Errorf("%d rows fetched and %d read of %d: %v", fetched, read, total, err)
	}
}

// sized is a store whose exports have a row of each size.
type sized struct {
	sqlstore.Store
	row   prism.Result
	sizes []int
	asked []int // rows of each page
}

func (s *sized) ExportResults(
	_ context.Context, _ prism.AccountID, _ prism.PrismID, _ store.Filter, page store.Page,
) (rows []prism.Result, err error) {
	s.asked = append(s.asked, page.Limit)
	total := 0
	for len(s.sizes) > 0 && len(rows) < page.Limit {
		r := s.row
		r.Fields = []prism.FieldValue{{Key: s.row.Fields[0].Key, Value: strings.Repeat("x", s.sizes[0])}}
		if total += store.Size(r); total > store.PageBytes && len(rows) > 0 {
			break
		}
		rows, s.sizes = append(rows, r), s.sizes[1:]
	}
	return rows, nil
}

// An export that nobody reads holds its page and little more, whatever the results are.
//
// spec: export-is-streamed
func TestAnExportHoldsLittleMemory(t *testing.T) {
	t.Parallel()
	const large = 1 << 20
	for name, c := range map[string]struct {
		size, rows int
		most       int   // bytes
		asked      []int // rows of the first pages
	}{
		"small rows":           {100, 3000, store.PageBytes + 64<<10, []int{8, 16, 32, 64, 128, 256, 500, 500}},
		"rows of half a page":  {store.PageBytes/2 - 100, 20, store.PageBytes + 64<<10, []int{8, 2, 2}},
		"rows beyond the page": {large, 5, 2 * large, []int{8, 1, 1, 1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.prism(t, "a")
			rows := &sized{
				Store: w.store.Store, row: prism.Result{Prism: id, Version: 1, Status: prism.Failed, Fields: w.save(id).Fields},
			}
			for range c.rows {
				rows.sizes = append(rows.sizes, c.size)
			}
			w.store.Store = rows
			stream, err := w.Export(t.Context(), w.key, prism.Ref{Slug: "a"}, api.ExportResultsRequest{Format: contract.TSV})
			if err != nil {
				t.Fatal(err)
			}
			most, lines := 0, 0
			for buffer := make([]byte, 1000); err == nil; {
				var n int
				n, err = stream.Body.Read(buffer)
				lines += bytes.Count(buffer[:n], []byte("\n"))
				most = max(most, stream.Body.(interface{ HeldBytes() int }).HeldBytes())
			}
			if !errors.Is(err, io.EOF) || lines != c.rows+1 || most > c.most || most < c.size {
				t.Errorf("%d lines, at most %d bytes, want %d: %v", lines, most, c.most, err)
			}
			if got := rows.asked[:min(len(rows.asked), len(c.asked))]; !slices.Equal(got, c.asked) {
				t.Errorf("pages of %v, want %v", got, c.asked)
			}
		})
	}
}

// spec: labels-of-the-answering-version
func TestAnExportHasTheLabelsOfEachRowsVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	labelled := func(label string) api.NewVersion {
		return api.NewVersion{Definition: prism.Definition{Questions: []prism.Question{{
			Key: "q", Type: prism.Choice, Text: "Which?", Options: []prism.Option{{Key: "a", Label: label}, {Key: "b", Label: "B"}},
		}}}}
	}
	created, err := w.CreatePrism(t.Context(), w.key, api.NewPrism{Slug: "a", NewVersion: labelled("first")})
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		ID prism.PrismID `json:"id"`
	}
	decode(t, created, &body)
	if _, err := w.AddVersion(t.Context(), w.key, prism.Ref{Slug: "a"}, labelled("second")); err != nil {
		t.Fatal(err)
	}
	for _, version := range []int32{1, 2, 1} {
		s := w.save(body.ID)
		s.Version, s.Fields = version, nil
		s.Outcome.Answers = answerjson.Append(nil, prism.Answers{{
			Question: "q", Type: prism.Choice, Chosen: "a", Confidence: 1,
			Probabilities: []prism.KeyProbability{{Key: "a", Probability: 1}, {Key: "b"}, {Key: "insufficient_information"}},
		}})
		if _, err := w.Save(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	stream, err := w.Export(t.Context(), w.key, prism.Ref{Slug: "a"}, api.ExportResultsRequest{Format: contract.TSV})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := io.ReadAll(stream.Body)
	if err != nil {
		t.Fatal(err)
	}
	labels := regexp.MustCompile(`\t(first|second)\t`).FindAllString(string(rows), -1)
	if got := strings.Join(labels, ""); got != "\tfirst\t\tsecond\t\tfirst\t" {
		t.Errorf("got %q of %s", got, rows)
	}
}
