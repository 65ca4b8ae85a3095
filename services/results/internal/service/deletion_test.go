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
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
)

// failed saves a failed result with an idempotency key, and returns it.
func (w *world) failed(t *testing.T, of prism.PrismID, key string) contract.Save {
	t.Helper()
	s := w.save(of)
	s.IdempotencyKey, s.Outcome = key, contract.Outcome{Error: "no"}
	if _, err := w.Save(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// spec: result-delete, retry-of-a-deleted-result
func TestARetryOfADeletedResultIsNotFoundAndAKeyedRepeatIsAFirstCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.prism(t, "a")
	old := w.failed(t, of, "k")
	if response, err := w.DeleteResult(t.Context(), w.key, old.ID); err != nil || len(response.Body) > 0 {
		t.Fatal(response, err)
	}
	if _, err := w.Read(t.Context(), w.key, old.ID, contract.JSON); !errors.Is(err, apierr.ResultNotFound()) {
		t.Errorf("a read: %v", err)
	}
	if _, err := w.DeleteResult(t.Context(), w.key, old.ID); !errors.Is(err, apierr.ResultNotFound()) {
		t.Errorf("a second deletion: %v", err)
	}
	retry := w.save(of)
	retry.RetryOf = &old.ID
	if _, err := w.Save(t.Context(), retry); !errors.Is(err, apierr.ResultNotFound()) {
		t.Errorf("a retry: %v", err)
	}
	repeat := w.save(of)
	repeat.RetryOf, repeat.IdempotencyKey = &old.ID, "k"
	for range 2 { // the response of the first is lost
		if _, err := w.Save(t.Context(), repeat); err != nil {
			t.Fatalf("a keyed repeat: %v", err)
		}
	}
	facts, err := w.CreateFacts(t.Context(), contract.CreateQuery{
		Key: w.key, Prism: prism.Ref{Slug: "a"}, IdempotencyKey: "k", Format: contract.JSON,
	})
	if err != nil || facts.Stored == nil || facts.Stored.ID != repeat.ID {
		t.Errorf("the key is held by %+v, %v", facts.Stored, err)
	}
	other := w.save(of)
	other.RetryOf, other.IdempotencyKey = &old.ID, "k"
	if _, err := w.Save(t.Context(), other); !errors.Is(err, contract.ErrKeyTaken) {
		t.Errorf("a keyed repeat that lost the race: %v", err)
	}
}

// spec: results-delete, deletion-count, archive-and-unarchive, audit-entry-members
func TestADeletionIsCountedAndADryRunStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of, ref := w.prism(t, "a"), "person"
	lastTime := time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC) // that a call can send
	for i := range 5 {
		s := w.save(of)
		if i < 3 {
			s.Ref = &ref
		}
		if _, err := w.Save(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.SetArchived(t.Context(), w.key, prism.Ref{Slug: "a"}, true); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		d    api.DeleteResultsRequest
		want string
		jobs int64
	}{
		{api.DeleteResultsRequest{ResultDeletion: api.ResultDeletion{Ref: &ref}, DryRun: true}, `{"deleting":3}`, 0},
		{api.DeleteResultsRequest{ResultDeletion: api.ResultDeletion{Ref: new(string)}}, `{"deleting":0}`, 0},
		{api.DeleteResultsRequest{ResultDeletion: api.ResultDeletion{Ref: &ref}}, `{"deleting":3}`, 1},
		{api.DeleteResultsRequest{ResultDeletion: api.ResultDeletion{Status: prism.OK}}, `{"deleting":5}`, 2},
		{api.DeleteResultsRequest{ResultDeletion: api.ResultDeletion{Before: &lastTime}}, `{"deleting":5}`, 3},
	} {
		response, err := w.DeleteResults(t.Context(), w.key, prism.Ref{Slug: "a"}, c.d)
		if err != nil || string(response.Body) != c.want {
			t.Errorf("%+v: %s %v, want %s", c.d, response.Body, err, c.want)
		}
		if jobs, _, err := w.store.DueDeletions(t.Context(), w.Now()); err != nil || jobs != c.jobs {
			t.Errorf("%+v: %d jobs %v, want %d", c.d, jobs, err, c.jobs)
		}
	}
	_, body := w.audit(t, api.ListAuditRequest{PageRequest: api.PageRequest{Limit: 100}})
	if strings.Contains(body, ref) || strings.Count(body, `"results.delete"`) != 3 || !strings.Contains(body, `"before":"9999-12-31T23:59:59.999Z"`) {
		t.Error(body)
	}
	_, err := w.DeleteResults(t.Context(), w.key, prism.Ref{Slug: "none"}, api.DeleteResultsRequest{ResultDeletion: api.ResultDeletion{Ref: &ref}})
	if !errors.Is(err, apierr.PrismNotFound()) {
		t.Error(err)
	}
}

// manyResults is a store whose walks never end.
type manyResults struct{ sqlstore.Store }

func (manyResults) CountDeletion(context.Context, *deletion.Job) (int64, bool, error) {
	return deletion.CountPart, false, nil
}

// spec: deletion-count
func TestCountingEndsAtAMillion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prism(t, "a")
	w.store.Store = manyResults{w.store.Store}
	response, err := w.DeleteResults(t.Context(), w.key, prism.Ref{Slug: "a"}, api.DeleteResultsRequest{ResultDeletion: api.ResultDeletion{Status: prism.OK}})
	if err != nil || string(response.Body) != `{"deleting":1000000}` {
		t.Errorf("%s %v", response.Body, err)
	}
}

// spec: retention-set, prism-members
func TestAPrismShowsItsRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prism(t, "a")
	for _, c := range []struct {
		days *int
		want string
	}{{nil, `"retention_days":null}`}, {new(int(90)), `"retention_days":90}`}, {nil, `"retention_days":null}`}} {
		set, err := contract.Do(t.Context(), w, w.key, api.SetRetention, setRetention("a", c.days))
		read, readErr := w.Prism(t.Context(), w.key, prism.Ref{Slug: "a"})
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		if string(set.Body) != string(read.Body) || !strings.HasSuffix(string(read.Body), c.want) {
			t.Errorf("%v: %s\n%s", c.days, set.Body, read.Body)
		}
	}
	if _, err := contract.Do(t.Context(), w, w.key, api.SetRetention, setRetention("b", nil)); !errors.Is(err, apierr.PrismNotFound()) {
		t.Error(err)
	}
}

func setRetention(slug string, days *int) api.SetRetentionRequest {
	return api.SetRetentionRequest{Prism: prism.Ref{Slug: slug}, Retention: api.Retention{Days: days}}
}
