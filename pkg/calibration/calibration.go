package calibration

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/prism-results/prism/pkg/prism"
)

// Method is a way to calibrate.
type Method string

// The methods. Temperature is for a choice and a scale, Platt and Isotonic for a yes_no. Auto is a request only.
const (
	Temperature Method = "temperature"
	Platt       Method = "platt"
	Isotonic    Method = "isotonic"
	Auto        Method = "auto"
)

// Calibration maps the probabilities of a model to calibrated ones. It never changes. Its JSON form is what is stored:
// {method, temperature}, {method, a, b}, or {method, x, y}.
type Calibration struct {
	Method Method `json:"method"`
	// Temperature is the T of p^(1/T), renormalised.
	Temperature float64 `json:"temperature,omitzero"`
	// A and B are those of σ(A·ln(p/(1-p)) + B).
	A float64 `json:"a,omitzero"`
	B float64 `json:"b,omitzero"`
	// X and Y are the corners of an isotonic function: X rises, Y does not fall. It is linear between two corners, and constant
	// before the first and after the last one.
	X []float64 `json:"x,omitzero"`
	Y []float64 `json:"y,omitzero"`
}

// Validate checks a calibration that was read from outside: whether it can be applied.
func (c Calibration) Validate() error {
	switch c.Method {
	case Temperature:
		if !(c.Temperature > 0) || math.IsInf(c.Temperature, 0) {
			return fmt.Errorf("temperature %v: must be above 0", c.Temperature)
		}
	case Platt:
		if !(c.A > 0) || math.IsInf(c.A, 0) || math.IsNaN(c.B) || math.IsInf(c.B, 0) {
			return fmt.Errorf("platt a %v, b %v: a must be above 0", c.A, c.B)
		}
	case Isotonic:
		if len(c.X) == 0 || len(c.X) != len(c.Y) {
			return fmt.Errorf("isotonic: %d x and %d y; there must be as many of both, and one at least", len(c.X), len(c.Y))
		}
		for i := range c.X {
			if !(c.X[i] >= 0 && c.X[i] <= 1 && c.Y[i] >= 0 && c.Y[i] <= 1) {
				return errors.New("isotonic: x and y must be between 0 and 1")
			}
			if i > 0 && (c.X[i] <= c.X[i-1] || c.Y[i] < c.Y[i-1]) {
				return errors.New("isotonic: x must rise and y must not fall")
			}
		}
	case Auto:
		return errors.New("auto is not the method of a calibration")
	default:
		return fmt.Errorf("unknown method %q", c.Method)
	}
	return nil
}

// Apply returns the calibrated probabilities, in the form of Observation.Probabilities. A temperature applies to the classes of
// a choice or a scale, and the other methods to the one probability of a yes_no. The order of the classes by
// probability, and of two answers by the probability of yes, is kept, except that an isotonic function makes different
// probabilities equal.
func (c Calibration) Apply(probabilities []float64) []float64 {
	return c.Append(make([]float64, 0, len(probabilities)), probabilities)
}

// Append appends what Apply returns. dst may be the memory directly behind probabilities.
func (c Calibration) Append(dst, probabilities []float64) []float64 {
	if c.Method == Temperature {
		return heat(dst, probabilities, 1/c.Temperature)
	}
	for _, p := range probabilities {
		if c.Method == Platt {
			dst = append(dst, logistic(c.A*logit(p)+c.B))
		} else {
			dst = append(dst, interpolate(c.X, c.Y, p))
		}
	}
	return dst
}

// heat appends p^power renormalised (Guo, Pleiss, Sun and Weinberger 2017, On calibration of modern neural networks, ICML). A
// probability of 0 stays 0, and a power of 1 changes nothing. exp and log take a third of the time of math.Pow.
func heat(dst, probabilities []float64, power float64) []float64 {
	if power == 1 || len(probabilities) == 0 {
		return append(dst, probabilities...)
	}
	first, most := len(dst), slices.Max(probabilities)
	for _, p := range probabilities {
		dst = append(dst, math.Exp(power*math.Log(p/most))) // 1 for the most probable class, so that the sum is not 0
	}
	prism.Normalize(dst[first:])
	return dst
}

// logit is ln(p/(1-p)). Probabilities of 0 and 1 count as 1e-15 and 1 - 1e-15.
func logit(p float64) float64 {
	p = min(max(p, clip), 1-clip)
	return math.Log(p) - math.Log1p(-p)
}

func logistic(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

func interpolate(x, y []float64, at float64) float64 {
	i, found := slices.BinarySearch(x, at)
	switch {
	case found:
		return y[i]
	case i == 0:
		return y[0]
	case i == len(x):
		return y[i-1]
	}
	// No further than the upper corner, whatever rounding does.
	return min(y[i], y[i-1]+(y[i]-y[i-1])*(at-x[i-1])/(x[i]-x[i-1]))
}
