package calibration

import "math"

// wilson is the score interval of hits among n (Wilson 1927, J. Am. Stat. Assoc. 22). n need not be whole.
func wilson(rate, n float64) Figure {
	z := normalQuantile((1 + level) / 2)
	z2 := z * z
	centre := (rate + z2/(2*n)) / (1 + z2/n)
	half := z / (1 + z2/n) * math.Sqrt(rate*(1-rate)/n+z2/(4*n*n))
	return Figure{rate, min(rate, max(0, centre-half)), max(rate, min(1, centre+half))}
}

// share is a proportion over clustered observations: how many there are, how many hit, and the design effect.
type share struct {
	n, hits float64
	// effect is the factor by which clusters increase the variance of the proportion, 1 at least: the sum of squared residuals
	// of m clusters over that of observations, times m/(m-1). Where all or none hit, or there is one cluster, it is Σ size²/n, as
	// if the observations of a cluster were all alike (Kish 1965, Survey sampling). Where no cluster has two, that is 1.
	effect float64
}

// shareOf computes the share of hits among the answers that belong.
func (starts clusterStarts) shareOf(belongs, hits func(i int) bool) share {
	var p share
	for i := range starts[len(starts)-1] {
		if belongs(i) {
			p.n++
			if hits(i) {
				p.hits++
			}
		}
	}
	if p.n == 0 {
		return p
	}
	rate := p.hits / p.n
	clusters, single, sizes, count := 0.0, 0.0, 0.0, 0.0
	for g, end := range starts[1:] {
		residual, members := 0.0, 0.0
		for i := starts[g]; i < end; i++ {
			if belongs(i) {
				d := -rate
				if hits(i) {
					d = 1 - rate
				}
				residual += d
				single += d * d
				members++
			}
		}
		clusters += residual * residual
		sizes += members * members
		count += min(members, 1)
	}
	p.effect = sizes / p.n
	if single > 0 && count > 1 && count < p.n {
		p.effect = max(1, clusters/single*count/(count-1))
	}
	return p
}

// figure is Wilson's interval at the effective number of observations, which is n where no cluster has two (Franco, Little,
// Louis and Slud 2019, Comparative study of confidence intervals for proportions in complex sample surveys, J. Surv. Stat.
// Methodol. 7).
func (p share) figure() Figure { return wilson(p.hits/p.n, p.n/p.effect) }

// f1 turns the share of true positives among what is labelled or answered as a class into F1: 2J/(1+J). The function is
// monotone, so the interval of the share becomes that of F1.
func (p share) f1() Figure {
	f := p.figure()
	return Figure{2 * f.Value / (1 + f.Value), 2 * f.Low / (1 + f.Low), 2 * f.High / (1 + f.High)}
}
