package visit_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/test/internal/visit"
)

// A visit finds each kind of wrong of the program that it visits in the cluster.
func TestAVisit(t *testing.T) {
	t.Parallel()
	const origin = "https://prism.example"
	s, err := launch.Options{Dir: t.TempDir(), Env: map[string]string{"PRISM_PUBLIC_URL": origin}}.Standalone(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Process().StopAfter(t)
	prism := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: s.Listen})
	nothing := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	for _, test := range []struct {
		name, request string // method and path that the fault answers; none without a request
		fault         http.HandlerFunc
		want          string
	}{
		{name: "nothing is wrong"},
		{"a page fails", "GET /console/prisms", nothing, "3 of 3 rounds failed"},
		{"another page", "GET /console/prisms", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) }, "is no page"},
		{"the session is lost", "GET /console/session", nothing, "GET /console/session: 503 instead of 200"},
		{"no key", "POST /console/session/key", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }, "no key made"},
		{"the key is not known", "GET /v1/prisms", nothing, "GET /v1/prisms: 503 instead of 200"},
		{"the session goes on after the sign-out", "DELETE /console/session", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
		}, "GET /console/session: 200 instead of 401"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method+" "+r.URL.Path == test.request {
					test.fault(w, r)
					return
				}
				prism.ServeHTTP(w, r)
			}))
			t.Cleanup(front.Close)
			report := visits(t, s, front.URL, origin)
			err := report.Right()
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	t.Run("a cookie that another site could set", func(t *testing.T) {
		t.Parallel()
		weak := *prism
		weak.ModifyResponse = func(r *http.Response) error {
			for i, c := range r.Header.Values("Set-Cookie") {
				r.Header["Set-Cookie"][i] = strings.Replace(c, "secure", "", 1)
			}
			return nil
		}
		front := httptest.NewServer(&weak)
		t.Cleanup(front.Close)
		_, err := visit.Do(t.Context(), t.Context(), visit.Config{URL: front.URL, Link: link(t, s, origin)}, func(int) {})
		if err == nil || !strings.Contains(err.Error(), "the cookie is __Host-prism=hidden") {
			t.Error(err)
		}
	})
}

// visits makes three rounds of calls.
func visits(t *testing.T, s *launch.Service, at, origin string) *visit.Report {
	t.Helper()
	stop, enough := context.WithCancel(t.Context())
	defer enough()
	report, err := visit.Do(t.Context(), stop, visit.Config{URL: at, Link: link(t, s, origin), Pause: time.Millisecond}, func(rounds int) {
		if rounds == 3 {
			enough()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func link(t *testing.T, s *launch.Service, origin string) string {
	t.Helper()
	link, err := s.Operate(t.Context(), "console", "link", "--print", "--account", "demo", "--url", origin)
	if err != nil {
		t.Fatal(err)
	}
	return link
}
