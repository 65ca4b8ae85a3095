package postgres

import (
	"context"
	"strconv"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// indexResults writes rows of the index, whose terms are texts: arrays in an array would have to have one length. A statement for each
// row took as much of Postgres again as the writing itself.
const indexResults = `-- name: IndexResults :exec
INSERT INTO result_index (account_id, result_id, version, terms, numbers)
SELECT $1::uuid, s.result_id, s.version, s.terms::integer[], s.numbers
FROM unnest($2::uuid[], $3::integer[], $4::text[], $5::bytea[]) AS s (result_id, version, terms, numbers)
ON CONFLICT (account_id, result_id) DO UPDATE SET terms = excluded.terms WHERE result_index.terms IS DISTINCT FROM excluded.terms`

// IndexResults implements sqldb.Database: one statement for all rows.
func (d *database) IndexResults(ctx context.Context, run sqldb.Run, account prism.AccountID, rows []sqldb.Indexed) error {
	if len(rows) == 0 {
		return nil
	}
	ids, versions := make([]prism.UUID, len(rows)), make([]int32, len(rows))
	terms, numbers := make([]string, len(rows)), make([][]byte, len(rows))
	for i, r := range rows {
		ids[i], versions[i], terms[i], numbers[i] = r.ID.UUID, r.Version, termArray(r.Terms), r.Numbers
	}
	return run(ctx, sqldb.Statement{Text: indexResults, Args: []any{account.UUID, ids, versions, terms, numbers}}, sqldb.NoRow)
}

// termArray is an array in the language of Postgres.
func termArray(terms []finding.Term) string {
	b := []byte("{")
	for i, t := range terms {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(t), 10)
	}
	return string(append(b, '}'))
}

// Alternatives implements sqldb.Database: one for each term of the largest group of facts. Postgres knows how many results have one term, but
// takes many rare ones together for frequent, and then looks in the terms of each result for all of them. Of the other groups those of many
// terms are left out: what is found is looked at anyway.
func (d *database) Alternatives(n finding.Needs) []finding.Needs {
	var largest []finding.Term
	var facts [][]finding.Term
	for _, group := range n.Facts {
		if len(group) > len(largest) {
			group, largest = largest, group
		}
		if 0 < len(group) && len(group) <= fewTerms {
			facts = append(facts, group)
		}
	}
	if len(largest) < 2 {
		return []finding.Needs{n}
	}
	var all []finding.Needs
	for _, t := range largest {
		all = append(all, finding.Needs{Words: n.Words, Facts: append([][]finding.Term{{t}}, facts...)})
	}
	return all
}

// fewTerms bounds the terms that a row's are compared with.
const fewTerms = 8

// Rarity implements sqldb.Database.
func (d *database) Rarity(context.Context, finding.Needs) (sqldb.Rarity, error) {
	return sqldb.Some, nil
}

// Having implements sqldb.Database. The terms are parameters: a statement with other terms has the text of the one before, so searches do
// not push others out of the statements that a connection has prepared.
func (d *database) Having(l *sqldb.List, account prism.AccountID, n finding.Needs, _ sqldb.Rarity) {
	l.Add(" FROM result_index f WHERE f.account_id = ", account.UUID)
	begin := " AND (f.terms @> "
	for _, group := range n.Words {
		addTerms(l, begin, group)
		begin = " OR f.terms @> "
	}
	if len(n.Words) > 0 {
		l.Write(")")
	}
	for _, group := range n.Facts {
		operator := "&&"
		if len(group) == 1 {
			operator = "@>" // which Postgres estimates in the same way, and evaluates for a row in less time
		}
		addTerms(l, " AND f.terms "+operator+" ", group)
	}
}

func addTerms(l *sqldb.List, text string, terms []finding.Term) {
	numbers := make([]int32, len(terms))
	for i, t := range terms {
		numbers[i] = int32(t) //nolint:gosec // below finding.Terms
	}
	l.Add(text+"CAST(", numbers)
	l.Write(" AS integer[])")
}
