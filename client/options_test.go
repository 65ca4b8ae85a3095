package client

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

func TestACallRefusesAnOptionThatItsOperationDoesNotHave(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, test := range []struct {
		name string
		call func(*Client) error
		want string
	}{
		{"a dry run of a result", func(c *Client) error {
			_, err := c.CreateResult(ctx, "a", NewResult{Text: "t"}, WithDryRun())
			return err
		}, "createResult has no dry run"},
		{"a dry run of a key", func(c *Client) error { _, err := c.CreateKey(ctx, NewKey{}, WithDryRun()); return err }, "createKey has no dry run"},
		{"a format of a prism", func(c *Client) error { _, err := c.ReadPrism(ctx, "a", WithFormat(CSV)); return err }, "readPrism has no format"},
		{"a condition of a name", func(c *Client) error {
			_, err := c.RenamePrism(ctx, "a", "n", IfUnchanged(Prism{ETag: "e"}))
			return err
		}, "renamePrism has no condition"},
		{"a prism of a list", func(c *Client) error {
			_, err := c.ReplaceLens(ctx, "a", Lens{}, IfUnchanged(Prism{LatestVersion: 2}))
			return err
		}, "replaceLens: IfUnchanged got a prism without an ETag"},
		{"no time", func(c *Client) error { _, err := c.ReadRun(ctx, "a", WithTimeout(0)); return err }, "readRun: WithTimeout is 0s"},
		{"no attempt", func(c *Client) error { return c.DeleteFile(ctx, "a", WithAttempts(0)) }, "deleteFile: WithAttempts is 0"},
		{"a stream", func(c *Client) error { _, err := c.ExportResults(ctx, "a", Export{}, WithDryRun()); return err }, "exportResults has no dry run"},
		{"a page of an iteration", func(c *Client) error {
			for _, err := range c.Keys(ctx, WithFormat(CSV)) {
				return err
			}
			return nil
		}, "listKeys has no format"},
		{"rows of a run", func(c *Client) error { _, err := c.ListRunRows(ctx, "a", RunRows{}, WithFormat(CSV)); return err }, "listRunRows has no format"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{}
			c, err := New(Config{URL: "http://prism.test", Key: "k", Transport: r})
			if err != nil {
				t.Fatal(err)
			}
			if err := test.call(c); err == nil || !strings.Contains(err.Error(), test.want) || r.request != nil {
				t.Errorf("got %v; sent: %t", err, r.request != nil)
			}
		})
	}
}

func TestOptionsOfACall(t *testing.T) {
	t.Parallel()
	t.Run("the attempts are those of the call", func(t *testing.T) {
		t.Parallel()
		for _, want := range []int{1, 2, 6} {
			var m Meta
			_, err := answering(t, 503, jsonType, unavailableJSON).ReadPrism(t.Context(), "a", WithAttempts(want), WithMeta(&m))
			if !errors.Is(err, ErrUnavailable) || m.Attempts != want || m.Status != 503 || m.RequestID != "r-1" {
				t.Errorf("%+v: %v", m, err)
			}
		}
	})
	t.Run("a call without a response has no status", func(t *testing.T) {
		t.Parallel()
		m := Meta{RequestID: "of another call", Status: 200}
		c := serving(t, func(w http.ResponseWriter, _ *http.Request) { cut(w) })
		if _, err := c.ReadPrism(t.Context(), "a", WithMeta(&m)); err == nil || m.Attempts != 4 || m.Status != 0 || m.RequestID != "" {
			t.Errorf("%+v: %v", m, err)
		}
	})
	t.Run("a stream has its meta when it begins", func(t *testing.T) {
		t.Parallel()
		var m Meta
		stream, err := answering(t, 200, "text/csv", "result_id\r\n").ExportResults(t.Context(), "a", Export{}, WithMeta(&m))
		if err != nil || m.RequestID != "r-1" || m.Header.Get("Content-Type") != "text/csv" {
			t.Errorf("%+v: %v", m, err)
		}
		_ = stream.Close()
	})
	t.Run("the timeout of a dry run of a run can be set", func(t *testing.T) {
		t.Parallel()
		release := make(chan struct{})
		defer close(release)
		c := serving(t, func(http.ResponseWriter, *http.Request) { <-release })
		_, err := c.CreateRun(t.Context(), "a", NewRun{FileID: "f"}, WithDryRun(), WithTimeout(time.Millisecond), WithAttempts(1))
		var late timeoutError
		if !errors.As(err, &late) {
			t.Error(err)
		}
	})
	t.Run("a dry run of a run is its plan", func(t *testing.T) {
		t.Parallel()
		c := answering(t, 200, jsonType, `{"rows":7,"rows_checked":7,"invalid":[],"invalid_total":0,"invalid_labels":[],"invalid_labels_total":0,"tokens":1,"model_calls":1}`)
		if r, err := c.CreateRun(t.Context(), "a", NewRun{FileID: "f"}, WithDryRun()); err != nil || r.Plan == nil || r.Plan.Rows != 7 || r.ID != "" {
			t.Errorf("got %+v, %v", r, err)
		}
	})
	t.Run("a row has only its body", func(t *testing.T) {
		t.Parallel()
		const row = "result_id\r\nx\r\n"
		r, err := answering(t, 200, "text/csv", row).ReadResult(t.Context(), "a", WithFormat(CSV))
		if err != nil || string(r.Body) != row || r.ID != "" {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

// It changes the environment, so it is not parallel.
func TestFromEnvironment(t *testing.T) {
	const good = "http://prism.test"
	for _, test := range []struct{ name, url, key, base, want string }{
		{name: "both", url: good, key: testKey, base: good},
		{name: "the default address", key: testKey, base: DefaultURL},
		{name: "no key", url: good, want: "client: PRISM_API_KEY is not set"},
		{name: "a key with a line end", url: good, key: testKey + "\n", want: "client: PRISM_API_KEY is empty or holds"},
		{name: "no scheme", url: "prism.test", key: testKey, want: `client: PRISM_URL is not an address such as "https://`},
		{name: "a password", url: "http://me:" + testKey + "@prism.test", key: testKey, want: "client: PRISM_URL holds a user or password"},
		{name: "a query", url: good + "?key=" + testKey, key: testKey, want: "client: PRISM_URL ends in a query"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("PRISM_URL", test.url)
			t.Setenv("PRISM_API_KEY", test.key)
			if test.key == "" {
				_ = os.Unsetenv("PRISM_API_KEY") // t.Setenv puts it back
			}
			c, err := FromEnvironment()
			switch {
			case test.want == "":
				if err != nil || c.base != test.base {
					t.Errorf("got %+v, %v", c, err)
				}
			case err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), testKey[6:]):
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
