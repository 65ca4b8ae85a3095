package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// spec: delete-is-durable
func TestADeletionIsReportedOnlyWhenItIsReplicated(t *testing.T) {
	t.Parallel()
	r := newReplicated(t)
	for id := byte(20); id < 22; id++ {
		if _, err := r.SaveResult(t.Context(), account(), answered(id)); err != nil {
			t.Fatal(err)
		}
	}
	for name, id := range map[string]byte{"of a result": 20, "of a result that is not there": 99} {
		r.pause(t)
		ctx, cancel := context.WithTimeout(t.Context(), shortly)
		err := r.DeleteResult(ctx, account(), prism.ResultID{UUID: prism.UUID{id}}, storetest.By())
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v while the standby is away", name, err)
		}
		r.resume(t)
	}
	if err := r.DeleteResult(t.Context(), account(), prism.ResultID{UUID: prism.UUID{21}}, storetest.By()); err != nil {
		t.Error(err)
	}
	if n := r.rows(t, r.standby); n != 0 {
		t.Errorf("the standby shows %d results", n)
	}
}

// spec: deletion-goes-on
func TestDeletionsSeek(t *testing.T) {
	t.Parallel()
	u := migrated(t)
	ctx, s, spans := traced(t, u)
	ref, now := "r", time.Now()
	for _, d := range []deletion.Job{{}, {Ref: &ref}, {Status: prism.Failed}, {Status: prism.OK}, {Ref: &ref, Status: prism.Failed}} {
		d.Account, d.ID, d.Prism, d.SavedBefore, d.DueAt = account(), storetest.By().Entry, prismID(), now, now
		counted := d
		if _, _, err := s.CountDeletion(ctx, &counted); err != nil {
			t.Fatal(err)
		}
		if err := s.AddDeletion(ctx, d, "triage", 1, storetest.By()); err != nil {
			t.Fatal(err)
		}
		job, err := s.TakeDeletion(ctx, now.Add(time.Second), now.Add(time.Minute), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.DeletePart(ctx, &job, now.Add(time.Minute), storetest.By()); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.DueDeletions(ctx, now); err != nil {
		t.Fatal(err)
	}
	// Many results of few prisms and many refs: a plan that reads more than a part of them would be a plan for few.
	exec(t, u, `INSERT INTO results (account_id, id, prism_id, version, ref, context, fields, status, error, took_ms, created_at, answers)
		SELECT account_id, gen_random_uuid(), CASE WHEN n % 2 = 0 THEN id ELSE gen_random_uuid() END, 1, 'r' || n % 1000, '', '[]',
			CASE WHEN n % 50 = 0 THEN 'failed' ELSE 'ok' END, CASE WHEN n % 50 = 0 THEN 'no' END, 1, now(),
			CASE WHEN n % 50 = 0 THEN NULL ELSE '[]'::json END
		FROM prisms, generate_series(1, 20000) n`)
	exec(t, u, "VACUUM ANALYZE")
	conn := connect(t, u)
	if _, err := conn.Exec(t.Context(), "SET plan_cache_mode = force_generic_plan"); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, span := range spans.Ended() {
		for _, a := range span.Attributes() {
			statement := a.Value.String()
			if a.Key != queryText || seen[statement] || !strings.Contains(statement, "FROM results") || !strings.Contains(statement, "-- name:") {
				continue
			}
			seen[statement] = true
			index := "results_by_prism"
			if strings.Contains(statement, "r.ref =") {
				index = "results_by_ref"
			}
			plan := explain(t, conn, statement)
			if strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Sort") || !strings.Contains(plan, index) {
				t.Errorf("%s\n%s", statement, plan)
			}
		}
	}
	if len(seen) < 9 {
		t.Errorf("only %d statements were seen", len(seen))
	}
}

func TestDeletedResultsAreVacuumedSooner(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	server.Template(t, "by account", byAccount)
	for name, url := range map[string]string{"one table": migrated(t), "partitions": server.Database(t, "by account")} {
		options := values[string](t, url, `SELECT coalesce(array_to_string(reloptions, ' '), '') FROM pg_class
			WHERE relkind = 'r' AND relname LIKE 'results%'`)
		for _, o := range options {
			if !strings.Contains(o, "autovacuum_vacuum_scale_factor=0.01 autovacuum_vacuum_threshold=10000") {
				t.Errorf("%s: a table has the options %q", name, o)
			}
		}
		if len(options) == 0 {
			t.Errorf("%s: no table", name)
		}
	}
}
