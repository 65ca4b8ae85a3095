package route

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
)

// spec: event-stream
func TestEventsAreSentWithTheirPlacesUntilTheKeyIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pages := []struct {
			after, body string
			err         error
		}{
			{after: "", body: `{"data":[],"next":"1.1"}`},
			{after: "1.1", body: `{"data":[],"next":"1.1"}`},
			{after: "1.1", err: apierr.Unavailable()},
			{after: "1.1", body: `{"data":[],"next":"9.1"}`}, // not wanted: the next look is at once
			{after: "9.1", body: `{"data":[{"id":"9.2","type":"run.started","timestamp":"2026-01-01T00:00:00.000Z","data":{"run_id":"r"}},` +
				`{"id":"10.2","type":"result.created","timestamp":"2026-01-01T00:00:00.000Z","data":{}}],"next":"10.2"}`},
			{after: "10.2", err: apierr.InvalidAPIKey()},
		}
		looks := 0
		f := &follower{read: func(after string) (contract.Response, error) {
			p := pages[looks]
			if looks++; p.after != after {
				t.Errorf("look %d is behind %q, want %q", looks, after, p.after)
			}
			return contract.Response{Body: []byte(p.body)}, p.err
		}}
		e, err := f.events(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		got, err := io.ReadAll(e)
		want := "id: 9.2\nevent: run.started\n" +
			`data: {"type":"run.started","timestamp":"2026-01-01T00:00:00.000Z","data":{"run_id":"r"}}` + "\n\n" +
			"id: 10.2\nevent: result.created\n" +
			`data: {"type":"result.created","timestamp":"2026-01-01T00:00:00.000Z","data":{}}` + "\n\n"
		if err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
		if took := time.Since(began); looks != len(pages) || took != 4*eventPause {
			t.Errorf("%d looks in %v", looks, took)
		}
	})
}

// spec: event-stream
func TestASilentStreamOfEventsIsKeptOpenUntilTheServiceStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stopping, stop := context.WithCancel(t.Context())
		f := &follower{after: "1.1", read: func(string) (contract.Response, error) {
			return contract.Response{Body: []byte(`{"data":[],"next":"1.1"}`)}, nil
		}}
		e, err := f.events(stopping)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(eventSilence+time.Second, stop)
		if got, err := io.ReadAll(e); err != nil || string(got) != ": no event\n\n" {
			t.Errorf("got %q, %v", got, err)
		}
	})
}
