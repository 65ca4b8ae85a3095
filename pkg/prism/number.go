package prism

import (
	"math"
	"strconv"
)

// AppendNumber appends f as all formats write numbers (spec: numbers-in-cells): the shortest digits that read back as f, in
// the notation of ECMA-262's Number::toString, which is valid JSON. Stored numbers are finite; other numbers have no JSON
// form and are written as 0.
func AppendNumber(b []byte, f float64) []byte {
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, '0')
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	if n := len(b); b[n-4] == 'e' && b[n-2] == '0' { // e-09 is written e-9
		b = append(b[:n-2], b[n-1])
	}
	return b
}
