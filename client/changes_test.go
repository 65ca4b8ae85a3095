package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
)

// spec: changes-next, changes-wait
func TestChangesGoOnBehindEachPage(t *testing.T) {
	t.Parallel()
	change := func(seq int) string {
		return fmt.Sprintf(`{"seq":%d,"at":"2026-01-01T00:00:00.000Z","type":"created","result_id":"r","prism":"p"}`, seq)
	}
	pages := map[string]string{
		"":                `{"data":[` + change(1) + "," + change(2) + `],"next":2}`,
		"after=2":         `{"data":[],"next":5}`, // which were of other prisms
		"after=5":         `{"data":[` + change(6) + `],"next":6}`,
		"after=6":         `{"data":[],"next":6}`,
		"after=6&wait=3":  `{"data":[],"next":6}`, // the time is over
		"after=7&prism=p": `{"data":[` + change(8) + `],"next":8}`,
		"after=8&prism=p": `{"data":[],"next":8}`,
		"after=60":        "",
	}
	waited := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		q.Del("limit")
		page, known := pages[q.Encode()]
		if q.Get("wait") != "" {
			if waited++; waited > 2 {
				page = `{"data":[` + change(9) + `],"next":9}`
			}
		}
		w.Header().Set("Content-Type", "application/json")
		if !known || page == "" {
			w.WriteHeader(http.StatusConflict)
			page = `{"error":{"code":"conflict","message":"gone"}}`
		}
		_, _ = w.Write([]byte(page))
	}))
	t.Cleanup(s.Close)
	c, err := New(Config{URL: s.URL, Key: "prism_fake"})
	if err != nil {
		t.Fatal(err)
	}
	seqs := func(f ChangeFilter, most int) (all []int64, err error) {
		for change, err := range c.Changes(t.Context(), f) {
			if err != nil {
				return all, err
			}
			if all = append(all, change.Seq); len(all) == most {
				break
			}
		}
		return all, nil
	}
	for _, test := range []struct {
		f    ChangeFilter
		most int
		want []int64
	}{
		{ChangeFilter{}, 0, []int64{1, 2, 6}},
		{ChangeFilter{}, 1, []int64{1}},
		{ChangeFilter{After: 7, Prism: "p"}, 0, []int64{8}},
		{ChangeFilter{After: 6, Wait: 3 * time.Second}, 1, []int64{9}},
		{ChangeFilter{After: 6, Wait: 2*time.Second + time.Millisecond}, 1, []int64{9}},
	} {
		if got, err := seqs(test.f, test.most); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%+v: got %v, %v, want %v", test.f, got, err, test.want)
		}
	}
	if got, err := seqs(ChangeFilter{After: 60}, 0); len(got) > 0 || !errors.Is(err, ErrConflict) {
		t.Errorf("got %v, %v", got, err)
	}
}
