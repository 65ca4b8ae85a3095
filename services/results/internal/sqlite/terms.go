package sqlite

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// indexResult does not write terms again that are the same: SQLite would take each of them out of its index first.
const indexResult = `INSERT INTO result_index (account_id, result_id, version, terms, numbers) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (account_id, result_id) DO UPDATE SET terms = excluded.terms WHERE result_index.terms IS DISTINCT FROM excluded.terms`

// IndexResults implements sqldb.Database.
func (d *database) IndexResults(ctx context.Context, run sqldb.Run, account prism.AccountID, rows []sqldb.Indexed) error {
	for _, r := range rows {
		args := []any{account.UUID, r.ID.UUID, r.Version, strings.Join(termWords(r.Terms), " "), r.Numbers}
		if err := run(ctx, sqldb.Statement{Text: indexResult, Args: args}, sqldb.NoRow); err != nil {
			return err
		}
	}
	return nil
}

// termWords are terms as the index has them: digits to the base 36.
func termWords(terms []finding.Term) (words []string) {
	for _, t := range terms {
		words = append(words, strconv.FormatUint(uint64(t), 36))
	}
	return words
}

// Alternatives implements sqldb.Database: the index of terms takes all at once.
func (d *database) Alternatives(n finding.Needs) []finding.Needs { return []finding.Needs{n} }

const (
	// fewRows is how many rows are read and sorted in less time than it takes to go through a million entries of an index.
	fewRows = 100_000
	// mostOf is the part of all rows, one in so many, from which on it costs more to collect the rows than to look at each.
	mostOf = 3
	// fewTerms bounds the terms that are looked for in the text of a row.
	fewTerms = 8

	// indexSpan is how many rows the index has at most: they have ids one after the other, but for those that were deleted.
	indexSpan = `-- name: IndexSpan :one
SELECT coalesce((SELECT max(id) FROM result_index) - (SELECT min(id) FROM result_index) + 1, 0)`
	countNeeded = `-- name: CountNeeded :one
SELECT count(*) FROM (SELECT 1 FROM term_index WHERE term_index MATCH $1 LIMIT $2)`
)

// Rarity implements sqldb.Database. SQLite has no statistics of terms, but counts them quickly.
func (d *database) Rarity(ctx context.Context, n finding.Needs) (sqldb.Rarity, error) {
	var span, matching int64
	if err := d.Run(ctx, sqldb.Query("rarity", indexSpan), sqldb.ReadRow(&span, (*sqldb.Row).Int)); err != nil {
		return sqldb.Some, err
	}
	count := sqldb.Query("rarity", countNeeded, match(n), max(span/mostOf, fewRows)+1)
	if err := d.Run(ctx, count, sqldb.ReadRow(&matching, (*sqldb.Row).Int)); err != nil {
		return sqldb.Some, err
	}
	return rarity(matching, span, n), nil
}

// rarity is that of needs which so many of the rows have.
func rarity(matching, rows int64, n finding.Needs) sqldb.Rarity {
	terms := 0
	for _, group := range slices.Concat(n.Words, n.Facts) {
		terms += len(group)
	}
	switch {
	case matching > rows/mostOf && terms <= fewTerms:
		return sqldb.Most
	case matching <= fewRows:
		return sqldb.Few
	}
	return sqldb.Some
}

// Having implements sqldb.Database.
func (d *database) Having(l *sqldb.List, account prism.AccountID, n finding.Needs, r sqldb.Rarity) {
	from := " FROM result_index f"
	if r == sqldb.Few { // without statistics, SQLite would go through an index of all rows in the order of the list
		from += " NOT INDEXED"
	}
	l.Add(from+" WHERE f.account_id = ", account.UUID)
	switch {
	case n.None():
	case r == sqldb.Most:
		l.Write(" AND " + condition(n, func(word string) string {
			return "instr(' ' || f.terms || ' ', " + l.Parameter(" "+word+" ") + ")"
		}))
	default:
		l.Add(" AND f.id IN (SELECT rowid FROM term_index WHERE term_index MATCH ", match(n))
		l.Write(")")
	}
}

// match is what the index of terms is asked for.
func match(n finding.Needs) string {
	return condition(n, func(word string) string { return `"` + word + `"` })
}

// condition is needs as a condition, in which each term is written by a function.
func condition(n finding.Needs, term func(word string) string) string {
	group := func(terms []finding.Term, operator string) string {
		words := termWords(terms)
		for i, word := range words {
			words[i] = term(word)
		}
		return "(" + strings.Join(words, operator) + ")"
	}
	var words, all []string
	for _, terms := range n.Words {
		words = append(words, group(terms, " AND "))
	}
	if words != nil {
		all = append(all, "("+strings.Join(words, " OR ")+")")
	}
	for _, terms := range n.Facts {
		all = append(all, group(terms, " OR "))
	}
	return strings.Join(all, " AND ")
}
