package calibration

import "math"

// brierScore of a yes_no is (p - y)², and of other kinds Σ(p - y)² over the classes, 0 to 2 (Brier 1950, Verification of
// forecasts expressed in terms of probability, Mon. Weather Rev. 78).
func brierScore(o Observation) float64 {
	if len(o.Probabilities) == 1 {
		d := o.Probabilities[0] - float64(o.Label)
		return d * d
	}
	sum := 0.0
	for c, p := range o.Probabilities {
		if c == o.Label {
			p--
		}
		sum += p * p
	}
	return sum
}

// rankedProbabilityScore is the sum over the levels of (P(level or below) - [label is level or below])², divided by the number
// of levels minus 1, so that it is 0 to 1 (Epstein 1969, J. Appl. Meteorol. 8; divided as in Constantinou and Fenton 2012,
// J. Quant. Anal. Sports 8).
func rankedProbabilityScore(o Observation) float64 {
	sum, below := 0.0, 0.0
	for level, p := range o.Probabilities[:len(o.Probabilities)-1] {
		below += p
		d := below
		if o.Label <= level {
			d--
		}
		sum += d * d
	}
	return sum / float64(len(o.Probabilities)-1)
}

// quadraticKappa is 1 - Σw·observed/Σw·expected with w the squared distance of levels (Cohen 1968, Weighted kappa, Psychol.
// Bull. 70). It is NaN when labels and answers are all one level, where nothing is expected to differ.
func quadraticKappa(cells []float64, classes int) float64 {
	rows, columns := margins(cells, classes)
	n, observed, expected := 0.0, 0.0, 0.0
	for i := range classes {
		n += rows[i]
		for j := range classes {
			w := float64((i - j) * (i - j))
			observed += w * cells[i*classes+j]
			expected += w * rows[i] * columns[j]
		}
	}
	if expected == 0 {
		return math.NaN()
	}
	return 1 - observed*n/expected
}

// meanF1 is the mean of F1 over the classes that are a label or an answer (macro-F1 of van Rijsbergen's F, as scikit-learn's
// f1_score has it).
func meanF1(counts []float64, classes int) float64 {
	labels, answers, right := counts[:classes], counts[classes:2*classes], counts[2*classes:]
	sum, n := 0.0, 0.0
	for c := range classes {
		if both := labels[c] + answers[c]; both > 0 {
			sum += 2 * right[c] / both
			n++
		}
	}
	return sum / n
}

// margins are how often each level is a label, and an answer.
func margins(cells []float64, classes int) (labels, answers [maxLevels]float64) {
	for i := range classes {
		for j := range classes {
			labels[i] += cells[i*classes+j]
			answers[j] += cells[i*classes+j]
		}
	}
	return labels, answers
}
