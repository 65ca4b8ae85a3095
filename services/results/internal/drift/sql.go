package drift

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// SQL is a Store in a database.
type SQL struct{ sqldb.Database }

const (
	watchColumns = `account_id, prism_id, watched_at, reached`
	selectWatch  = `SELECT ` + watchColumns + ` FROM drift_watches WHERE account_id = $1 AND prism_id = $2`
	insertWatch  = `INSERT INTO drift_watches (account_id, prism_id, watched_at, reached, due_at) VALUES ($1, $2, $3, $4, $3)`
	deleteWatch  = `DELETE FROM drift_watches WHERE account_id = $1 AND prism_id = $2`
	listWatches  = `-- name: ListDriftWatches :many
SELECT account_id, prism_id, watched_at, reached, latest_version, count(*) OVER () FROM (
	SELECT w.account_id, w.prism_id, w.watched_at, w.reached, p.latest_version,
		row_number() OVER (PARTITION BY w.account_id ORDER BY w.watched_at, w.prism_id) AS turn
	FROM drift_watches w
	JOIN prisms p ON p.account_id = w.account_id AND p.id = w.prism_id
	WHERE p.archived_at IS NULL AND w.account_id` + sqldb.StaysHere + `
) AS watched
ORDER BY turn, watched_at, prism_id LIMIT $1`
	takeWatch = `-- name: TakeDriftWatch :one
UPDATE drift_watches SET due_at = $2
WHERE (account_id, prism_id) = (
	SELECT account_id, prism_id FROM drift_watches WHERE due_at <= $1 AND account_id` + sqldb.StaysHere + `
	ORDER BY due_at LIMIT 1
) AND due_at <= $1
RETURNING ` + watchColumns
	moveWatch = `UPDATE drift_watches SET reached = $5, due_at = $6
WHERE account_id = $1 AND prism_id = $2 AND watched_at = $3 AND reached = $4 RETURNING prism_id`

	versionColumns     = `version, first_results, first_from, first_to, set_from, set_to`
	selectDriftVersion = `SELECT ` + versionColumns + ` FROM drift_versions WHERE account_id = $1 AND prism_id = $2 AND version = $3`
	putFirst           = `INSERT INTO drift_versions (account_id, prism_id, version, first_results, first_from, first_to)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (account_id, prism_id, version) DO UPDATE SET
	first_results = excluded.first_results, first_from = excluded.first_from, first_to = excluded.first_to`
	putReference = `INSERT INTO drift_versions (account_id, prism_id, version, first_results, set_from, set_to)
VALUES ($1, $2, $3, 0, $4, $5)
ON CONFLICT (account_id, prism_id, version) DO UPDATE SET set_from = excluded.set_from, set_to = excluded.set_to`
	deleteAlarms        = `DELETE FROM drift_alarms WHERE account_id = $1 AND prism_id = $2`
	deleteDriftVersions = `DELETE FROM drift_versions WHERE account_id = $1 AND prism_id = $2`

	selectDriftCounts = `-- name: DriftCounts :many
SELECT at, results, counts FROM drift_counts
WHERE account_id = $1 AND prism_id = $2 AND span = $3 AND at >= $4 AND at < $5 AND version = $6
ORDER BY at`
	whereCounts  = ` WHERE account_id = $1 AND prism_id = $2 AND version = $3 AND span = $4 AND at = $5`
	insertCounts = `INSERT INTO drift_counts (account_id, prism_id, version, span, at, results, counts) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (account_id, prism_id, span, at, version) DO NOTHING RETURNING results`
	selectCounts   = `SELECT counts FROM drift_counts` + whereCounts
	addCounts      = `UPDATE drift_counts SET results = results + $6, counts = $7` + whereCounts
	deleteCounts   = `DELETE FROM drift_counts WHERE account_id = $1 AND prism_id = $2`
	deleteOldSpans = deleteCounts + ` AND span = $3 AND at < $4 AND NOT EXISTS (
	SELECT 1 FROM drift_versions v
	WHERE v.account_id = drift_counts.account_id AND v.prism_id = drift_counts.prism_id AND v.version = drift_counts.version
		AND v.set_from <= drift_counts.at AND drift_counts.at < v.set_to
)`

	// oldestLease reads the leased chunks of runs and of retries.
	oldestLease = `-- name: OldestLease :one
SELECT min(l.begun_at) FROM (
	SELECT c.begun_at FROM runs r
	JOIN run_chunks c ON c.account_id = r.account_id AND c.run_id = r.id
	WHERE r.account_id = $1 AND r.prism_id = $2 AND r.status IN ('queued', 'running', 'pausing', 'cancelling')
		AND c.number >= r.folded AND c.token IS NOT NULL
	UNION ALL
	SELECT c.begun_at FROM retries t
	JOIN retry_chunks c ON c.account_id = t.account_id AND c.retry_id = t.id
	WHERE t.account_id = $1 AND t.prism_id = $2 AND c.token IS NOT NULL
) l`
)

