package service_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
)

// large is a definition whose instructions have so many bytes.
func large(bytes int) prism.Definition {
	d := definition("text")
	d.Instructions = strings.Repeat("x", bytes)
	return d
}

// spec: page-bytes, prism-list, version-list
func TestAPageOfDefinitionsEndsAtFourMiB(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const most = 4 << 20
	ref := prism.Ref{Slug: "p0"}
	sizes := []int{1, most / 4, most / 4, most / 4, most / 4, most/4 - 4000, most, 1} // oldest first
	for i, bytes := range sizes {
		version := contract.NewVersion{Definition: large(bytes)}
		if _, err := w.CreatePrism(t.Context(), w.key, contract.NewPrism{Slug: "p" + string(rune('0'+i)), NewVersion: version}); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			if _, err := w.AddVersion(t.Context(), w.key, ref, version); err != nil {
				t.Fatal(err)
			}
		}
	}
	type page struct {
		Data []struct{} `json:"data"`
		Next *string    `json:"next_cursor"`
	}
	for name, list := range map[string]func(contract.Page) (contract.Response, error){
		"prisms": func(p contract.Page) (contract.Response, error) {
			return w.ListPrisms(t.Context(), w.key, "false", p)
		},
		"versions": func(p contract.Page) (contract.Response, error) { return w.ListVersions(t.Context(), w.key, ref, p) },
	} {
		var got []int
		for p, more := (contract.Page{Limit: 100}), true; more; {
			doc, err := list(p)
			if err != nil {
				t.Fatal(err)
			}
			var body page
			decode(t, doc, &body)
			if len(doc.Body) > most && len(body.Data) > 1 {
				t.Errorf("%s: a page of %d has %d bytes", name, len(body.Data), len(doc.Body))
			}
			if more = body.Next != nil; more {
				p.Cursor = *body.Next
			}
			got = append(got, len(body.Data))
		}
		// The newest first: a small one, the largest alone, four that just fit, the rest.
		if !slices.Equal(got, []int{1, 1, 4, 2}) {
			t.Errorf("%s: the pages have %v", name, got)
		}
	}
}

// spec: response-budget
func TestAListWithoutRoomForItsPageIsUnavailable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.triage(t)
	for range 3 { // the rows are small, and the body of 200 columns is not
		w.result(t, p, "r", yes(0.5))
	}
	columns := make([]prism.Column, 200)
	for i := range columns {
		columns[i] = prism.Column{Name: fmt.Sprintf("%064d", i), Question: "urgent", Show: prism.ShowProbability}
	}
	if _, err := w.PutLens(t.Context(), w.key, prism.Ref{ID: p}, contract.NewLens{Lens: prism.Lens{Columns: columns}}); err != nil {
		t.Fatal(err)
	}
	places, bytes := fair.New(2, 0), fair.New(30<<10, 0)
	other, ctx := fair.With(t.Context(), "other"), fair.With(t.Context(), "mine")
	fair.Hold(other, "other", places, bytes)
	fair.Hold(ctx, "mine", places, bytes)
	fair.Reserve(other, 20<<10, false)
	list := func() error {
		_, err := w.ListResults(ctx, w.key, contract.ResultList{Page: contract.Page{Limit: 100}})
		return err
	}
	if err := list(); !errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	fair.Leave(other)
	if err := list(); err != nil {
		t.Errorf("a page that alone is in memory: %v", err)
	}
}

// spec: prism-rename
func TestARenamedPrismIsShownWithItsName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prism(t, "a")
	for _, name := range []string{"new", ""} {
		doc, err := w.RenamePrism(t.Context(), w.key, prism.Ref{Slug: "a"}, name)
		if err != nil {
			t.Fatal(err)
		}
		var body struct {
			Name *string `json:"name"`
		}
		decode(t, doc, &body)
		if (body.Name == nil) != (name == "") || body.Name != nil && *body.Name != name {
			t.Errorf("renamed to %q: %s", name, doc.Body)
		}
		read, err := w.Prism(t.Context(), w.key, prism.Ref{Slug: "a"})
		if err != nil || string(read.Body) != string(doc.Body) {
			t.Errorf("read %s, %v", read.Body, err)
		}
	}
}
