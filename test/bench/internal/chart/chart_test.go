package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestADrawingIsXMLWhateverItsTextsSay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Bars{
		"empty":  {},
		"no bar": {Columns: []string{"c"}, Rows: []Row{{Name: "r"}, {Name: "zero", Values: []float64{0}}}},
		"bars": {Title: `a < b & "c"`, Columns: []string{"<c>", "d"}, Rows: []Row{
			{Name: "<r>", Values: []float64{1, 12_345}}, {Name: "s", Values: []float64{2}, Kind: Subject},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svg := string(c.SVG())
			d := xml.NewDecoder(strings.NewReader(svg))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%v\n%s", err, svg)
				}
			}
			if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("a place is no number:\n%s", svg)
			}
		})
	}
}

func TestThousandsHaveCommas(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", 999.4: "999", 999.6: "1,000", 12_345: "12,345", 1_234_567: "1,234,567"} {
		if got := Thousands(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}
