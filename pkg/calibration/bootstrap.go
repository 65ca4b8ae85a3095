package calibration

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/prism-results/prism/pkg/prism"
)

const (
	resamples = 2000
	level     = 0.95 // of intervals
)

// Figure is an estimate with its 95% interval.
type Figure struct {
	// The estimate.
	Value float64 `json:"value"`
	// The lower end.
	Low float64 `json:"low"`
	// The upper end.
	High float64 `json:"high"`
}

// mean is a measure that is a mean over observations, and the index of its sum.
type mean int

const (
	size mean = iota // how many observations
	right
	logLoss
	brier
	rps
	distance // between the positions of the chosen and the right class
	means
)

// A vector of measures is indexed by mean, where the place of size is unused, and then by these.
const (
	macroF1 = int(means) + iota
	kappa
	measures
)

type vector [measures]float64

// clusterStarts is where each cluster begins among answers in canonical order, and the end of the last one.
type clusterStarts []int

// startsOf parts answers that are in canonical order.
func startsOf[T any](sorted []T, cluster func(T) uint64) (starts clusterStarts) {
	for i, each := range sorted {
		if i == 0 || cluster(each) != cluster(sorted[i-1]) {
			starts = append(starts, i)
		}
	}
	return append(starts, len(sorted))
}

// sample is observations prepared for resampling: whatever a measure needs is a sum over clusters.
type sample struct {
	kind    prism.Classes
	classes int
	obs     []Observation // in canonical order
	chosen  []int
	start   clusterStarts    // in obs
	sums    [][means]float64 // of each cluster
	cell    []int            // of the confusion matrix of levels, by observation: label*classes + chosen
}

func newSample(kind prism.Classes, sorted []Observation) *sample {
	s := &sample{kind: kind, classes: max(2, len(sorted[0].Probabilities)), obs: sorted}
	s.start = startsOf(sorted, func(o Observation) uint64 { return o.Cluster })
	for i, o := range sorted {
		if i == s.start[len(s.sums)] {
			s.sums = append(s.sums, [means]float64{})
		}
		chosen := o.Chosen()
		s.chosen = append(s.chosen, chosen)
		if kind == prism.Ordinal {
			s.cell = append(s.cell, o.Label*s.classes+chosen)
		}
		sum := &s.sums[len(s.sums)-1]
		sum[size]++
		if chosen == o.Label {
			sum[right]++
		}
		sum[logLoss] += o.logLoss()
		sum[brier] += brierScore(o)
		if kind == prism.Ordinal {
			sum[rps] += rankedProbabilityScore(o)
			sum[distance] += math.Abs(float64(chosen - o.Label))
		}
	}
	return s
}

func (s *sample) clusters() int { return len(s.sums) }

func (s *sample) empty() sums {
	n := 3 * s.classes
	if s.kind == prism.Ordinal {
		n = s.classes * s.classes
	}
	return &totals{sample: s, counts: make([]float64, n)}
}

// totals is the sums over a resample. counts are the cells of the confusion matrix of levels, of which kappa is made. Of other classes they
// are how often each is the label, then how often each is the answer, then how often it is both: a matrix of 255 options has 65,025 cells,
// which would be read once for each resample and each cluster.
type totals struct {
	*sample
	total  [means]float64
	counts []float64
}

func (t *totals) clear() {
	t.total = [means]float64{}
	clear(t.counts)
}

func (t *totals) add(weights []uint32) {
	for g, w := range weights {
		t.addOne(g, float64(w))
	}
}

func (t *totals) addOne(g int, f float64) {
	for m := range t.total {
		t.total[m] += f * t.sums[g][m]
	}
	for i := t.start[g]; i < t.start[g+1]; i++ {
		if t.kind == prism.Ordinal {
			t.counts[t.cell[i]] += f
			continue
		}
		label, chosen := t.obs[i].Label, t.chosen[i]
		t.counts[label] += f
		t.counts[t.classes+chosen] += f
		if label == chosen {
			t.counts[2*t.classes+label] += f
		}
	}
}

// measure computes the measures of totals.
func (t *totals) measure() vector {
	var v vector
	for m := right; m < means; m++ {
		v[m] = t.total[m] / t.total[size]
	}
	if t.kind == prism.Ordinal {
		v[kappa] = quadraticKappa(t.counts, t.classes)
	} else {
		v[macroF1] = meanF1(t.counts, t.classes)
	}
	return v
}

// difference resamples the differences between two samples of the same clusters: second minus first.
type difference [2]resampler

func (d difference) clusters() int { return d[0].clusters() }
func (d difference) empty() sums   { return differenceSums{d[0].empty(), d[1].empty()} }

// differenceSums are the sums of both samples of a difference.
type differenceSums [2]sums

func (t differenceSums) clear() {
	t[0].clear()
	t[1].clear()
}

func (t differenceSums) add(weights []uint32) {
	t[0].add(weights)
	t[1].add(weights)
}

