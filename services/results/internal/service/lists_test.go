package service_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
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
		version := api.NewVersion{Definition: large(bytes)}
		if _, err := w.CreatePrism(t.Context(), w.key, api.NewPrism{Slug: "p" + string(rune('0'+i)), NewVersion: version}); err != nil {
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
