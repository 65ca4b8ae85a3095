package wire_test

import (
	"context"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/prism"
)

// large is more than any message without a realistic definition takes, and less than any message with one.
const large = 10_000

// traffic is the calls that a server got: path, status, and whether a definition travelled.
type traffic struct {
	mu    sync.Mutex
	calls []string
}

func (r *traffic) record(c *fiber.Ctx) error {
	err := c.Next()
	call := strings.Clone(c.Path()[len("/internal/"):])
	if c.Request().Header.ContentLength() > large {
		call += " sent"
	}
	if len(c.Response().Body()) > large {
		call += " returned"
	}
	if c.Response().StatusCode() == fiber.StatusNotFound {
		call += " unknown"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
	return err
}

// want compares the calls since the last comparison.
func (r *traffic) want(t *testing.T, want ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !reflect.DeepEqual(r.calls, want) {
		t.Errorf("calls %q, want %q", r.calls, want)
	}
	r.calls = nil
}

// shelf returns the facts it holds.
type shelf struct {
	calm
	facts contract.CreateFacts
}

func (s *shelf) CreateFacts(context.Context, contract.CreateQuery) (contract.CreateFacts, error) {
	return s.facts, nil
}

// another is a realistic version with other instructions.
func another(number int32, instructions string) prism.Version {
	v := realistic()
	v.Number, v.Instructions = number, instructions
	v.Hash, _ = contract.HashDefinition(v.Definition)
	return v
}

func dialResults(t *testing.T, r contract.Results, record *traffic) wire.Results {
	t.Helper()
	url := serve(t, func(app *fiber.App, log *slog.Logger) {
		app.Use(record.record)
		wire.MountResults(app, r, tokens(token), log)
	})
	return resultsAt(t, url)
}

// resultsAt is a client of results at an address.
func resultsAt(t *testing.T, url string) wire.Results {
	t.Helper()
	return dial(t, url, token, wire.NewResults)
}

func TestResultsSendADefinitionOnce(t *testing.T) {
	t.Parallel()
	var calls traffic
	first, second := another(1, "first"), another(2, "second")
	far := &shelf{}
	near := dialResults(t, far, &calls)
	query := contract.CreateQuery{Key: contract.KeyDigest{1}, Prism: prism.Ref{Slug: "tickets"}}
	look := func(q contract.CreateQuery, want prism.Version) {
		t.Helper()
		far.facts.Version = &want
		got, err := near.CreateFacts(t.Context(), q)
		if err != nil || !reflect.DeepEqual(got, far.facts) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	look(query, first)
	look(query, first)
	calls.want(t, "create-facts returned", "create-facts")
	look(query, second) // a new version
	look(query, second)
	calls.want(t, "create-facts returned", "create-facts")
	query.Version = 1 // another look-up
	look(query, first)
	look(query, first)
	calls.want(t, "create-facts returned", "create-facts")
	query.Key = contract.KeyDigest{2} // of another API key
	look(query, first)
	calls.want(t, "create-facts returned")

	if len(far.facts.Version.Questions) == 0 {
		t.Error("the service's own facts were changed")
	}
}

// tooLarge is a version whose definition is not cached.
func tooLarge() prism.Version { return another(1, strings.Repeat("x", 64<<10)) }

func TestAGatewaySendsADefinitionThatIsTooLargeToKeepEachTime(t *testing.T) {
	t.Parallel()
	var calls traffic
	var model heard
	near := dialModels(t, serve(t, func(app *fiber.App, log *slog.Logger) {
		app.Use(calls.record)
		wire.MountModels(app, &model, tokens(token), log)
	}))
	for range 2 {
		if got, err := near.Ask(t.Context(), askOf(tooLarge(), "a")); err != nil || got.Error != "a" {
			t.Errorf("%+v, %v", got, err)
		}
	}
	calls.want(t, "ask-by-hash unknown", "ask sent", "ask-by-hash unknown", "ask sent")
}

// A definition with a member that is unknown here has no hash here.
func TestResultsSendADefinitionThatIsNotKeptEachTime(t *testing.T) {
	t.Parallel()
	unhashed := realistic()
	unhashed.Hash = prism.DefinitionHash{}
	for name, version := range map[string]prism.Version{"too large": tooLarge(), "without a hash": unhashed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls traffic
			far := &shelf{facts: contract.CreateFacts{Version: &version}}
			near := dialResults(t, far, &calls)
			for range 2 {
				if got, err := near.CreateFacts(t.Context(), contract.CreateQuery{}); err != nil || !reflect.DeepEqual(got, far.facts) {
					t.Errorf("got %+v, %v", got, err)
				}
			}
			calls.want(t, "create-facts returned", "create-facts returned")
		})
	}
}

