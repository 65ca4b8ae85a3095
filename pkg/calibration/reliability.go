package calibration

import (
	"math"
	"slices"

	"github.com/prism-results/prism/pkg/prism"
)

// The tails of the interval of a calibration error.
const (
	lowTail  = 0.04
	highTail = 0.01
)

// Bin is observations of similar probability: how many, the mean of their probabilities, and the rate at which they were
// right, with its 95% interval.
type Bin struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	Rate float64 `json:"rate"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`

	effect float64 // the design effect of the rate
}

// reliability has, for each observation, the probability of an event and whether the event occurred: that the answer is yes for a
// yes_no, and that the chosen class is right for other kinds.
type reliability struct {
	p   []float64
	hit []bool
}

func (s *sample) reliability() reliability {
	r := reliability{make([]float64, len(s.obs)), make([]bool, len(s.obs))}
	for i, o := range s.obs {
		class := s.chosen[i]
		if s.kind == prism.Binary {
			class = 1
		}
		r.p[i], r.hit[i] = o.probability(class), o.Label == class
	}
	return r
}

// quantileBins gives each value its bin of count bins of equal size: ⌊count · (how many values are less) / n⌋. Equal values
// share a bin, so there may be fewer bins.
func quantileBins(values []float64, count int) []int {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	bins := make([]int, len(values))
	for i, v := range values {
		less, _ := slices.BinarySearch(sorted, v)
		bins[i] = count * less / len(values)
	}
	return bins
}

// bins summarises observations by their bins, which are numbered below count. Empty bins are left out.
func (s *sample) bins(r reliability, binOf []int, count int) []Bin {
	var bins []Bin
	for b := range count {
		share := s.start.shareOf(func(i int) bool { return binOf[i] == b }, func(i int) bool { return r.hit[i] })
		if share.n == 0 {
			continue
		}
		sum := 0.0
		for i, p := range r.p {
			if binOf[i] == b {
				sum += p
			}
		}
		f := share.figure()
		bins = append(bins, Bin{int(share.n), sum / share.n, f.Value, f.Low, f.High, share.effect})
	}
	return bins
}

// variance is the variance of the rate at the effective number of observations. add hits and as many misses are added, so that a
// rate of 0 or 1 has a variance too.
func (b Bin) variance(effect, add float64) float64 {
	n := float64(b.N) / effect
	rate := (b.Rate*n + add) / (n + 2*add)
	return rate * (1 - rate) / max(n-1, n/2)
}

// pooledEffect is the design effect over all bins, as that of one bin has much noise.
func pooledEffect(bins []Bin) float64 {
	clusters, single := 0.0, 0.0
	for _, b := range bins {
		variance := float64(b.N) * b.Rate * (1 - b.Rate)
		clusters += b.effect * variance
		single += variance
	}
	if single == 0 {
		return 1
	}
	return clusters / single
}

// total is how many observations bins have.
func total(bins []Bin) float64 {
	n := 0
	for _, b := range bins {
		n += b.N
	}
	return float64(n)
}

// plainError is the expected calibration error Σ(n/N)·|mean - rate| (Naeini, Cooper and Hauskrecht 2015, AAAI).
func plainError(bins []Bin) float64 {
	sum := 0.0
	for _, b := range bins {
		sum += float64(b.N) * math.Abs(b.Mean-b.Rate)
	}
	return sum / total(bins)
}

// debiasedSquare is Σ(n/N)·[(mean - rate)² - rate(1-rate)/(n-1)], an estimate of the squared calibration error whose noise is
// subtracted, so that it may be negative (Kumar, Liang and Ma 2019, Verified uncertainty calibration, NeurIPS). A bin of one
// has no estimate of its noise, and nothing is subtracted.
func debiasedSquare(bins []Bin) float64 {
	sum := 0.0
	for _, b := range bins {
		size, d := float64(b.N), b.Mean-b.Rate
		sum += size * d * d
		if b.N > 1 {
			sum -= size * b.Rate * (1 - b.Rate) / (size - 1)
		}
	}
	return sum / total(bins)
}

