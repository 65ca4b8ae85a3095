package postgres

import (
	"strconv"
	"strings"

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

// Having implements sqldb.Database.
func (d *database) Having(l *sqldb.List, n finding.Needs) {
	if len(n.Words) > 0 {
		var groups []string
		for _, group := range n.Words {
			groups = append(groups, "f.terms @> '"+d.TermText(group)+"'")
		}
		l.Write(" AND (" + strings.Join(groups, " OR ") + ")")
	}
	for _, group := range n.Facts {
		l.Write(" AND f.terms && '" + d.TermText(group) + "'")
	}
}
