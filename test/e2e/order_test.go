package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// breaker makes a call fail one check.
type breaker struct {
	step  string // the contract's number, with a letter where one number holds several checks in an order
	name  string
	apply func(*attempt)
	want  fail
}

// attempt is a create call, a retry or a read. It passes every check, except those that breakers make it fail.
type attempt struct {
	contentType string
	format      string
	auth        string
	syntax      bool // broken
	grow        bool // past 1 MiB
	prism       string
	missing     bool
	unknown     bool
	version     int
	key         string
	badMember   bool
	// Properties of the result to retry or to read.
	badID                bool
	foreign, archived    bool
	state                string // failed, ok or retried
	modelFails, tooLarge bool
}

// suffixes runs a case for each check: a call that fails the check and every later check gets the error of the check, and no
// model call is made. apart has the later checks that no call can fail together with a check, with the reason.
func suffixes(t *testing.T, checks []breaker, apart map[string]string, run func(t *testing.T, first breaker, all *attempt)) {
	t.Helper()
	for i, first := range checks {
		if first.want == (fail{}) {
			continue // the model, which every attempt reaches last
		}
		t.Run(first.name+" is told before all that follows", func(t *testing.T) {
			t.Parallel()
			all := &attempt{state: "failed"}
			for _, later := range slices.Backward(checks[i+1:]) {
				if apart[first.step+" "+later.step] == "" {
					later.apply(all)
				}
			}
			first.apply(all)
			run(t, first, all)
		})
	}
}

// createChecks are the checks of a create call (spec: order-of-checks-create). The checks of the body come in this order:
// the content type, the size, the syntax, and then all problems of validation in one response.
func createChecks() []breaker {
	return []breaker{
		{"1a", "an unparsed content type", func(a *attempt) { a.contentType = "application/xml" }, unparsedType},
		{"1b", "a body over 1 MiB", func(a *attempt) { a.grow = true }, bodyTooLarge},
		{"1c", "a body that is not JSON", func(a *attempt) { a.syntax = true }, malformed},
		{"1d", "an invalid member", func(a *attempt) { a.badMember = true }, invalid("ref: Expected string, received number")},
		{"1e", "an unknown format", func(a *attempt) { a.format = "xml" }, unknownFormat},
		{"2a", "a missing key", func(a *attempt) { a.auth = none }, authRequired},
		{"2b", "an invalid key", func(a *attempt) { a.auth = "Bearer x" }, invalidKey},
		{"3a", "an unknown prism", func(a *attempt) { a.prism = absentID }, noPrism},
		{"3b", "an archived prism", func(a *attempt) { a.prism = "{archived}" }, noPrism},
		{"4", "an idempotency key of another prism", func(a *attempt) { a.key = "{one_key}" }, otherPrism},
		{"5", "an unknown version", func(a *attempt) { a.version = 99 }, noVersion},
		{"6a", "a missing field", func(a *attempt) { a.missing = true }, fail{400, "validation_failed", "Missing fields: message"}},
		{"6b", "an unknown field", func(a *attempt) { a.unknown = true }, fail{400, "validation_failed", "Unknown fields: extra"}},
		{"6c", "too many tokens", func(a *attempt) { a.tooLarge = true }, tokensTooLarge},
		{"7", "a model that refuses", func(a *attempt) { a.modelFails = true }, fail{}},
	}
}

// TestCreateOrder walks the checks of a create over HTTP: the first failing check decides the response. The tests of the
// gateway's package checks have each pair of checks.
// spec: order-of-checks-create
func TestCreateOrder(t *testing.T) {
	apart := map[string]string{"1d 1e": "both are validation: every problem is listed in one answer (TestErrors)"}
	onEach(t, func(t *testing.T, s *stack) {
		suffixes(t, createChecks(), apart, func(t *testing.T, first breaker, both *attempt) {
			script := s.model.Script(model.Status(400))
			s.main.do(t, both.create(t, s, script.Tag)).wantFail(t, first.want)
			wantEqual(t, "the number of model calls", script.Calls(), 0)
		})
		t.Run("a call that breaks nothing reaches the model", func(t *testing.T) {
			t.Parallel()
			script := s.model.Script()
			s.main.do(t, (&attempt{}).create(t, s, script.Tag)).ok(t)
			wantEqual(t, "the number of model calls", script.Calls(), 1)
		})
	})
}

func (a *attempt) create(t *testing.T, s *stack, tag string) call {
	t.Helper()
	prism := a.prism
	if prism == "" {
		prism = "{two}"
	}
	if a.tooLarge {
		tag += manyTokens
	}
	fields := []any{"subject", tag}
	if !a.missing {
		fields = append(fields, "message", "x")
	}
	if a.unknown {
		fields = append(fields, "extra", "y")
	}
	pairs := []any{"fields", raw(object(fields...))}
	if a.version != 0 {
		pairs = append(pairs, "version", a.version)
	}
	if a.key != "" {
		pairs = append(pairs, "idempotency_key", s.fill(t, a.key))
	}
	if a.badMember {
		pairs = append(pairs, "ref", json.RawMessage("1"))
	}
	in := call{
		path: s.fill(t, "/v1/prisms/"+prism+"/results") + "?format=" + a.format, contentType: a.contentType, auth: a.auth,
		body: object(pairs...),
	}
	return a.finish(in)
}

