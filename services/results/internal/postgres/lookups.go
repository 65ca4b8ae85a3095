package postgres

import (
	"fmt"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// lookUps is a statement that executes a look-up for each element of its parameters, which are arrays. It returns a row for
// each, in their order; a row of nulls where the look-up finds none. Postgres starts one statement instead of many: with 32
// callers, reads took 15% less processor time in one process, and 5% less in three.
//
// LIMIT keeps the planner from joining whole tables, so it plans the look-up as it would alone. The arrays come from subqueries,
// which hide their lengths: a plan for few elements would look cheaper than the plan for any number, and be made for each batch.
const lookUps = `SELECT found.*
FROM unnest(%s) WITH ORDINALITY AS sent (%s, position)
LEFT JOIN LATERAL (
%s
LIMIT 1
) AS found ON true
ORDER BY sent.position`

// lookUpsLike is lookUps for a look-up.
func (d *database) lookUpsLike(s sqldb.Statement) string {
	if text, ok := d.lookUps.Load(s.Text); ok {
		return text.(string) //nolint:forcetypeassert // only the line below stores
	}
	var arrays, names, replace []string
	for i, arg := range s.Args {
		parameter, name := fmt.Sprintf("$%d", i+1), fmt.Sprintf("parameter_%d", i+1)
		arrays = append(arrays, fmt.Sprintf("(SELECT %s::%s[])", parameter, typeOf(arg)))
		names = append(names, name)
		replace = append(replace, parameter, "sent."+name)
	}
	text := fmt.Sprintf(lookUps, strings.Join(arrays, ", "), strings.Join(names, ", "), strings.NewReplacer(replace...).Replace(s.Text))
	d.lookUps.Store(s.Text, text)
	return text
}

// typeOf is the type that Postgres has for an argument of a look-up.
func typeOf(arg any) string {
	switch arg.(type) {
	case prism.UUID:
		return "uuid"
	case []byte:
		return "bytea"
	case string:
		return "text"
	case bool:
		return "boolean"
	}
	panic(fmt.Sprintf("postgres: a look-up by an argument of the type %T", arg)) // a mistake in the code
}
