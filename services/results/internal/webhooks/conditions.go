package webhooks

import (
	"fmt"
	"math"
	"strconv"

	"github.com/prism-results/prism/pkg/api"
)

// number reads a number, which is finite.
func number(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

// holds reports whether a condition holds of the columns of a result. A column that the result does not have, and an empty cell, meet no
// condition, not even `not` (spec: webhook-condition).
func holds(c api.EventCondition, columns map[string]any) bool {
	cell, ok := columns[c.Column]
	if !ok || cell == nil {
		return false
	}
	values := []any{cell}
	if list, ok := cell.([]any); ok { // of a tags question: any of them
		values = list
	}
	equal, from, to := false, false, false
	for _, v := range values {
		text := fmt.Sprint(v)
		if b, ok := v.(bool); ok {
			text = map[bool]string{true: "yes", false: "no"}[b]
		}
		n, isNumber := number(text)
		wanted, wantsNumber := number(c.Value)
		equal = equal || text == c.Value || isNumber && wantsNumber && n == wanted
		from = from || isNumber && wantsNumber && n >= wanted
		to = to || isNumber && wantsNumber && n <= wanted
	}
	switch c.Op {
	case api.CellIs:
		return equal
	case api.CellNot:
		return !equal
	case api.CellFrom:
		return from
	case api.CellTo:
		return to
	}
	return false
}
