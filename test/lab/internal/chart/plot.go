package chart

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Plots are diagrams side by side, with a common heading.
type Plots struct {
	Title, Note string
	Plots       []Plot
}

// Plot is a diagram. What lies outside its axes is not drawn.
type Plot struct {
	Title string
	X, Y  Axis
	Lines []Line
	Dots  []Dot
}

// Axis is the range of a diagram, with a mark at each multiple of Step above From.
type Axis struct {
	Name           string
	From, To, Step float64
}

// Line joins points. Its name is in the legend above the diagram.
type Line struct {
	Name   string
	Kind   Kind
	Points [][2]float64
}

// Dot is an estimate with its interval.
type Dot struct{ X, Y, Low, High float64 }

// The measures of diagrams.
const (
	plotTop, plotHeight = 124.0, 260.0
	plotGap, plotLeft   = 40.0, 44.0
	plotBelow           = 52.0
	dotRadius           = 3.5
	swatch, letter      = 18.0, 6.6 // letter is the mean width of one
)

// SVG is the drawing.
func (p Plots) SVG() []byte {
	var b bytes.Buffer
	begin(&b, plotTop+plotHeight+plotBelow, p.Title, p.Note)
	n := float64(max(1, len(p.Plots)))
	each := (width - 2*margin - plotGap*(n-1)) / n
	for i, one := range p.Plots {
		one.draw(&b, frame{one.X, one.Y, margin + float64(i)*(each+plotGap) + plotLeft, each - plotLeft})
	}
	fmt.Fprintln(&b, `</svg>`)
	return b.Bytes()
}

// frame is where the axes of a diagram are in the drawing.
type frame struct {
	x, y        Axis
	left, width float64
}

func (f frame) across(x float64) float64 { return f.left + f.width*f.x.part(x) }
func (f frame) down(y float64) float64   { return plotTop + plotHeight*(1-f.y.part(y)) }

// part is how far a value is from the begin of the axis, 0 to 1.
func (a Axis) part(v float64) float64 { return (v - a.From) / (a.To - a.From) }

func (a Axis) marks(mark func(v float64, name string)) {
	for i := 0; ; i++ {
		v := a.From + float64(i)*a.Step
		if v > a.To+a.Step/1e6 || a.Step <= 0 {
			return
		}
		mark(v, strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64))
	}
}

func (p Plot) draw(b *bytes.Buffer, f frame) {
	text(b, f.left, plotTop-34, `font-weight="600"`, p.Title)
	f.y.marks(func(v float64, name string) {
		rule(b, "axis", f.left, f.down(v), f.left+f.width, f.down(v))
		text(b, f.left-6, f.down(v)+4, `class="muted" text-anchor="end"`, name)
	})
	f.x.marks(func(v float64, name string) {
		rule(b, "axis", f.across(v), plotTop+plotHeight, f.across(v), plotTop+plotHeight+4)
		text(b, f.across(v), plotTop+plotHeight+18, `class="muted" text-anchor="middle"`, name)
	})
	text(b, f.left+f.width/2, plotTop+plotHeight+38, `class="muted" text-anchor="middle"`, f.x.Name+" →")
	text(b, f.left-plotLeft+4, plotTop-14, `class="muted"`, "↑ "+f.y.Name)
	at := f.left + f.width
	for i := len(p.Lines) - 1; i >= 0; i-- {
		l := p.Lines[i]
		l.draw(b, f)
		if l.Name != "" {
			text(b, at, plotTop-14, `text-anchor="end"`, l.Name)
			at -= letter*float64(len([]rune(l.Name))) + 6
			rule(b, "line "+string(l.Kind), at-swatch, plotTop-18, at, plotTop-18)
			at -= swatch + 14
		}
	}
	for _, d := range p.Dots {
		rule(b, "line subject", f.across(d.X), f.down(d.Low), f.across(d.X), f.down(d.High))
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="%g" class="subject"/>`+"\n", f.across(d.X), f.down(d.Y), dotRadius)
	}
}

func (l Line) draw(b *bytes.Buffer, f frame) {
	var points []string
	for _, p := range l.Points {
		if x, y := f.x.part(p[0]), f.y.part(p[1]); min(x, y) >= 0 && max(x, y) <= 1 {
			points = append(points, fmt.Sprintf("%.1f,%.1f", f.across(p[0]), f.down(p[1])))
		}
	}
	fmt.Fprintf(b, `<polyline points="%s" class="line %s"/>`+"\n", strings.Join(points, " "), l.Kind)
}

func rule(b *bytes.Buffer, class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`+"\n", x1, y1, x2, y2, class)
}
