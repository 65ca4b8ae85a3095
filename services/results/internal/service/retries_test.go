package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// retryWorld has a prism "a" with three failed results and one that is ok.
func retryWorld(t *testing.T) (*world, contract.Save) {
	t.Helper()
	w := newWorld(t)
	of := w.prism(t, "a")
	var last contract.Save
	for i := range 4 {
		s := w.save(of)
		if i > 0 {
			s.Outcome = contract.Outcome{Error: contract.TimeoutText}
			last = s
		}
		if _, err := w.Save(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return w, last
}

// spec: retry-many, retry-many-count, retry-many-under-way, error-match-now, error-are-retried
func TestARetryOfManyNeedsTheCountAndADryRunStoresNothing(t *testing.T) {
	t.Parallel()
	w, _ := retryWorld(t)
	for _, c := range []struct {
		r    api.ResultRetry
		want string
		err  error
	}{
		{api.ResultRetry{Prism: "a", DryRun: true}, `{"retrying":3}`, nil},
		{api.ResultRetry{Prism: "a", Expect: new(int(2))}, "", apierr.MatchNow(3)},
		{api.ResultRetry{Prism: "a", To: new(w.Now().AddDate(-1, 0, 0)), Expect: new(int(0))}, `{"retrying":0}`, nil},
		{api.ResultRetry{Prism: "none", Expect: new(int(3))}, "", apierr.PrismNotFound()},
		{api.ResultRetry{Prism: "a", Expect: new(int(3))}, `{"retrying":3}`, nil},
		{api.ResultRetry{Prism: "a", Expect: new(int(3))}, "", apierr.AreRetried()},
		{api.ResultRetry{Prism: "a", DryRun: true}, `{"retrying":3}`, nil},
	} {
		response, err := w.RetryResults(t.Context(), w.key, c.r)
		if string(response.Body) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%+v: %s %v, want %s %v", c.r, response.Body, err, c.want, c.err)
		}
	}
	if _, body := w.audit(t, api.ListAuditRequest{PageRequest: api.PageRequest{Limit: 100}}); strings.Count(body, `"results.retry"`) != 1 {
		t.Error(body)
	}
}

// spec: audit-actor-of-members
func TestARetryOfManyIsOfTheMemberWhoAsksForIt(t *testing.T) {
	t.Parallel()
	w, _ := retryWorld(t)
	member, link := w.invited(t, prism.Caller)
	session := contract.SessionDigest{7}
	if _, err := w.SignIn(t.Context(), contract.SignIn{Link: link, Session: session}); err != nil {
		t.Fatal(err)
	}
	made, err := w.SessionKey(t.Context(), session, prism.AccountID{})
	if err != nil {
		t.Fatal(err)
	}
	sent := api.ResultRetry{Prism: "a", Expect: new(int(3))}
	if _, err := w.RetryResults(t.Context(), w.digests[made.Key], sent); err != nil {
		t.Fatal(err)
	}
	_, body := w.audit(t, api.ListAuditRequest{Actor: member.String(), PageRequest: api.PageRequest{Limit: 9}})
	want := `"actor":{"kind":"member","id":"` + member.String() + `","name":"Ada"},"action":"results.retry"`
	if !strings.Contains(body, want) {
		t.Errorf("the audit has no %s: %s", want, body)
	}
}

// spec: retry-many, error-prism-cannot-answer
func TestResultsOfAnArchivedPrismAreNotRetried(t *testing.T) {
	t.Parallel()
	w, _ := retryWorld(t)
	a := prism.Ref{Slug: "a"}
	if _, err := w.SetArchived(t.Context(), w.key, a, true); err != nil {
		t.Fatal(err)
	}
	if _, err := w.RetryResults(t.Context(), w.key, api.ResultRetry{Prism: "a", DryRun: true}); !errors.Is(err, apierr.PrismArchived()) {
		t.Error(err)
	}
}

// spec: retry-many-answers, retry-many-once
func TestARetryOfManyIsLeasedAsRowsThatRetry(t *testing.T) {
	t.Parallel()
	w, last := retryWorld(t)
	if _, err := w.RetryResults(t.Context(), w.key, api.ResultRetry{Prism: "a", Expect: new(int(3))}); err != nil {
		t.Fatal(err)
	}
	c, err := w.LeaseChunk(t.Context(), prism.UUID{1})
	if err != nil || c == nil || len(c.Rows) != 3 {
		t.Fatalf("%+v %v", c, err)
	}
	if c.Facts.Prism != last.Prism || c.Facts.Version.Number != last.Version || len(c.Facts.Version.Questions) == 0 {
		t.Errorf("got %+v", c.Facts)
	}
	saved := contract.SaveRows{Lease: c.Lease, Done: true}
	for _, row := range c.Rows {
		if row.RetryOf == nil || len(row.Fields) != len(last.Fields) || row.Context != last.Context {
			t.Errorf("got %+v", row)
		}
		s := last
		s.ID, s.RetryOf, s.Outcome = row.ID, row.RetryOf, w.save(last.Prism).Outcome
		saved.Rows = append(saved.Rows, contract.RowOutcome{Row: row.Row, Save: &s})
	}
	if err := w.SaveRows(t.Context(), saved); err != nil {
		t.Fatal(err)
	}
	response, err := w.RetryResults(t.Context(), w.key, api.ResultRetry{Prism: "a", DryRun: true})
	if err != nil || string(response.Body) != `{"retrying":0}` {
		t.Errorf("%s %v", response.Body, err)
	}
}

// neverFound is a store that looks for results until its caller gives up.
type neverFound struct {
	sqlstore.Store
	left *time.Duration
}

func (n neverFound) CountRetry(ctx context.Context, _ runs.Retry) (int64, bool, error) {
	ends, _ := ctx.Deadline()
	*n.left = time.Until(ends)
	return 0, false, store.ErrUnavailable
}

// spec: retry-many-time
func TestARetryOfManyThatTakesTooLongIsAnsweredInTime(t *testing.T) {
	t.Parallel()
	w, _ := retryWorld(t)
	var left time.Duration
	w.store.Store = neverFound{w.store.Store, &left}
	ctx, cancel := context.WithTimeout(t.Context(), api.RetryWait)
	defer cancel()
	_, err := w.RetryResults(ctx, w.key, api.ResultRetry{Prism: "a", Expect: new(int(3))})
	if !errors.Is(err, contract.ErrUnavailable) || left > api.RetryWait-time.Second {
		t.Errorf("%v after %s", err, left)
	}
}

// manyFailures is a store in which more failed results match than one call may retry.
type manyFailures struct{ sqlstore.Store }

func (manyFailures) CountRetry(context.Context, runs.Retry) (int64, bool, error) {
	return api.MaxRetried + 1, false, nil
}

// spec: retry-many-limit, error-too-many-match
func TestAtMostAMillionResultsAreRetried(t *testing.T) {
	t.Parallel()
	w, _ := retryWorld(t)
	w.store.Store = manyFailures{w.store.Store}
	for _, dryRun := range []bool{false, true} {
		_, err := w.RetryResults(t.Context(), w.key, api.ResultRetry{Prism: "a", Expect: new(int(3)), DryRun: dryRun})
		if !errors.Is(err, apierr.TooManyMatch(1_000_000)) {
			t.Error(err)
		}
	}
}
