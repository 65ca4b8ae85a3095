package calibration

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/prism-results/prism/pkg/prism"
)

// ErrNotFitted tells that observations do not determine a calibration of a method; errors that wrap it say why.
var ErrNotFitted = errors.New("the labels do not determine a calibration")

// Report is what a fit is expected to be worth on new answers.
type Report struct {
	Labels int `json:"labels"`
	// Before is the mean log loss of the probabilities as they are, and After that of the calibrated ones: each observation
	// calibrated by a fit to the other four fifths (stratified 5-fold cross-validation).
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	// Gain is Before - After.
	Gain Figure `json:"gain"`
}

var minLabels = map[Method]int{Temperature: MinTemperature, Platt: MinPlatt, Isotonic: MinIsotonic}

// MethodsOf are the methods that calibrate probabilities of classes; the first one needs the fewest labels.
func MethodsOf(kind prism.Classes) []Method {
	if kind == prism.Binary {
		return []Method{Platt, Isotonic}
	}
	return []Method{Temperature}
}

// MinLabelsOf is how many labels a method needs; of Auto, the method that needs the fewest.
func MinLabelsOf(kind prism.Classes, method Method) int {
	if method == Auto {
		method = MethodsOf(kind)[0]
	}
	return minLabels[method]
}

// Fit fits a calibration. With Auto it returns nil where the 95% interval of the gain of the best method is not above 0; the
// report is then of that method.
//
// It fails with a TooFewError, with an error that wraps ErrNotFitted, or because the method does not calibrate such classes.
func Fit(kind prism.Classes, method Method, observations []Observation) (*Calibration, Report, error) {
	sorted, err := canonical(kind, observations)
	if err != nil {
		return nil, Report{}, err
	}
	methods := []Method{method}
	switch {
	case method == Auto:
		methods = MethodsOf(kind)
	case !slices.Contains(MethodsOf(kind), method):
		return nil, Report{}, fmt.Errorf("%s classes are not calibrated by %q", kind, method)
	}
	folds := foldsOf(sorted)
	var best *Calibration
	var report Report
	var refused error
	for _, m := range methods {
		c, err := fit(m, sorted)
		if err == nil {
			var r Report
			if r, err = crossValidate(kind, m, sorted, folds); err == nil && (best == nil || r.After < report.After) {
				best, report = &c, r
			}
		}
		if err != nil && refused == nil { // of several, the first one needs the fewest labels
			refused = err
		}
	}
	if best == nil {
		return nil, Report{}, refused
	}
	if method == Auto && report.Gain.Low <= 0 {
		best = nil
	}
	return best, report, nil
}

// fit fits a method to observations, of which there must be enough.
func fit(method Method, sorted []Observation) (Calibration, error) {
	if need := minLabels[method]; len(sorted) < need {
		return Calibration{}, &TooFewError{len(sorted), need, "labels"}
	}
	if method == Platt {
		yes := countYes(sorted)
		if few := min(yes, len(sorted)-yes); few < MinPlattClass {
			return Calibration{}, &TooFewError{few, MinPlattClass, "labels of yes or of no"}
		}
	}
	c, err := fitAnyNumber(method, sorted)
	if err == nil && method == Isotonic && c.Y[0] == c.Y[len(c.Y)-1] {
		err = fmt.Errorf("%w: yes is no more frequent where its probability is higher", ErrNotFitted)
	}
	return c, err
}

// fitAnyNumber is fit for any number of observations: four fifths may be fewer than fit needs.
func fitAnyNumber(method Method, sorted []Observation) (Calibration, error) {
	switch method {
	case Temperature:
		return fitTemperature(sorted)
	case Platt:
		return fitPlatt(sorted)
	case Isotonic, Auto:
	}
	return fitIsotonic(sorted), nil
}

// The bounds of a temperature. Labels whose best temperature is outside do not determine it.
const (
	leastTemperature = 0.05
	mostTemperature  = 20
)

