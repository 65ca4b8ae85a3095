package apidoc

import (
	"slices"
	"testing"
)

// TestThePageCanSendEveryOperation holds the document to what the page of the document sends: a body of JSON or of bytes,
// parameters in three places, and an API key. The page knows no other kind.
func TestThePageCanSendEveryOperation(t *testing.T) {
	t.Parallel()
	d, err := parse(Document())
	if err != nil {
		t.Fatal(err)
	}
	operations(t, func(t *testing.T, _, _ string, op operation) {
		for _, p := range op.Parameters {
			if !slices.Contains([]string{"path", "query", "header"}, p.In) {
				t.Errorf("the page can't send %s in a %s", p.Name, p.In)
			}
		}
		types := []string{"application/json", "application/octet-stream"}
		if op.RequestBody != nil && (len(op.RequestBody.Content) != 1 || !slices.Contains(types, op.RequestBody.Content[0].Name)) {
			t.Errorf("the page sends a body of one of %q", types)
		}
		asked := d.Security
		if op.Security != nil {
			asked = *op.Security
		}
		for _, together := range asked {
			for name := range together {
				if s, _ := d.Components.SecuritySchemes.find(name); s.Type != "http" || s.Scheme != "bearer" {
					t.Errorf("the page can't send security scheme %s", name)
				}
			}
		}
	})
}
