package distribution

import (
	"context"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/changes"
	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// SQL is a Store in a database.
type SQL struct{ sqldb.Database }

// mostYounger bounds how many changes ReadDistribution looks at that are not counted yet.
const mostYounger = 20_000

// The kinds of the rows of readDistribution.
const (
	youngerRow = iota
	hourRow
	stateRow
)

// readDistribution reads everything in one statement, which sees one snapshot: the results that changed behind the cursor, each with its
// label and the one that is counted; the sums of hours; and how far the counting is. A change that has no number yet is in the tail.
//
//nolint:dupword // the columns of a SELECT are in the order of the others
const readDistribution = `-- name: ReadDistribution :many
SELECT 0 AS kind, r.id, r.version, r.created_at, r.answers, o.type, l.value, k.is_right, s.result_id, NULL AS counts
FROM (
	SELECT result_id, min(type) AS type FROM (
		SELECT c.result_id, c.type FROM changes c, distribution_cursors d
		WHERE d.account_id = $1 AND c.account_id = $1 AND c.seq > d.seq AND c.seq <= d.seq + $6 AND c.prism_id = $2 AND c.type IN (1, 3)
		UNION ALL
		SELECT t.result_id, t.type FROM tail t WHERE t.account_id = $1 AND t.prism_id = $2 AND t.type IN (1, 3)
	) told GROUP BY result_id
) o
JOIN results r ON r.account_id = $1 AND r.id = o.result_id
LEFT JOIN labels l ON l.account_id = $1 AND l.prism_id = $2 AND l.result_id = r.id AND l.question = $3
LEFT JOIN distribution_labels k ON k.account_id = $1 AND k.result_id = r.id AND k.question = $3
LEFT JOIN distribution_seen s ON s.account_id = $1 AND s.result_id = r.id
WHERE r.status = 'ok' AND r.created_at >= $4 AND r.created_at < $5
UNION ALL
SELECT 1, NULL, d.version, d.at, NULL, NULL, NULL, NULL, NULL, d.counts
FROM distribution d WHERE d.account_id = $1 AND d.prism_id = $2 AND d.question = $3 AND d.at >= $7 AND d.at < $5
UNION ALL
SELECT 2, d.walk, CASE WHEN d.seq IS NULL THEN 0 ELSE 1 END, x.at, NULL,
	CASE WHEN EXISTS (SELECT 1 FROM results r WHERE r.account_id = $1) THEN 1 ELSE 0 END, NULL, NULL, NULL, NULL
FROM accounts a
LEFT JOIN distribution_cursors d ON d.account_id = a.id
LEFT JOIN changes x ON x.account_id = a.id AND x.seq = d.seq + $6
WHERE a.id = $1`

// younger is a result that changed behind the cursor.
type younger struct {
	counted
	seen bool // it is counted, although the walk is not there yet
}

// ReadDistribution implements Store.
func (s SQL) ReadDistribution(ctx context.Context, account prism.AccountID, f Filter) (distribution Found, err error) {
	args := []any{
		account.UUID, f.Prism.UUID, f.Question, f.From, f.To, int64(mostYounger), f.From.Truncate(time.Hour),
	}
	var (
		walk    prism.UUID
		results []younger
	)
	err = s.Run(ctx, sqldb.Query("read_distribution", readDistribution, args...), func(rows iter.Seq[*sqldb.Row]) error {
		walk, results, distribution = prism.UUID{}, nil, Found{}
		for r := range rows {
			kind, id, version, at := r.Int(), r.UUID(), r.Int32(), r.Time()
			answers, typ, label, right, seen, counts := r.Bytes(), r.Int(), r.OptionalText(), r.OptionalInt(), r.UUID(), r.Bytes()
			switch kind {
			case youngerRow:
				y := younger{counted: counted{
					id: id, prism: f.Prism.UUID, version: version, at: at, answers: answers, fresh: changes.Type(typ) == changes.Created, //nolint:gosec // one of four
					labels: map[string]string{}, countedRight: map[string]bool{},
				}, seen: !seen.IsZero()}
				if label != nil {
					y.labels[f.Question] = *label
				}
				if right != nil {
					y.countedRight[f.Question] = *right != 0
				}
				results = append(results, y)
			case hourRow:
				var h hour
				if err := h.decode(counts); err != nil {
					return err
				}
				distribution.add(f, version, at, &h)
			case stateRow:
				walk, distribution.Begun = id, version != 0
				if !at.IsZero() {
					distribution.CountedTo = &at
				}
				distribution.Exact = at.IsZero() && walk.IsZero() && (distribution.Begun || typ == 0)
			}
		}
		return nil
	})
	if err != nil || !distribution.Begun {
		distribution.sort()
		return distribution, err
	}
	if !walk.IsZero() {
		distribution.CountedFrom = new(walk.Time())
	}
	err = s.addYounger(ctx, account, f, &distribution, walk, results)
	distribution.sort()
	return distribution, err
}

// addYounger adds the results that changed behind the cursor, and that the walk has passed.
func (s SQL) addYounger(ctx context.Context, account prism.AccountID, f Filter, distribution *Found, walk prism.UUID, results []younger) error {
	var reached []*counted
	for i := range results {
		y := &results[i]
		if y.fresh || y.seen || sqldb.CompareIDs(y.id, walk) >= 0 {
			reached = append(reached, &y.counted)
		}
	}
	if err := leaveOutExamples(ctx, s.Run, account, reached); err != nil {
		return err
	}
	young := newSums()
	for _, r := range reached {
		young.add(r)
	}
	for of, h := range young.hours {
		if of.question == f.Question {
			distribution.add(f, of.version, time.Unix(of.at, 0).UTC(), h)
		}
	}
	return nil
}

func (distribution *Found) sort() {
	slices.SortFunc(distribution.Quarters, func(a, b Quarter) int { return a.At.Compare(b.At) })
}

// add adds the quarters of an hour that a filter selects.
func (distribution *Found) add(f Filter, version int32, at time.Time, h *hour) {
	if f.Version != 0 && version != f.Version {
		return
	}
	for i := range h {
		begin := at.Add(time.Duration(i) * quarter)
		c := &h[i]
		some := len(c.Values) > 0 || c.Labelled != 0 || c.Right != 0
		if some && !begin.Before(f.From) && begin.Before(f.To) {
			distribution.Quarters = append(distribution.Quarters, Quarter{begin, *c})
		}
	}
}

const waitingAccounts = `-- name: WaitingForCounts :many
SELECT c.account_id, CASE WHEN d.seq IS NULL THEN 0 ELSE 1 END, coalesce(c.seq - d.seq, 0)
FROM change_counts c LEFT JOIN distribution_cursors d ON d.account_id = c.account_id
WHERE (d.seq < c.seq OR d.walk <> $1
	OR d.seq IS NULL AND EXISTS (SELECT 1 FROM results r WHERE r.account_id = c.account_id)) AND c.account_id` + sqldb.StaysHere

// WaitingAccounts implements Store.
func (s SQL) WaitingAccounts(ctx context.Context) (accounts []Waiting, err error) {
	st := sqldb.Query("waiting_for_counts", waitingAccounts, prism.UUID{})
	err = s.Run(ctx, st, sqldb.ReadRows(&accounts, func(r *sqldb.Row) Waiting {
		return Waiting{prism.AccountID{UUID: r.UUID()}, r.Bool(), r.Int()}
	}))
	return accounts, err
}

const (
	selectNewest = `SELECT id FROM results WHERE account_id = $1 ORDER BY id DESC LIMIT 1`
	insertCursor = `INSERT INTO distribution_cursors (account_id, seq, walk) VALUES ($1, $2, $3) ON CONFLICT (account_id) DO NOTHING`
)

// BeginCounting implements Store. The newest id is read after the last change, so a result without a later change is walked.
func (s SQL) BeginCounting(ctx context.Context, account prism.AccountID) error {
	return s.Transaction(ctx, "begin_counting", func(run sqldb.Run) error {
		var (
			newest []prism.UUID
			walk   prism.UUID
		)
		of := []any{account.UUID}
		counts, err := sqldb.ChangesOfResults.Counts(ctx, run, "", account)
		if err != nil {
			return err
		}
		if err := run(ctx, sqldb.Statement{Text: selectNewest, Args: of}, sqldb.ReadRows(&newest, (*sqldb.Row).UUID)); err != nil {
			return err
		}
		if len(newest) > 0 {
			walk = after(newest[0])
		}
		return run(ctx, sqldb.Statement{Text: insertCursor, Args: []any{account.UUID, counts.Last, walk}}, sqldb.NoRow)
	})
}

// after is the id behind another one.
func after(id prism.UUID) prism.UUID {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i]++; id[i] != 0 {
			return id
		}
	}
	return prism.UUID(slices.Repeat([]byte{math.MaxUint8}, len(id)))
}
