package next_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/test/internal/next"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// Services of this release and of the next one call each other: what both know is answered, and what only the next one knows is answered
// or refused as a whole.
// spec: releases-side-by-side, newer-schema
func TestEachReleaseRunsBesideTheNext(t *testing.T) {
	t.Parallel()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := next.Overlay(root)
	if err != nil {
		t.Fatal(err)
	}
	this := launch.Options{Database: pgtest.Shared(t).Database(t, ""), Env: map[string]string{"PRISM_LOG_LEVEL": "warn"}}
	later := this
	later.Flags = []string{"-overlay=" + overlay}
	old := start(t, this)
	young := start(t, later)
	key, err := old.Results.Account(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	call := func(gateway *launch.Service, method, path, body string) (status int, text string) {
		t.Helper()
		return next.Send(t.Context(), key, method, gateway.URL()+"/v1/prisms"+path, body)
	}
	const definition = `{"slug":"tickets","fields":[{"key":"text"}],"questions":[{"key":"urgent","type":"yes_no","text":"Is it urgent?"}]}`
	if status, text := call(old.Gateway, http.MethodPost, "", definition); status != http.StatusCreated {
		t.Fatalf("%d %s", status, text)
	}
	mixed := []*launch.Service{ // a gateway of each release, which calls the other one
		gateway(t, this, young), gateway(t, later, old),
	}
	for _, c := range []struct {
		name              string
		gateway           *launch.Service
		member, operation int
		note              bool
	}{
		{"all of this release", old.Gateway, http.StatusOK, http.StatusNotFound, false},
		{"all of the next release", young.Gateway, http.StatusOK, http.StatusOK, true},
		{"a gateway of this release", mixed[0], http.StatusOK, http.StatusNotFound, false},
		{"a gateway of the next release", mixed[1], http.StatusServiceUnavailable, http.StatusServiceUnavailable, false},
	} {
		const path = "/tickets/retention"
		if status, text := call(c.gateway, http.MethodPost, "/tickets/results", `{"text":"help"}`); status != http.StatusOK {
			t.Errorf("%s: a create: %d %s", c.name, status, text)
		}
		status, text := call(c.gateway, http.MethodPut, path, `{"days":30}`)
		if status != http.StatusOK || !strings.Contains(text, `"retention_days":30`) {
			t.Errorf("%s: without the added member: %d %s", c.name, status, text)
		}
		status, text = call(c.gateway, http.MethodPut, path, `{"days":30,"note":"why"}`)
		if status != c.member || strings.Contains(text, `"retention_note":"why"`) != c.note {
			t.Errorf("%s: with the added member: %d %s", c.name, status, text)
		}
		if status, text = call(c.gateway, http.MethodGet, path, ""); status != c.operation {
			t.Errorf("%s: the added operation: %d %s", c.name, status, text)
		}
	}
}

// start starts the three services of a release.
func start(t *testing.T, o launch.Options) launch.Three {
	t.Helper()
	three, err := o.Services(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run(t, three.All()...)
	return three
}

// gateway starts a gateway that calls the services of another release.
func gateway(t *testing.T, o launch.Options, other launch.Three) *launch.Service {
	t.Helper()
	g, err := o.Gateway(t.Context(), o.URL(other.Results.Listen), o.URL(other.Models.Listen))
	if err != nil {
		t.Fatal(err)
	}
	run(t, g)
	return g
}

func run(t *testing.T, services ...*launch.Service) {
	t.Helper()
	if err := launch.Start(t.Context(), services...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := launch.Stop(services...); err != nil {
			t.Error(err)
		}
	})
}
