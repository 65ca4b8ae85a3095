package postgres_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/changes"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/usage"
)

// counted fails the test unless usage is a scan of the results, and stored bytes one of results and files.
func counted(t testing.TB, url string) {
	t.Helper()
	s := open(t, url)
	for range 2 {
		sums, _, err := s.ReadUsage(t.Context(), account(), usage.Filter{By: api.ByDay, To: math.MaxInt32})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range sums {
			got = append(got, fmt.Sprintf("%s %d %d", s.Day, s.Results, s.Failed))
		}
		want := values[string](t, url, `SELECT (created_at AT TIME ZONE 'UTC')::date || ' ' || count(*) || ' ' ||
			count(*) FILTER (WHERE status = 'failed') FROM results GROUP BY (created_at AT TIME ZONE 'UTC')::date ORDER BY 1`)
		if len(want) < 2 || !slices.Equal(got, want) {
			t.Errorf("usage is %v, want %v", got, want)
		}
		stored, err := s.Storage(t.Context(), account())
		if err != nil {
			t.Fatal(err)
		}
		bytes := values[int64](t, url, `SELECT (coalesce(sum(octet_length(context) + octet_length(fields::text) + coalesce(octet_length(ref), 0) +
			coalesce(octet_length(error), 0) + coalesce(octet_length(answers::text), 0) + coalesce(octet_length(call::text), 0) + 256), 0) +
			(SELECT coalesce(sum(bytes + copy_bytes), 0) FROM files WHERE status <> 'deleted'))::bigint FROM results`)[0]
		if stored.Bytes != bytes {
			t.Errorf("%d bytes are stored, want %d", stored.Bytes, bytes)
		}
		if err := s.Fold(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"usage_tail", "stored_bytes_tail", "tail", "event_tail"} {
		if tail := values[int64](t, url, "SELECT count(*) FROM "+table)[0]; tail != 0 {
			t.Errorf("%s has %d rows behind a fold", table, tail)
		}
	}
}

// fill stores results of many days.
func fill(t testing.TB, url string, results int) {
	t.Helper()
	exec(t, url, `INSERT INTO results (account_id, id, prism_id, version, context, fields, status, error, took_ms, created_at, answers)
		SELECT $1, gen_random_uuid(), $2, 1, repeat('x', 200), '[]', CASE WHEN n % 3 = 0 THEN 'failed' ELSE 'ok' END,
			CASE WHEN n % 3 = 0 THEN 'It failed.' END, 1, '2026-01-01 23:00 UTC'::timestamptz + n * interval '1 minute',
			CASE WHEN n % 3 > 0 THEN '{}'::json END
		FROM generate_series(1, $3::int) n`, account().UUID, prismID().UUID, results)
}

// What is inserted without a save, as from a copy, is counted by triggers, and so is a result without a call.
// spec: usage-is-exact, stored-bytes
func TestRowsThatAreInsertedByHandAreCounted(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	server.Template(t, "by account", byAccount)
	for name, url := range map[string]string{"one table": migrated(t), "partitions": server.Database(t, "by account")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, s, _ := traced(t, url)
			fill(t, url, 3000)
			withoutCall := failed(1)
			withoutCall.CreatedAt = time.UnixMilli(0)
			if _, err := s.SaveResult(t.Context(), account(), withoutCall); err != nil {
				t.Error(err)
			}
			counted(t, url)
			exec(t, url, "DELETE FROM results")
			if stored, err := s.Storage(t.Context(), account()); err != nil || stored.Bytes != 0 {
				t.Errorf("%d bytes are stored, %v", stored.Bytes, err)
			}
		})
	}
}

