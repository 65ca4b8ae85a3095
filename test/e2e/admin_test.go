package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// TestAdmin holds the admin port: health, readiness and metrics. No metric holds an account, key, id or field value.
func TestAdmin(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: admin-port
		t.Run("every part is healthy and ready on its admin port alone", func(t *testing.T) {
			t.Parallel()
			for _, p := range s.parts {
				for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
					status, _, err := p.Get(t.Context(), path)
					if err != nil || status != http.StatusOK {
						t.Errorf("%s%s: %d %v", p.Name, path, status, err)
					}
				}
			}
			s.main.get(t, "/metrics").wantFail(t, noRoute)
			s.main.get(t, "/healthz").wantFail(t, noRoute)
		})
		// spec: admin-port
		t.Run("the labels hold no slug, id, account, key or value", func(t *testing.T) {
			t.Parallel()
			script := s.model.Script()
			prism := s.main.triage(t)
			created := s.main.create(t, prism, text(script.Tag)).ok(t)
			s.main.get(t, "/v1/"+script.Tag)
			s.main.do(t, call{method: "BREW" + strings.ToUpper(newSlug()[2:]), path: "/v1/prisms"})
			metrics := s.metrics(t)
			for what, value := range map[string]string{
				"a slug": prism, "an id": created.ID, "an account": s.main.account + `"`, "a key": s.main.key, "a value": script.Tag, "a path": model.Mark, "a method": "BREW",
			} {
				if strings.Contains(metrics, value) {
					t.Errorf("the metrics hold %s", what)
				}
			}
		})
		t.Run("every log line is JSON, and those about a request have its id", func(t *testing.T) {
			t.Parallel()
			r := s.main.create(t, s.fill(t, "{one}"), text(s.model.Script(model.Status(400)).Tag))
			r.failed(t)
			// A log line may be written after the response to its request.
			deadline := time.NewTimer(patience)
			defer deadline.Stop()
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for found := false; !found; {
				for _, p := range s.parts {
					lines := strings.Split(p.Process().Stderr(), "\n")
					for _, line := range lines[:len(lines)-1] { // the last one may not be whole yet
						if strings.HasPrefix(line, "{") && !json.Valid([]byte(line)) {
							t.Fatalf("%s printed %s", p.Name, line)
						}
						found = found || strings.Contains(line, r.request)
					}
				}
				select {
				case <-tick.C:
				case <-deadline.C:
					t.Fatal("no log line has the request's id")
				}
			}
		})
	})
}

// metrics are the metrics of all parts.
func (s *stack) metrics(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, p := range s.parts {
		_, body, err := p.Get(t.Context(), "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(body)
	}
	return all.String()
}

// TestDocumentation holds the OpenAPI document and the page of the API.
func TestDocumentation(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: openapi-document
		t.Run("the OpenAPI document is that of the sources and needs no key", func(t *testing.T) {
			t.Parallel()
			r := s.main.do(t, call{path: "/openapi.json", auth: none})
			r.wantStatus(t, 200)
			r.wantType(t, "application/json; charset=utf-8")
			source, err := openAPISource()
			if err != nil || !bytes.Equal(source, r.body) {
				t.Errorf("it is not the document of the sources, which every call is held against: %v", err)
			}
		})
		// spec: docs-page
		t.Run("the page and its files need no key", func(t *testing.T) {
			t.Parallel()
			page := s.main.do(t, call{path: "/docs", auth: none})
			page.wantStatus(t, 200)
			page.wantType(t, "text/html; charset=utf-8")
			files := regexp.MustCompile(`/docs/assets/[^"]+\.(?:js|css)`).FindAllString(string(page.body), -1)
			if len(files) < 2 {
				t.Errorf("the page asks for %q", files)
			}
			for _, path := range files {
				s.main.do(t, call{path: path, auth: none}).wantStatus(t, 200)
			}
		})
	})
}