func (t differenceSums) addOne(g int, f float64) {
	t[0].addOne(g, f)
	t[1].addOne(g, f)
}

func (t differenceSums) measure() vector {
	v := t[0].measure()
	for m, second := range t[1].measure() {
		v[m] = second - v[m]
	}
	return v
}

// resampler is what can be resampled: clusters, and sums over them from which its measures are computed.
type resampler interface {
	clusters() int
	empty() sums
}

// sums are sums over a resample.
type sums interface {
	clear()
	// add adds each cluster as many times as its weight, and addOne one of them f times.
	add(weights []uint32)
	addOne(g int, f float64)
	measure() vector
}

// resampled holds what intervals are computed from: the estimate, the estimates of resamples, and the estimates without each
// cluster in turn.
type resampled struct {
	point      vector
	replicates [measures][]float64 // sorted
	jackknife  []vector
}

// resample draws as many clusters as there are, with replacement, 2,000 times.
func resample(e resampler, seed uint64) resampled {
	clusters := e.clusters()
	weights := make([]uint32, clusters)
	for g := range weights {
		weights[g] = 1
	}
	all := e.empty()
	all.add(weights)
	r := resampled{point: all.measure()}

	random, ts := rand.NewPCG(seed, mix(seed)), e.empty()
	scale := math.Ldexp(float64(clusters), -32)
	for range resamples {
		clear(weights)
		for g := 0; g < clusters; g += 2 { // each number of 64 bits draws two clusters
			u := random.Uint64()
			weights[int(float64(u>>32)*scale)]++
			if g+1 < clusters {
				weights[int(float64(u&math.MaxUint32)*scale)]++
			}
		}
		ts.clear()
		ts.add(weights)
		for m, x := range ts.measure() {
			if !math.IsNaN(x) { // a resample may leave a kappa undefined
				r.replicates[m] = append(r.replicates[m], x)
			}
		}
	}
	for m := range r.replicates {
		slices.Sort(r.replicates[m])
	}

	if clusters > 1 {
		for g := range clusters {
			all.addOne(g, -1)
			r.jackknife = append(r.jackknife, all.measure())
			all.addOne(g, 1)
		}
	}
	return r
}

func (r resampled) figure(m int) Figure { return r.interval(m, level) }

// optional is figure, or nil where the measure is undefined.
func (r resampled) optional(m int) *Figure {
	if math.IsNaN(r.point[m]) {
		return nil
	}
	f := r.figure(m)
	return &f
}

// interval is the bias-corrected and accelerated interval of the bootstrap (Efron 1987, Better bootstrap confidence
// intervals, J. Am. Stat. Assoc. 82; the acceleration by the jackknife as in Efron and Tibshirani 1993, section 14.3),
// expanded for the number of clusters (Hesterberg 2015, What teachers should know about the bootstrap, The American
// Statistician 69, section 5.3): resamples vary too little by √((n-1)/n), and their variance is an estimate.
func (r resampled) interval(m int, covered float64) Figure {
	point, sorted := r.point[m], r.replicates[m]
	if len(sorted) == 0 {
		return Figure{point, point, point}
	}
	n := float64(len(sorted))
	below, _ := slices.BinarySearch(sorted, point)
	upTo, _ := slices.BinarySearch(sorted, math.Nextafter(point, math.Inf(1)))
	share := float64(below+upTo) / 2 / n
	bias := normalQuantile(min(max(share, 1/(n+1)), n/(n+1)))

	average, count := 0.0, 0.0
	for _, v := range r.jackknife {
		if !math.IsNaN(v[m]) {
			average += v[m]
			count++
		}
	}
	average /= count
	squares, cubes := 0.0, 0.0
	for _, v := range r.jackknife {
		if !math.IsNaN(v[m]) {
			d := average - v[m]
			squares += d * d
			cubes += d * d * d
		}
	}
	acceleration := 0.0
	if squares > 0 {
		acceleration = cubes / (6 * math.Pow(squares, 1.5))
	}
	end := func(z float64) float64 {
		z += bias
		return quantile(sorted, normalCDF(bias+z/(1-acceleration*z)))
	}
	z := normalQuantile((1 + covered) / 2)
	if clusters := float64(len(r.jackknife)); clusters > 1 {
		z = math.Sqrt(clusters/(clusters-1)) * studentQuantile(z, clusters-1)
	}
	return Figure{point, min(point, end(-z)), max(point, end(z))}
}

// quantile interpolates between sorted values (Hyndman and Fan 1996, type 7).
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-2)
	if i < 0 {
		return sorted[0]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// studentQuantile is the quantile of Student's distribution where the normal one is z (Abramowitz and Stegun 1964, 26.7.5).
func studentQuantile(z, degrees float64) float64 {
	return z + (z*z*z+z)/(4*degrees) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*degrees*degrees)
}

func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
