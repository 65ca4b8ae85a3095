package client

import (
	"context"
	"net/http"
	"testing"
)

// spec: prism-etag
func TestAPrismHasTheETagOfItsResponse(t *testing.T) {
	t.Parallel()
	c := serving(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"e"`)
		status := http.StatusOK
		if r.Method == http.MethodPost && r.URL.Path == "/v1/prisms" {
			status = http.StatusCreated
		}
		answer(w, status, jsonType, prismJSON)
	})
	for name, call := range map[string]func(context.Context) (Prism, error){
		"createPrism":    func(ctx context.Context) (Prism, error) { return c.CreatePrism(ctx, NewPrism{Slug: "a"}) },
		"readPrism":      func(ctx context.Context) (Prism, error) { return c.ReadPrism(ctx, "a") },
		"setSearchable":  func(ctx context.Context) (Prism, error) { return c.SetSearchable(ctx, "a", false) },
		"renamePrism":    func(ctx context.Context) (Prism, error) { return c.RenamePrism(ctx, "a", "n") },
		"replaceLens":    func(ctx context.Context) (Prism, error) { return c.ReplaceLens(ctx, "a", Lens{}) },
		"setRetention":   func(ctx context.Context) (Prism, error) { return c.SetRetention(ctx, "a", nil) },
		"archivePrism":   func(ctx context.Context) (Prism, error) { return c.ArchivePrism(ctx, "a") },
		"unarchivePrism": func(ctx context.Context) (Prism, error) { return c.UnarchivePrism(ctx, "a") },
	} {
		if p, err := call(t.Context()); err != nil || p.ETag != `"e"` {
			t.Errorf("%s: %q, %v", name, p.ETag, err)
		}
	}
}