// fitTemperature minimises log loss, which is convex in 1/T, by Newton's method with bisection (Guo, Pleiss, Sun and
// Weinberger 2017, On calibration of modern neural networks, ICML). Labels of probability 0 have the same loss at each
// temperature and are left out.
func fitTemperature(sorted []Observation) (Calibration, error) {
	// slopes are the first and second derivative of the sum of losses by the power 1/T.
	slopes := func(power float64) (first, second float64) {
		for _, o := range sorted {
			if o.Probabilities[o.Label] == 0 {
				continue
			}
			top := slices.Max(o.Probabilities)
			sum, linear, square := 0.0, 0.0, 0.0
			for _, p := range o.Probabilities {
				if p > 0 {
					l := math.Log(p / top)
					w := math.Exp(power * l)
					sum += w
					linear += w * l
					square += w * l * l
				}
			}
			average := linear / sum
			first += average - math.Log(o.Probabilities[o.Label]/top)
			second += square/sum - average*average
		}
		return first, second
	}
	low, high := 1.0/mostTemperature, 1.0/leastTemperature
	if first, _ := slopes(low); first >= 0 {
		return Calibration{}, fmt.Errorf("%w: the best temperature is above %v", ErrNotFitted, mostTemperature)
	}
	if first, _ := slopes(high); first <= 0 {
		return Calibration{}, fmt.Errorf("%w: the best temperature is below %v", ErrNotFitted, leastTemperature)
	}
	return Calibration{Method: Temperature, Temperature: 1 / root(slopes, low, high, 1)}, nil
}

// root finds where a rising function f is 0, by Newton's method from x on, with bisection where a step would leave the interval.
func root(f func(float64) (value, slope float64), low, high, x float64) float64 {
	for range 100 {
		value, slope := f(x)
		if value < 0 {
			low = x
		} else {
			high = x
		}
		next := x - value/slope
		if !(next > low && next < high) {
			next = (low + high) / 2
		}
		if math.Abs(next-x) <= 1e-14*math.Abs(x) {
			return next
		}
		x = next
	}
	return x
}

// fitPlatt minimises log loss against Platt's targets (yes+1)/(yes+2) and 1/(no+2) by Newton's method with backtracking
// (Platt 1999, Probabilistic outputs for support vector machines; Lin, Lin and Weng 2007, A note on Platt's probabilistic
// outputs, Mach. Learn. 68). The score of an answer is the logit of its probability.
func fitPlatt(sorted []Observation) (Calibration, error) {
	yes := float64(countYes(sorted))
	no := float64(len(sorted)) - yes
	targets := [2]float64{1 / (no + 2), (yes + 1) / (yes + 2)}
	scores := make([]float64, len(sorted))
	for i, o := range sorted {
		scores[i] = logit(o.Probabilities[0])
	}
	if slices.Min(scores) == slices.Max(scores) {
		return Calibration{}, fmt.Errorf("%w: all probabilities are equal", ErrNotFitted)
	}
	loss := func(a, b float64) float64 {
		sum := 0.0
		for i, o := range sorted {
			z := a*scores[i] + b
			sum += max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - targets[o.Label]*z
		}
		return sum
	}
	a, b := 0.0, math.Log((yes+1)/(no+1))
	current := loss(a, b)
	for range 100 {
		var ga, gb, haa, hab, hbb float64
		for i, o := range sorted {
			p := logistic(a*scores[i] + b)
			d, w := p-targets[o.Label], p*(1-p)
			ga += d * scores[i]
			gb += d
			haa += w * scores[i] * scores[i]
			hab += w * scores[i]
			hbb += w
		}
		if math.Hypot(ga, gb) < 1e-10*float64(len(sorted)) {
			break
		}
		det := haa*hbb - hab*hab
		da, db := (hab*gb-hbb*ga)/det, (hab*ga-haa*gb)/det
		step, next := 1.0, 0.0
		for ; step > 1e-10; step /= 2 {
			if next = loss(a+step*da, b+step*db); next < current {
				break
			}
		}
		if !(next < current) { // no step is better: this is the minimum, as far as rounding shows
			break
		}
		a, b, current = a+step*da, b+step*db, next
	}
	if !(a > 0) {
		return Calibration{}, fmt.Errorf("%w: yes is no more frequent where its probability is higher", ErrNotFitted)
	}
	return Calibration{Method: Platt, A: a, B: b}, nil
}

// fitIsotonic is the isotonic regression. Its values keep a distance of 1/(n+2) from 0 and 1, so that it makes no answer certain.
func fitIsotonic(sorted []Observation) Calibration {
	x, y := poolAdjacentViolators(sorted)
	edge := 1 / float64(len(sorted)+2)
	for i := range y {
		y[i] = min(max(y[i], edge), 1-edge)
	}
	return Calibration{Method: Isotonic, X: x, Y: y}
}

