package postgres

import (
	"strconv"

	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// TermText implements sqldb.Database: an array in the language of Postgres.
func (d *database) TermText(terms []finding.Term) string {
	b := []byte("{")
	for i, t := range terms {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(t), 10)
	}
	return string(append(b, '}'))
}

// TermSet implements sqldb.Database.
func (d *database) TermSet(parameter string) string {
	return "CAST(CAST(" + parameter + " AS text) AS integer[])"
}

// Having implements sqldb.Database. The terms are parameters: a statement with other terms has the text of the one before, so searches do
// not push others out of the statements that a connection has prepared.
func (d *database) Having(l *sqldb.List, n finding.Needs) {
	begin := " AND (f.terms @> "
	for _, group := range n.Words {
		addTerms(l, begin, group)
		begin = " OR f.terms @> "
	}
	if len(n.Words) > 0 {
		l.Write(")")
	}
	for _, group := range n.Facts {
		addTerms(l, " AND f.terms && ", group)
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