// A hash that is not that of the definition, as it is decoded here, names nothing.
func TestADefinitionWithAnotherHashIsNotKept(t *testing.T) {
	t.Parallel()
	var calls traffic
	version := realistic()
	version.Hash = prism.DefinitionHash{1}
	near := dialResults(t, &shelf{facts: contract.CreateFacts{Version: &version}}, &calls)
	for range 2 {
		got, err := near.CreateFacts(t.Context(), contract.CreateQuery{})
		if err != nil || !reflect.DeepEqual(got.Version.Definition, version.Definition) || got.Version.Hash != (prism.DefinitionHash{}) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	calls.want(t, "create-facts returned", "create-facts returned")
}

// heard keeps the questions that a model was asked.
type heard struct {
	calm
	mu   sync.Mutex
	asks []contract.Ask
}

func (h *heard) Ask(_ context.Context, a contract.Ask) (contract.Outcome, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asks = append(h.asks, a)
	return contract.Outcome{Error: a.Context}, nil
}

func askOf(v prism.Version, context string) contract.Ask {
	return contract.Ask{Definition: v.Definition, Hash: v.Hash, Context: context, Fields: []prism.FieldValue{{Key: "text", Value: "x"}}}
}

func TestAGatewaySendsADefinitionToAModelProxyThatDoesNotHaveIt(t *testing.T) {
	t.Parallel()
	var calls traffic
	var model heard
	near := dialModels(t, serve(t, func(app *fiber.App, log *slog.Logger) {
		app.Use(calls.record)
		wire.MountModels(app, &model, tokens(token), log)
	}))
	first, second := another(1, "first"), another(2, "second")
	asks := []contract.Ask{askOf(first, "a"), askOf(first, "b"), askOf(second, "c"), askOf(first, "d"), {Definition: first.Definition, Context: "no hash", Fields: []prism.FieldValue{}}}
	for _, a := range asks {
		if got, err := near.Ask(t.Context(), a); err != nil || got.Error != a.Context {
			t.Errorf("%s: %+v, %v", a.Context, got, err)
		}
	}
	if !reflect.DeepEqual(model.asks, asks) {
		t.Errorf("the model was asked %+v", model.asks)
	}
	calls.want(t, "ask-by-hash unknown", "ask sent", "ask-by-hash", "ask-by-hash unknown", "ask sent", "ask-by-hash", "ask sent")
}

// A definition is cached under the hash of the bytes that came, whatever the caller calls it.
func TestAModelProxyKeepsNoDefinitionUnderAnotherHash(t *testing.T) {
	t.Parallel()
	var calls traffic
	var model heard
	near := dialModels(t, serve(t, func(app *fiber.App, log *slog.Logger) {
		app.Use(calls.record)
		wire.MountModels(app, &model, tokens(token), log)
	}))
	lie := askOf(another(1, "first"), "a")
	lie.Definition = another(2, "second").Definition
	for range 2 {
		if _, err := near.Ask(t.Context(), lie); err != nil {
			t.Error(err)
		}
	}
	for _, a := range model.asks {
		if a.Hash != (prism.DefinitionHash{}) {
			t.Error("the model got the hash of another definition")
		}
	}
	calls.want(t, "ask-by-hash unknown", "ask sent", "ask-by-hash unknown", "ask sent")
}