func (a *attempt) finish(in call) call {
	if a.syntax {
		in.body += "}"
	}
	if a.grow {
		in.body += strings.Repeat(" ", 1<<20)
	}
	return in
}

// retryChecks are the checks of a retry (spec: order-of-checks-retry).
func retryChecks() []breaker {
	return []breaker{
		{"1a", "an unparsed content type", func(a *attempt) { a.contentType = "application/xml" }, unparsedType},
		{"1b", "a body over 1 MiB", func(a *attempt) { a.grow = true }, bodyTooLarge},
		{"1c", "a body that is not JSON", func(a *attempt) { a.syntax = true }, malformed},
		{"2a", "a result id that is no UUID", func(a *attempt) { a.badID = true }, badResultID},
		{"2b", "an unknown format", func(a *attempt) { a.format = "xml" }, unknownFormat},
		{"3a", "a missing key", func(a *attempt) { a.auth = none }, authRequired},
		{"3b", "an invalid key", func(a *attempt) { a.auth = "Bearer x" }, invalidKey},
		{"4", "a result of another account", func(a *attempt) { a.foreign = true }, noResult},
		{"5a", "a result that succeeded", func(a *attempt) { a.state = "ok" }, onlyFailed},
		{"5b", "a result that was retried", func(a *attempt) { a.state = "retried" }, fail{409, "conflict", "^This result was already retried as .*"}},
		{"6", "an archived prism", func(a *attempt) { a.archived = true }, prismArchived},
		{"8", "a model that refuses", func(a *attempt) { a.modelFails = true }, fail{}},
	}
}

// TestRetryOrder holds that the first failing check of a retry decides the response. The size estimate can't fail here: the
// create call has refused the same fields and version already. The gateway's tests of the checks have the size estimate.
// spec: order-of-checks-retry
func TestRetryOrder(t *testing.T) {
	apart := map[string]string{"2a 2b": "both are validation: every problem is listed in one answer (TestErrors)"}
	onEach(t, func(t *testing.T, s *stack) {
		suffixes(t, retryChecks(), apart, func(t *testing.T, first breaker, both *attempt) {
			in, script := both.retry(t, s)
			calls := 0
			if script != nil {
				calls = script.Calls()
			}
			s.main.do(t, in).wantFail(t, first.want)
			if script != nil {
				wantEqual(t, "the number of model calls", script.Calls(), calls)
			}
		})
		t.Run("a retry that breaks nothing reaches the model", func(t *testing.T) {
			t.Parallel()
			failed, script := s.main.refused(t, s.fill(t, "{one}"))
			script.Then()
			s.main.retry(t, failed.ID).ok(t)
		})
	})
}

// resultPlaceholder is the placeholder of the fixture with these properties.
func (a *attempt) resultPlaceholder() string {
	name := "one"
	if a.archived {
		name = "archived"
	}
	if a.foreign {
		name = "other_" + name
	}
	return name + "_" + a.state
}

func (a *attempt) retry(t *testing.T, s *stack) (call, *model.Script) {
	t.Helper()
	id := s.fill(t, "{"+a.resultPlaceholder()+"}")
	if a.badID {
		id = "1"
	}
	var body string
	if a.contentType != "" || a.grow {
		body = "{}"
	}
	in := call{method: "POST", path: "/v1/results/" + id + "/retry?format=" + a.format, contentType: a.contentType, auth: a.auth, body: body}
	s.once.Lock()
	defer s.once.Unlock()
	return a.finish(in), s.once.scripts[a.resultPlaceholder()]
}

// TestReadOrder holds that a read checks nothing after the result is found.
// spec: order-of-checks-read
func TestReadOrder(t *testing.T) {
	checks := []breaker{}
	for _, b := range retryChecks() {
		if b.step >= "2" && b.step < "5" {
			checks = append(checks, b)
		}
	}
	apart := map[string]string{"2a 2b": "both are validation: every problem is listed in one answer (TestErrors)"}
	onEach(t, func(t *testing.T, s *stack) {
		suffixes(t, checks, apart, func(t *testing.T, first breaker, both *attempt) {
			in, _ := both.retry(t, s)
			in.method, in.path = "GET", strings.Replace(in.path, "/retry", "", 1)
			s.main.do(t, in).wantFail(t, first.want)
		})
		// spec: read-result, failed-result-is-not-an-error, archived-prism-results-stay-readable
		for _, name := range []string{"one_ok", "one_failed", "one_retried", "archived_ok", "archived_failed", "archived_retried"} {
			t.Run("a read of "+name+" stops after the result is found", func(t *testing.T) {
				t.Parallel()
				s.main.read(t, s.fill(t, "{"+name+"}"), "").wantStatus(t, 200)
			})
		}
	})
}