// poolAdjacentViolators is the rising step function with the least squares, as the corners between which it is interpolated:
// the first and the last probability of each step (Barlow, Bartholomew, Bremner and Brunk 1972, Statistical inference under
// order restrictions; Zadrozny and Elkan 2002, KDD).
func poolAdjacentViolators(sorted []Observation) (x, y []float64) {
	byProbability := slices.Clone(sorted)
	slices.SortFunc(byProbability, func(a, b Observation) int { return cmp.Compare(a.Probabilities[0], b.Probabilities[0]) })
	type step struct{ first, last, yes, n float64 }
	var steps []step
	for _, o := range byProbability {
		p := o.Probabilities[0]
		if n := len(steps); n > 0 && steps[n-1].first == p { // equal probabilities are one point
			steps[n-1].yes += float64(o.Label)
			steps[n-1].n++
			continue
		}
		steps = append(steps, step{p, p, float64(o.Label), 1})
	}
	pooled := steps[:0]
	for _, s := range steps {
		for n := len(pooled); n > 0 && pooled[n-1].yes*s.n >= s.yes*pooled[n-1].n; n = len(pooled) {
			s = step{pooled[n-1].first, s.last, pooled[n-1].yes + s.yes, pooled[n-1].n + s.n}
			pooled = pooled[:n-1]
		}
		pooled = append(pooled, s)
	}
	for _, s := range pooled {
		x, y = append(x, s.first), append(y, s.yes/s.n)
		if s.last > s.first {
			x, y = append(x, s.last), append(y, s.yes/s.n)
		}
	}
	return x, y
}

func countYes(observations []Observation) int {
	yes := 0
	for _, o := range observations {
		yes += o.Label
	}
	return yes
}

const foldCount = 5

// foldsOf gives each observation its fold. Observations of a cluster share a fold, and each fold has about as many clusters of
// each label (Kohavi 1995, A study of cross-validation and bootstrap, IJCAI). The label of a cluster is that of its first
// observation.
func foldsOf(sorted []Observation) []int {
	type cluster struct{ first, label int }
	var clusters []cluster
	for i, o := range sorted {
		if i == 0 || o.Cluster != sorted[i-1].Cluster {
			clusters = append(clusters, cluster{i, o.Label})
		}
	}
	seed := seedOf(sorted)
	slices.SortFunc(clusters, func(a, b cluster) int {
		return cmp.Or(cmp.Compare(a.label, b.label),
			cmp.Compare(mix(seed^sorted[a.first].Cluster), mix(seed^sorted[b.first].Cluster)))
	})
	folds := make([]int, len(sorted))
	for at, c := range clusters {
		for i := c.first; i < len(sorted) && sorted[i].Cluster == sorted[c.first].Cluster; i++ {
			folds[i] = at % foldCount
		}
	}
	return folds
}

// crossValidate computes the report of a method.
func crossValidate(kind prism.Classes, method Method, sorted []Observation, folds []int) (Report, error) {
	calibrated := make([]Observation, len(sorted))
	for fold := range foldCount {
		var others []Observation
		for i, o := range sorted {
			if folds[i] != fold {
				others = append(others, o)
			}
		}
		if len(others) == 0 || len(others) == len(sorted) {
			return Report{}, fmt.Errorf("%w: there are fewer than %d different inputs", ErrNotFitted, foldCount)
		}
		c, err := fitAnyNumber(method, others)
		if err != nil {
			return Report{}, err
		}
		for i, o := range sorted {
			if folds[i] == fold {
				calibrated[i] = Observation{c.Apply(o.Probabilities), o.Label, o.Cluster}
			}
		}
	}
	before, after := newSample(kind, sorted), newSample(kind, calibrated)
	gain := resample(difference{after, before}, seedOf(sorted)).figure(int(logLoss))
	r := Report{Labels: len(sorted), Gain: gain}
	for i := range sorted {
		r.Before += sorted[i].logLoss() / float64(len(sorted))
		r.After += calibrated[i].logLoss() / float64(len(sorted))
	}
	return r, nil
}
