package calibration

import "math"

// chiSquareQuantile inverts the distribution function of χ² by bisection.
func chiSquareQuantile(p float64, freedom int) float64 {
	a := float64(freedom) / 2
	low, high := 0.0, 1.0
	for lowerGamma(a, high) < p {
		high *= 2
	}
	for range 200 {
		middle := (low + high) / 2
		if middle <= low || middle >= high {
			break
		}
		if lowerGamma(a, middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return 2 * high
}

// lowerGamma is the regularised incomplete gamma function P(a, x): its series below a+1, and its continued fraction above
// (Abramowitz and Stegun 1964, 6.5.29 and 6.5.31; the fraction by Lentz's method).
func lowerGamma(a, x float64) float64 {
	if x <= 0 {
		return 0
	}
	logGamma, _ := math.Lgamma(a)
	factor := math.Exp(a*math.Log(x) - x - logGamma)
	const precision = 1e-16
	if x < a+1 {
		term := 1 / a
		sum := term
		for n := 1; term > sum*precision; n++ {
			term *= x / (a + float64(n))
			sum += term
		}
		return sum * factor
	}
	b := x + 1 - a
	c, d := math.Inf(1), 1/b
	fraction := d
	for i := 1; i < 10000; i++ {
		an := -float64(i) * (float64(i) - a)
		b += 2
		d = 1 / (an*d + b)
		c = b + an/c
		fraction *= d * c
		if math.Abs(d*c-1) < precision*4 {
			break
		}
	}
	return 1 - factor*fraction
}
