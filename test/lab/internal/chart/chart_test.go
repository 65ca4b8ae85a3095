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
	for name, c := range map[string]interface{ SVG() []byte }{
		"empty":  Bars{},
		"no bar": Bars{Columns: []string{"c"}, Rows: []Row{{Name: "r"}, {Name: "zero", Values: []float64{0}}}},
		"bars": Bars{Title: `a < b & "c"`, Columns: []string{"<c>", "d"}, Rows: []Row{
			{Name: "<r>", Values: []float64{1, 12_345}}, {Name: "s", Values: []float64{2}, Kind: Subject},
		}},
		"no diagram": Plots{},
		"diagrams": Plots{Title: "<t>", Plots: []Plot{
			{}, {
				Title: `a & "b"`, X: Axis{"<x>", 0, 1, 0.2}, Y: Axis{"y", 0, 1, 0.5}, Lines: []Line{{Name: "<l>", Points: [][2]float64{{0, 0}, {1, 1}}}},
				Dots: []Dot{{X: 0.5, Y: 0.5, Low: 0.4, High: 0.6}},
			},
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

func TestADiagramHasItsPointsWhereItsMarksAre(t *testing.T) {
	t.Parallel()
	svg := string(Plots{Plots: []Plot{{
		X: Axis{"x", 0, 1, 0.5}, Y: Axis{"y", 0, 2, 1},
		Lines: []Line{{Kind: Subject, Points: [][2]float64{{0, 0}, {0.5, 1}, {1, 2}, {1.1, 2}, {1, 3}}}},
		Dots:  []Dot{{X: 0.5, Y: 1, Low: 0, High: 2}},
	}}}.SVG())
	for _, want := range []string{
		`<polyline points="68.0,384.0 402.0,254.0 736.0,124.0" class="line subject"/>`, // the last two are outside
		`<circle cx="402.0" cy="254.0"`, `<line x1="402.0" y1="384.0" x2="402.0" y2="124.0" class="line subject"/>`,
		`<text x="402.0" y="402.0" class="muted" text-anchor="middle">0.5</text>`, `<text x="62.0" y="258.0" class="muted" text-anchor="end">1</text>`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s is not in\n%s", want, svg)
		}
	}
}
