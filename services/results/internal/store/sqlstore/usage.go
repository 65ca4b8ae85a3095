package sqlstore

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// The parts of the statements that add up. usage_now is one view of both what is folded and what is not.
const (
	sumUsage = `-- name: ReadUsage :many
SELECT `
	ofUsage = `, r.currency, CAST(sum(r.results) AS bigint) AS results, CAST(sum(r.failed) AS bigint) AS failed,
	CAST(sum(r.input_tokens) AS bigint) AS input_tokens, CAST(sum(r.output_tokens) AS bigint) AS output_tokens,
	CAST(sum(r.cost) AS bigint) AS cost, CAST(sum(r.cost_rest) AS bigint) AS cost_rest
FROM usage_now r WHERE r.account_id = `
	groupUsage = ` GROUP BY 1, 2`
	orderUsage = ` ORDER BY 1, 2`

	// Prisms are added up by id, and then get their slugs.
	slugsBefore = `-- name: ReadUsage :many
SELECT p.slug, s.currency, s.results, s.failed, s.input_tokens, s.output_tokens, s.cost, s.cost_rest FROM (SELECT `
	slugsAfter = `) s JOIN prisms p ON p.id = s.prism_id AND p.account_id = `
)

// ReadUsage implements store.Usage.
func (s Store) ReadUsage(
	ctx context.Context, account prism.AccountID, f store.UsageFilter,
) (sums []store.UsageSum, err error) {
	l := list{Statement: Statement{Operation: "read_usage", ReadOnly: true}}
	of := map[contract.UsageBy]struct {
		before string
		read   func(*Row, *store.UsageSum)
	}{
		contract.ByDay:   {sumUsage + "r.day", func(r *Row, sum *store.UsageSum) { sum.Day = prism.Day(r.Int32()) }},
		contract.ByPrism: {slugsBefore + "r.prism_id", func(r *Row, sum *store.UsageSum) { sum.Name = r.Text() }},
		contract.ByModel: {sumUsage + "r.model", func(r *Row, sum *store.UsageSum) { sum.Name = r.Text() }},
		contract.ByKey:   {sumUsage + "r.key_id", func(r *Row, sum *store.UsageSum) { sum.Key = prism.KeyID{UUID: r.UUID()} }},
	}[f.By]
	l.add(of.before+ofUsage, account.UUID)
	l.add(" AND r.day >= ", int32(f.From))
	l.add(" AND r.day < ", int32(f.To))
	if !f.Prism.IsZero() {
		l.add(" AND r.prism_id = ", f.Prism.UUID)
	}
	if f.Model != "" {
		l.add(" AND r.model = ", f.Model)
	}
	if f.Key != nil {
		l.add(" AND r.key_id = ", f.Key.UUID)
	}
	l.text.WriteString(groupUsage)
	if f.By == contract.ByPrism {
		l.add(slugsAfter, account.UUID)
	}
	l.text.WriteString(orderUsage)
	l.Text = l.text.String()
	err = s.Run(ctx, l.Statement, all(&sums, func(r *Row) (sum store.UsageSum) {
		of.read(r, &sum)
		sum.Currency, sum.Results, sum.Failed, sum.InputTokens, sum.OutputTokens = r.Text(), r.Int(), r.Int(), r.Int(), r.Int()
		sum.Cost = prism.Cost{Whole: r.Int(), Rest: r.Int()}
		return sum
	}))
	return sums, err
}
