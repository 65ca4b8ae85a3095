package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"regexp"

	"github.com/prism-results/prism/test/lab/bench/internal/model"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// checkSameBytes checks that Prism and the peer respond to the same calls with the same bytes, and ask the model with the
// same bytes. Ids and times of new results differ. A repeat with the same key gets the bytes of the first response.
func checkSameBytes(ctx context.Context, contenders []contender, m *model.Model) error {
	for n, p := range system.Prisms() {
		first := map[string][]byte{}
		for _, c := range contenders {
			s := c.systems[n]
			if s.Name == system.BareChain {
				continue
			}
			got, err := bytesOf(ctx, s, n, p, m)
			if err != nil {
				return err
			}
			for what, b := range got {
				if want, found := first[what]; !found {
					first[what] = b
				} else if !bytes.Equal(b, want) {
					return fmt.Errorf("%s: %s of the prism with %s is\n%s\nthat of %s is\n%s", s.Name, what, p.Name, b, contenders[0].name, want)
				}
			}
		}
	}
	return nil
}

// varying are the members of a new result that differ from call to call.
var varying = regexp.MustCompile(`"id":"[^"]*"|"took_ms":\d+|"created_at":"[^"]*"`)

// bytesOf is what a system sends when it serves the nth prism, by what it is.
func bytesOf(ctx context.Context, s *system.System, n int, p system.Prism, m *model.Model) (map[string][]byte, error) {
	got := map[string][]byte{}
	var err error
	if s.Name != system.OnSQLite { // has results of its own
		if got["a read"], err = s.Call(ctx, http.MethodGet, "/v1/results/"+s.IDs[n][0], "", http.StatusOK); err != nil {
			return nil, err
		}
	}
	var created []byte
	got["the request to the model"], err = m.Capture(func() (err error) {
		created, err = s.Call(ctx, http.MethodPost, p.CreatePath(), p.Body("a key of "+p.Slug), http.StatusOK)
		return err
	})
	if err != nil {
		return nil, err
	}
	got["a create"] = varying.ReplaceAll(created, []byte("…"))
	repeated, err := s.Call(ctx, http.MethodPost, p.CreatePath(), p.Body("a key of "+p.Slug), http.StatusOK)
	if err == nil && !bytes.Equal(repeated, created) {
		err = fmt.Errorf("%s: a repeat with the same key is\n%s\nthe first response was\n%s", s.Name, repeated, created)
	}
	return got, err
}