// selectAnswers has its limit as a literal, so that the planner knows that the statement reads few rows.
var selectAnswers = `-- name: DriftAnswers :many
SELECT r.id, r.version, r.answers FROM results r
WHERE r.account_id = $1 AND r.prism_id = $2 AND r.id > $3 AND r.id <= $4
ORDER BY r.id LIMIT ` + strconv.Itoa(PartResults)

// driftDetail is the detail of an entry: whether the prism is watched now, and the reference period of a version.
type driftDetail struct {
	Watched bool   `json:"watched"`
	Version int32  `json:"version,omitzero"`
	From    string `json:"from,omitzero"`
	To      string `json:"to,omitzero"`
}

// SetDrift implements Store.
func (s SQL) SetDrift(
	ctx context.Context, account prism.AccountID, id prism.PrismID, c Change, by store.By,
) error {
	return s.Transaction(ctx, "set_drift", func(run sqldb.Run) error {
		key := []any{account.UUID, id.UUID}
		var (
			p      prism.Prism
			w      Watch
			detail = driftDetail{Watched: c.Watched}
		)
		if err := run(ctx, sqldb.Statement{Text: prisms.LockPrism, Args: key}, sqldb.ReadRow(&p, prisms.ReadLockedPrism)); err != nil {
			return err
		}
		err := run(ctx, sqldb.Statement{Text: selectWatch, Args: key}, sqldb.ReadRow(&w, readDriftWatch))
		watched := err == nil
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		changed := watched != c.Watched
		switch {
		case changed && c.Watched:
			err = run(ctx, sqldb.Statement{Text: insertWatch, Args: append(key[:2:2], by.At, c.Start)}, sqldb.NoRow)
		case changed:
			err = endWatch(ctx, run, account, id, by.At)
		default:
			err = nil
		}
		if err == nil && c.Watched {
			var set bool
			set, err = setReference(ctx, run, key, c)
			changed = changed || set
			detail.Version = c.Version
			if !c.From.IsZero() {
				detail.From, detail.To = prism.FormatTime(c.From), prism.FormatTime(c.To)
			}
		}
		if err != nil || !changed {
			return err
		}
		return prisms.Record(ctx, run, account, by, store.PrismDrift, id, p.Slug, detail)
	})
}

// Forget deletes the watch of a prism and all counts. It deletes the watch first: a worker that adds counts at the same time
// has then either committed, and its counts are deleted too, or finds no watch.
func Forget(ctx context.Context, run sqldb.Run, of []any) error {
	for _, text := range []string{deleteWatch, deleteDriftVersions, deleteCounts, deleteAlarms} {
		if err := run(ctx, sqldb.Statement{Text: text, Args: of}, sqldb.NoRow); err != nil {
			return err
		}
	}
	return nil
}

// endWatch ends the alarms of a prism, and forgets it. Without the watch, no worker begins another alarm meanwhile.
func endWatch(ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.PrismID, at time.Time) error {
	key := []any{account.UUID, id.UUID}
	if err := run(ctx, sqldb.Statement{Text: deleteWatch, Args: key}, sqldb.NoRow); err != nil {
		return err
	}
	if err := changeAlarms(ctx, run, account, id, nil, at); err != nil {
		return err
	}
	return Forget(ctx, run, key)
}

// setReference sets the reference period of a version, and reports whether that changed it.
func setReference(ctx context.Context, run sqldb.Run, key []any, c Change) (bool, error) {
	was, err := driftVersion(ctx, run, key, c.Version)
	if err != nil || was.From.Equal(c.From) && was.To.Equal(c.To) {
		return false, err
	}
	var from, to *time.Time
	if !c.From.IsZero() {
		from, to = &c.From, &c.To
	}
	return true, run(ctx, sqldb.Statement{Text: putReference, Args: append(key[:2:2], c.Version, from, to)}, sqldb.NoRow)
}

// driftVersion reads what is known of a version's reference.
func driftVersion(ctx context.Context, run sqldb.Run, of []any, version int32) (v VersionReference, err error) {
	st := sqldb.Query("drift_version", selectDriftVersion, append(of[:2:2], version)...)
	err = run(ctx, st, sqldb.ReadRow(&v, func(r *sqldb.Row) VersionReference {
		return VersionReference{
			Version: r.Int32(), First: r.Int(), FirstFrom: r.Time(), FirstTo: r.Time(), From: r.Time(), To: r.Time(),
		}
	}))
	if errors.Is(err, store.ErrNotFound) {
		return VersionReference{Version: version}, nil
	}
	return v, err
}

func readDriftWatch(r *sqldb.Row) Watch {
	return Watch{
		Account: prism.AccountID{UUID: r.UUID()}, Prism: prism.PrismID{UUID: r.UUID()}, WatchedAt: r.Time(), Reached: r.UUID(),
	}
}

// DriftWatch implements Store.
func (s SQL) DriftWatch(ctx context.Context, account prism.AccountID, id prism.PrismID) (w Watch, err error) {
	err = s.Run(ctx, sqldb.Query("drift_watch", selectWatch, account.UUID, id.UUID), sqldb.ReadRow(&w, readDriftWatch))
	return w, err
}