// debiasedError is the root of debiasedSquare, or 0 where debiasedSquare is negative, with an interval.
//
// The interval is of the root of Σ(n/N)(m - q)², with m the mean probability of a bin and q the mean of the true rates of its
// observations: the calibration error as these bins of these probabilities see it. The observed Q = Σ(n/N)(mean - rate)² is
// a quadratic form of nearly normal variables. Its distribution is approximated from three moments (Jensen and Solomon 1972,
// A Gaussian approximation to the distribution of a definite quadratic form, J. Am. Stat. Assoc. 67). The interval is every
// error, spread over the bins as observed, at which Q is not among its 1% least or 4% greatest values. The tails differ because
// no error is below 0: at an error of exactly 0 the interval covers 96%.
func debiasedError(bins []Bin) Figure {
	n, effect := total(bins), pooledEffect(bins)
	q := 0.0                    // the observed form
	var noise, shift [3]float64 // the parts of the cumulants that come from variances, and from differences
	for _, b := range bins {
		size, d := float64(b.N), b.Mean-b.Rate
		w, variance := size/n, b.variance(effect, 0.5)
		q += w * d * d
		for s := range noise {
			power := math.Pow(w*variance, float64(s))
			noise[s] += power * w * variance
			shift[s] += float64(s+1) * power * w * d * d
		}
	}
	value := math.Sqrt(max(0, debiasedSquare(bins)))
	// below is the probability that the form is less than q when differences are c times those observed.
	below := func(c float64) float64 {
		var t [3]float64
		for s := range t {
			t[s] = noise[s] + c*c*shift[s]
		}
		return quadraticFormCDF(q, t)
	}
	return invert(value, math.Sqrt(q), below)
}

// invert finds the errors c·unit between which the probability of a smaller statistic, which falls as c rises, goes from 96%
// to 1%.
func invert(value, unit float64, below func(c float64) float64) Figure {
	solve := func(p float64) float64 {
		if unit == 0 || below(0) <= p {
			return 0
		}
		low, high := 0.0, 1.0
		for below(high) > p && high*unit < 1 { // no error is above 1
			high *= 2
		}
		for range 60 {
			if middle := (low + high) / 2; below(middle) > p {
				low = middle
			} else {
				high = middle
			}
		}
		return min(1, low*unit)
	}
	return Figure{value, min(value, solve(1-lowTail)), max(value, solve(highTail))}
}

// quadraticFormCDF is the probability that Σc(x+a)² is at most q, from the sums t[s-1] = Σcˢ(1 + s·a²).
func quadraticFormCDF(q float64, t [3]float64) float64 {
	h := 1 - 2*t[0]*t[2]/(3*t[1]*t[1])
	spread := math.Sqrt(2*t[1]) / t[0]
	if math.Abs(h) < 1e-6 {
		return normalCDF((math.Log(q/t[0]) + t[1]/(t[0]*t[0])) / spread)
	}
	return normalCDF((math.Pow(q/t[0], h) - 1 - t[1]*h*(h-1)/(t[0]*t[0])) / (h * spread))
}

// plainFigure is plainError with an interval of Σ(n/N)|m - q|, m and q as of debiasedError. Each |mean - rate| is a folded
// normal variable, whose mean exceeds |m - q|; their sum is taken as normal. The interval is every error, spread over the bins
// as observed, at which the sum is not among its 1% least or 4% greatest values (Leone, Nelson and Nottingham 1961, The folded
// normal distribution, Technometrics 3).
func plainFigure(bins []Bin) Figure {
	value, n, effect := plainError(bins), total(bins), pooledEffect(bins)
	below := func(c float64) float64 {
		mean, variance := 0.0, 0.0
		for _, b := range bins {
			size := float64(b.N)
			w, d, s := size/n, c*(b.Mean-b.Rate), math.Sqrt(b.variance(effect, 1))
			folded := s*math.Sqrt(2/math.Pi)*math.Exp(-d*d/(2*s*s)) + d*(1-2*normalCDF(-d/s))
			mean += w * folded
			variance += w * w * (d*d + s*s - folded*folded)
		}
		return normalCDF((value - mean) / math.Sqrt(variance))
	}
	return invert(value, value, below)
}
