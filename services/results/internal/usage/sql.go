package usage

import (
	"context"
	"fmt"
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// SQL keeps them in a database.
type SQL struct{ sqldb.Database }

// The parts of the statement of ReadUsage. The view usage_now has both the folded sums and what is not folded yet. total is the
// results of a group in all currencies.
const (
	readUsage = `-- name: ReadUsage :many
SELECT %s AS named, s.currency, s.results, s.failed, s.input_tokens, s.output_tokens, s.cost, s.cost_rest
FROM (
	SELECT %s AS part, r.currency, CAST(sum(r.results) AS bigint) AS results, CAST(sum(r.failed) AS bigint) AS failed,
		CAST(sum(r.input_tokens) AS bigint) AS input_tokens, CAST(sum(r.output_tokens) AS bigint) AS output_tokens,
		CAST(sum(r.cost) AS bigint) AS cost, CAST(sum(r.cost_rest) AS bigint) AS cost_rest,
		sum(sum(r.results)) OVER (PARTITION BY %[2]s) AS total
	FROM usage_now r WHERE r.account_id = `
	groupUsage = ` GROUP BY 1, 2
) s`
	// Prisms are added up by id, and then get their slugs. A store.Use has no prism.
	slugsOfUsage = ` LEFT JOIN prisms p ON p.id = s.part AND p.account_id = `
	daysRise     = ` ORDER BY s.part, s.currency`
	mostFirst    = ` ORDER BY s.total DESC, named, s.currency LIMIT `
)

// countUse adds to the folded sum directly, as such calls are few. It locks only one row, so it and a fold cannot deadlock.
const countUse = `-- name: CountUse :exec
INSERT INTO usage AS u
	(account_id, day, prism_id, model, key_id, currency, results, failed, input_tokens, output_tokens, cost, cost_rest)
VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8, $9, $10, $11)
ON CONFLICT (account_id, day, prism_id, model, key_id, currency) DO UPDATE SET
	results = u.results + 1, failed = u.failed + excluded.failed,
	input_tokens = u.input_tokens + excluded.input_tokens, output_tokens = u.output_tokens + excluded.output_tokens,
	cost = u.cost + excluded.cost + (u.cost_rest + excluded.cost_rest) / 1000000000000,
	cost_rest = (u.cost_rest + excluded.cost_rest) % 1000000000000`

// countRecent reads a few rows of each account by its key. What is not folded yet is of the last seconds.
const countRecent = `-- name: CountRecent :many
SELECT a.id, (SELECT coalesce(CAST(sum(u.results) AS bigint), 0) FROM usage u WHERE u.account_id = a.id AND u.day >= $1)
FROM accounts a WHERE a.id` + sqldb.StaysHere

// CountRecent is how many results each account has since the beginning of a day.
func (s SQL) CountRecent(ctx context.Context, from prism.Day) (map[prism.AccountID]int64, error) {
	type count struct {
		account prism.AccountID
		results int64
	}
	var all []count
	err := s.Run(ctx, sqldb.Query("count_recent", countRecent, int32(from)), sqldb.ReadRows(&all, func(r *sqldb.Row) count {
		return count{prism.AccountID{UUID: r.UUID()}, r.Int()}
	}))
	recent := make(map[prism.AccountID]int64, len(all))
	for _, c := range all {
		recent[c.account] = c.results
	}
	return recent, err
}

// CountUse implements Store.
func (s SQL) CountUse(ctx context.Context, account prism.AccountID, u Use) error {
	call := prism.ModelCall{}
	if u.Call != nil {
		call = *u.Call
	}
	used := sqldb.PlausibleUsage(call.Usage)
	known := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	failed, cost := int64(0), known(used.Cost)
	if u.Failed {
		failed = 1
	}
	args := []any{
		account.UUID, int32(u.Day),
		prism.UUID{},
		call.Name, u.Key.UUID, used.Currency, failed,
		known(used.InputTokens), known(used.OutputTokens), cost / sqldb.CostUnit, cost % sqldb.CostUnit,
	}
	return s.Run(ctx, sqldb.Statement{Operation: "count_use", Text: countUse, Args: args}, sqldb.NoRow)
}

// ReadUsage implements Store.
func (s SQL) ReadUsage(
	ctx context.Context, account prism.AccountID, f Filter,
) (sums []Sum, more bool, err error) {
	l := sqldb.NewList("read_usage")
	dimension := map[api.UsageBy]struct {
		shown, part string
		read        func(*sqldb.Row, *Sum)
	}{
		api.ByDay:   {"s.part", "r.day", func(r *sqldb.Row, sum *Sum) { sum.Day = prism.Day(r.Int32()) }},
		api.ByPrism: {"coalesce(p.slug, '')", "r.prism_id", func(r *sqldb.Row, sum *Sum) { sum.Name = r.Text() }},
		api.ByModel: {"s.part", "r.model", func(r *sqldb.Row, sum *Sum) { sum.Name = r.Text() }},
		api.ByKey:   {"s.part", "r.key_id", func(r *sqldb.Row, sum *Sum) { sum.Key = prism.KeyID{UUID: r.UUID()} }},
	}[f.By]
	l.Add(fmt.Sprintf(readUsage, dimension.shown, dimension.part), account.UUID)
	l.Add(" AND r.day >= ", int32(f.From))
	l.Add(" AND r.day < ", int32(f.To))
	if !f.Prism.IsZero() {
		l.Add(" AND r.prism_id = ", f.Prism.UUID)
	}
	if f.Model != "" {
		l.Add(" AND r.model = ", f.Model)
	}
	if f.Key != nil {
		l.Add(" AND r.key_id = ", f.Key.UUID)
	}
	l.Write(groupUsage)
	if f.By == api.ByPrism {
		l.Add(slugsOfUsage, account.UUID)
	}
	if f.By == api.ByDay {
		l.Write(daysRise)
	} else {
		l.Add(mostFirst, int64(MaxSums+1))
	}
	err = s.Run(ctx, l.Complete(), sqldb.ReadRows(&sums, func(r *sqldb.Row) (sum Sum) {
		dimension.read(r, &sum)
		sum.Currency, sum.Results, sum.Failed, sum.InputTokens, sum.OutputTokens = r.Text(), r.Int(), r.Int(), r.Int(), r.Int()
		sum.Cost = prism.Cost{Whole: r.Int(), Rest: r.Int()}
		return sum
	}))
	if err == nil && f.By != api.ByDay && len(sums) > MaxSums {
		last := sums[MaxSums].Group() // which may have further currencies
		more, sums = true, slices.DeleteFunc(sums, func(s Sum) bool { return s.Group() == last })
	}
	return sums, more, err
}