// DriftVersion implements Store.
func (s SQL) DriftVersion(
	ctx context.Context, account prism.AccountID, id prism.PrismID, version int32,
) (VersionReference, error) {
	return driftVersion(ctx, s.Run, []any{account.UUID, id.UUID}, version)
}

// DriftCounts implements Store.
func (s SQL) DriftCounts(
	ctx context.Context, account prism.AccountID, id prism.PrismID, version int32, span Span, from, to time.Time,
) (counts []SpanCounts, err error) {
	args := []any{account.UUID, id.UUID, int32(span), from, to, version}
	err = s.Run(ctx, sqldb.Query("drift_counts", selectDriftCounts, args...), sqldb.ReadRows(&counts, func(r *sqldb.Row) SpanCounts {
		return SpanCounts{Version: version, Span: span, At: r.Time(), Results: r.Int(), Counts: r.Bytes()}
	}))
	return counts, err
}

// ListDriftWatches implements Store.
func (s SQL) ListDriftWatches(ctx context.Context, limit int) (watches []Watch, more int64, err error) {
	st := sqldb.Query("list_drift_watches", listWatches, int64(limit))
	err = s.Run(ctx, st, sqldb.ReadRows(&watches, func(r *sqldb.Row) Watch {
		w := readDriftWatch(r)
		w.Latest, more = r.Int32(), r.Int()
		return w
	}))
	return watches, max(0, more-int64(limit)), err
}

// TakeDriftWatch implements Store. If two workers take at the same time, the second one sees the lease of the first.
func (s SQL) TakeDriftWatch(ctx context.Context, now, until time.Time) (w Watch, err error) {
	err = s.Run(ctx, sqldb.Change("take_drift_watch", takeWatch, now, until), sqldb.ReadRow(&w, readDriftWatch))
	return w, err
}

// OldestLease implements Store.
func (s SQL) OldestLease(ctx context.Context, account prism.AccountID, id prism.PrismID) (at time.Time, err error) {
	err = s.Run(ctx, sqldb.Query("oldest_lease", oldestLease, account.UUID, id.UUID), sqldb.ReadRow(&at, (*sqldb.Row).Time))
	return at, err
}

// DriftAnswers implements Store.
func (s SQL) DriftAnswers(
	ctx context.Context, account prism.AccountID, id prism.PrismID, after, last prism.UUID,
) (answers []Answer, err error) {
	answers = make([]Answer, 0, PartResults)
	args := []any{account.UUID, id.UUID, after, last}
	err = s.Run(ctx, sqldb.Query("drift_answers", selectAnswers, args...), sqldb.ReadRows(&answers, func(r *sqldb.Row) Answer {
		return Answer{ID: prism.ResultID{UUID: r.UUID()}, Version: r.Int32(), Answers: r.Bytes()}
	}))
	return answers, err
}

// AddDrift implements Store. The first statement locks the row of the watch, so one worker at a time reads and writes
// counts.
func (s SQL) AddDrift(ctx context.Context, was Watch, step Step) error {
	key := []any{was.Account.UUID, was.Prism.UUID}
	return s.Transaction(ctx, "add_drift", func(run sqldb.Run) error {
		move := sqldb.Statement{Text: moveWatch, Args: append(key[:2:2], was.WatchedAt, was.Reached, step.Reached, step.DueAt)}
		if err := run(ctx, move, sqldb.SomeRow); err != nil {
			return err
		}
		for _, v := range step.Versions {
			args := slices.Concat(key[:2], []any{v.Version, v.First, v.FirstFrom, v.FirstTo})
			if err := run(ctx, sqldb.Statement{Text: putFirst, Args: args}, sqldb.NoRow); err != nil {
				return err
			}
		}
		for _, c := range step.Counts {
			if err := addDriftCounts(ctx, run, key, c, step.Add); err != nil {
				return err
			}
		}
		if !step.Ended {
			return nil
		}
		for span, kept := range map[Span]time.Duration{
			OfTenMinutes: RecentTime, OfHour: HistoryTime,
		} {
			args := slices.Concat(key[:2], []any{int32(span), step.DueAt.Add(-kept)})
			if err := run(ctx, sqldb.Statement{Text: deleteOldSpans, Args: args}, sqldb.NoRow); err != nil {
				return err
			}
		}
		return nil
	})
}

// addDriftCounts adds to the counts of a span, or stores them as its first ones.
func addDriftCounts(
	ctx context.Context, run sqldb.Run, of []any, c SpanCounts, add func(stored, more []byte) ([]byte, error),
) error {
	args := slices.Concat(of[:2], []any{c.Version, int32(c.Span), c.At})
	err := run(ctx, sqldb.Statement{Text: insertCounts, Args: append(args[:5:5], c.Results, c.Counts)}, sqldb.SomeRow)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	var stored []byte
	if err := run(ctx, sqldb.Statement{Text: selectCounts, Args: args}, sqldb.ReadRow(&stored, (*sqldb.Row).Bytes)); err != nil {
		return err
	}
	sum, err := add(stored, c.Counts)
	if err != nil {
		return err
	}
	return run(ctx, sqldb.Statement{Text: addCounts, Args: append(args[:5:5], c.Results, sum)}, sqldb.NoRow)
}
