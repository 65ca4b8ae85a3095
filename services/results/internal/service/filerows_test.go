package service_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: file-preview
func TestAPreviewHasTheRowsOfAReadyFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var content strings.Builder
	content.WriteString("b,a,\"quo\"\"te\"\n")
	for i := range 1000 {
		fmt.Fprintf(&content, "%d,,x\n", i+1)
	}
	f := w.ready(t, []byte(content.String()))
	for _, c := range []struct {
		offset       int64
		limit, first int
		rows         int
	}{{0, 3, 1, 3}, {199, 2, 200, 2}, {150, 100, 151, 100}, {999, 100, 1000, 1}, {1000, 5, 0, 0}, {9_999_999_999, 5, 0, 0}} {
		r, err := w.FileRows(t.Context(), w.key, f.ID, c.offset, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for i := range c.rows {
			want = append(want, fmt.Sprintf(`{"b":"%d","a":"","quo\"te":"x"}`, c.first+i))
		}
		if want := `{"data":[` + strings.Join(want, ",") + `]}`; string(r.Body) != want {
			t.Errorf("from %d: %s", c.offset, r.Body)
		}
	}
	_, err := w.FileRows(t.Context(), w.key, prism.FileID{UUID: prism.UUID{9}}, 0, 1)
	if !errors.Is(err, apierr.FileNotFound()) {
		t.Errorf("of no file: %v", err)
	}
}

// spec: file-preview
func TestAPreviewShowsNullForWhatARowLacksAndEndsWhenItIsLarge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("x", 900_000)
	content := []byte("{\"a\":\"1\"}\n{\"b\":2.50}\n" + strings.Repeat(`{"a":"`+long+"\"}\n", 8))
	f := w.fileOf(t)(w.CreateFile(t.Context(), w.key, api.NewFile{
		Name: "n", Format: prism.FileJSONL, Bytes: int64(len(content)),
	}))
	for n := range f.Parts {
		w.put(t, part(f.ID, content, n+1))
	}
	if _, err := w.CompleteFile(t.Context(), w.key, f.ID); err != nil {
		t.Fatal(err)
	}
	w.read(t)
	r, err := w.FileRows(t.Context(), w.key, f.ID, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(r.Body), `{"data":[{"a":"1","b":null},{"a":null,"b":"2.50"},{"a":"xxx`) {
		t.Errorf("got %.100s", r.Body)
	}
	if n := bytes.Count(r.Body, []byte(`{"a":`)); n != 6 {
		t.Errorf("%d rows in %d bytes", n, len(r.Body))
	}
}