// The plan of the fold is made while the tail is short.
//
// spec: usage-is-exact
func TestATailThatGrewLongIsFolded(t *testing.T) {
	t.Parallel()
	url := migrated(t)
	_, s, _ := traced(t, url)
	grow := func(rows int) {
		exec(t, url, `INSERT INTO tail (account_id, prism_id, result_id, type, at)
			SELECT $1, $2, gen_random_uuid(), 1, now() FROM generate_series(1, $3)`, account().UUID, prismID().UUID, rows)
		if err := s.Fold(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range 8 { // Postgres keeps a plan after five
		grow(1)
	}
	grow(60_000)
	if told := values[int64](t, url, "SELECT max(seq) FROM changes")[0]; told != 60_008 {
		t.Errorf("%d changes are told", told)
	}
}

// A place behind all that happened counts what another process is giving numbers to.
//
// spec: webhook-create, webhook-disabled
func TestAPlaceBehindAllWaitsForTheFoldThatIsUnderWay(t *testing.T) {
	t.Parallel()
	url := migrated(t)
	_, s, _ := traced(t, url)
	exec(t, url, `INSERT INTO tail (account_id, prism_id, result_id, type, at) VALUES ($1, $2, gen_random_uuid(), 1, now())`,
		account().UUID, prismID().UUID)
	other, err := connect(t, url).Begin(t.Context())
	if err == nil {
		_, err = other.Exec(t.Context(), "SELECT pg_advisory_xact_lock(8102654024067625077)")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Fold(t.Context()); err != nil { // which leaves it to the other
		t.Fatal(err)
	}
	var latest events.Cursor
	looked := make(chan error, 1)
	go func() {
		var err error
		latest, err = s.LatestEvents(t.Context(), account())
		looked <- err
	}()
	const waits = `SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database
		WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`
	until(t, "a fold that waits", func() bool { return values[int64](t, url, waits)[0] > 0 || len(looked) > 0 })
	if err := other.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-looked; err != nil || latest.Change != 1 {
		t.Errorf("the place is %+v, %v", latest, err)
	}
}

// saveBefore saves a result as the release before does.
const saveBefore = `WITH inserted AS (
	INSERT INTO results (account_id, id, prism_id, version, context, fields, status, error, took_ms, created_at, call, bytes)
	VALUES ($1, $2, $3, 1, '', '[]', 'failed', 'It failed.', 1, '2026-01-01 UTC', '{}', 256 + 14)
	RETURNING account_id, created_at, prism_id, status, key_id, model, input_tokens, output_tokens, cost, currency, call, bytes
)
INSERT INTO usage_tail
SELECT account_id, (created_at AT TIME ZONE 'UTC')::date - DATE '1970-01-01', prism_id, status, key_id, model, input_tokens, output_tokens, cost, currency, bytes
FROM inserted WHERE call IS NOT NULL`

// spec: releases-side-by-side, changes, usage-is-exact, stored-bytes
func TestWhatTheReleaseBeforeSavesIsToldAndCountedOnce(t *testing.T) {
	t.Parallel()
	url := migrated(t)
	_, s, _ := traced(t, url)
	exec(t, url, saveBefore, account().UUID, prism.UUID{9}, prismID().UUID)
	for range 2 {
		sums, _, err := s.ReadUsage(t.Context(), account(), usage.Filter{By: api.ByModel, To: math.MaxInt32})
		if err != nil || len(sums) != 1 || sums[0].Results != 1 {
			t.Errorf("usage is %+v, %v", sums, err)
		}
		if stored, err := s.Storage(t.Context(), account()); err != nil || stored.Bytes != 270 {
			t.Errorf("%d bytes are stored, %v", stored.Bytes, err)
		}
		if err := s.Fold(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	exec(t, url, "DELETE FROM results")
	if err := s.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	if stored, err := s.Storage(t.Context(), account()); err != nil || stored.Bytes != 0 {
		t.Errorf("%d bytes are stored, %v", stored.Bytes, err)
	}
	page, err := s.ReadChanges(t.Context(), account(), changes.Filter{Limit: 9})
	if err != nil || len(page.Changes) != 2 || page.Changes[0].Type != changes.Created || page.Changes[1].Type != changes.Deleted {
		t.Errorf("the changes are %+v, %v", page, err)
	}
}

// A role that may save results may have no right to the tables of usage.
func TestASaveNeedsNoRightToTheTablesOfUsage(t *testing.T) {
	t.Parallel()
	url := migrated(t)
	_, s, _ := traced(t, url)
	conn := connect(t, url)
	role := "saver_" + strconv.FormatInt(time.Now().UnixNano(), 36)
	for _, statement := range []string{
		"CREATE ROLE " + role, "GRANT SELECT, INSERT ON results TO " + role, "GRANT SELECT ON versions TO " + role, "SET ROLE " + role,
		"SET search_path = pg_catalog",
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	const insert = `INSERT INTO public.results (account_id, id, prism_id, version, context, fields, status, error, took_ms, created_at)
		VALUES ($1, $2, $3, 1, '', '[]', 'failed', 'It failed.', 1, now())`
	_, err := conn.Exec(t.Context(), insert, account().UUID, prism.UUID{9}, prismID().UUID)
	for _, statement := range []string{"RESET ROLE", "RESET search_path", "DROP OWNED BY " + role, "DROP ROLE " + role} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Error(err)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	sums, _, err := s.ReadUsage(t.Context(), account(), usage.Filter{By: api.ByModel, To: math.MaxInt32})
	if err != nil || len(sums) != 1 || sums[0].Results != 1 {
		t.Errorf("usage is %+v, %v", sums, err)
	}
}
