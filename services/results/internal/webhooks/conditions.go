package webhooks

import (
	"math"
	"strconv"

	"github.com/prism-results/prism/pkg/api"
)

// number reads a number, which is finite.
func number(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

// holds reports whether a condition holds of the columns of a result. A column that the result does not have, and one without a value, meet
// no condition, not even `not` (spec: webhook-condition).
func holds(c api.EventCondition, columns api.Row) bool {
	cell, _ := columns.Get(c.Column)
	wanted, wantsNumber := number(c.Value)
	var (
		equal, isNumber bool
		n               float64
	)
	switch v := cell.(type) {
	case string:
		equal = v == c.Value
		n, isNumber = number(v)
	case float64:
		n, isNumber = v, true
	default:
		return false
	}
	bothNumbers := isNumber && wantsNumber
	switch c.Op {
	case api.CellIs:
		return equal || bothNumbers && n == wanted
	case api.CellNot:
		return !equal && !(bothNumbers && n == wanted)
	case api.CellFrom:
		return bothNumbers && n >= wanted
	case api.CellTo:
		return bothNumbers && n <= wanted
	}
	return false
}
