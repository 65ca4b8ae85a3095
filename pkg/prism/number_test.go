package prism_test

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/prism"
)

// spec: numbers-in-cells
func TestNumbersAreWrittenAsJavaScriptWritesThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		f    float64
		want string
	}{
		{0, "0"},
		{math.Copysign(0, -1), "0"},
		{1, "1"},
		{-1, "-1"},
		{0.1, "0.1"},
		{0.30000000000000004, "0.30000000000000004"},
		{1.0 / 3, "0.3333333333333333"},
		{0.5, "0.5"},
		{100, "100"},
		{1e-6, "0.000001"},
		{1.5e-6, "0.0000015"},
		{9.99e-7, "9.99e-7"},
		{1e-7, "1e-7"},
		{-1e-7, "-1e-7"},
		{1.25e-9, "1.25e-9"},
		{1e-10, "1e-10"},
		{1e-100, "1e-100"},
		{1e20, "100000000000000000000"},
		{123456789012345680000, "123456789012345680000"},
		{math.Nextafter(1e21, 0), "999999999999999900000"},
		{1e21, "1e+21"},
		{-1.5e21, "-1.5e+21"},
		{1e100, "1e+100"},
		{5e-324, "5e-324"},
		{2.2250738585072014e-308, "2.2250738585072014e-308"},
		{1.7976931348623157e308, "1.7976931348623157e+308"},
		{9007199254740991, "9007199254740991"},
		{9007199254740993, "9007199254740992"},
		{math.NaN(), "0"},
		{math.Inf(1), "0"},
		{math.Inf(-1), "0"},
	} {
		if got := string(prism.AppendNumber([]byte("x"), c.f)); got != "x"+c.want {
			t.Errorf("%s, want %s", got[1:], c.want)
		}
	}
}

// The standard library's encoder documents the same notation; the digits must read back as the very same number.
func TestEveryNumberIsJSONThatReadsBackAsItself(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if math.IsNaN(f) || math.IsInf(f, 0) || f == 0 {
			return
		}
		text := string(prism.AppendNumber(nil, f))
		if back, err := strconv.ParseFloat(text, 64); err != nil || back != f {
			t.Fatalf("%s reads back as %v, %v", text, back, err)
		}
		standard, err := json.Marshal(f)
		if err != nil || string(standard) != text {
			t.Fatalf("%s, want %s, %v", text, standard, err)
		}
		if strings.Contains(text, "e-0") || strings.Contains(text, "e+0") {
			t.Fatalf("%s has a zero in its exponent", text)
		}
	})
}

func BenchmarkAppendNumber(b *testing.B) {
	var buf []byte
	for b.Loop() {
		buf = prism.AppendNumber(buf[:0], 0.30000000000000004)
	}
}
