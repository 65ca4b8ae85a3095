package sqlite

import (
	"strconv"
	"strings"

	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// TermText implements sqldb.Database: words of digits to the base 36.
func (d *database) TermText(terms []finding.Term) string { return strings.Join(termWords(terms), " ") }

func termWords(terms []finding.Term) (words []string) {
	for _, t := range terms {
		words = append(words, strconv.FormatUint(uint64(t), 36))
	}
	return words
}

// TermSet implements sqldb.Database.
func (d *database) TermSet(parameter string) string { return parameter }

// Alternatives implements sqldb.Database: the index of terms takes all at once.
func (d *database) Alternatives(n finding.Needs) []finding.Needs { return []finding.Needs{n} }

// Having implements sqldb.Database.
func (d *database) Having(l *sqldb.List, n finding.Needs) {
	var all []string
	add := func(groups [][]finding.Term, inside, between string) {
		var some []string
		for _, group := range groups {
			some = append(some, `("`+strings.Join(termWords(group), `" `+inside+` "`)+`")`)
		}
		if some != nil {
			all = append(all, "("+strings.Join(some, " "+between+" ")+")")
		}
	}
	add(n.Words, "AND", "OR")
	add(n.Facts, "OR", "AND")
	if all != nil {
		l.Add(" AND f.id IN (SELECT rowid FROM term_index WHERE term_index MATCH ", strings.Join(all, " AND "))
		l.Write(")")
	}
}
