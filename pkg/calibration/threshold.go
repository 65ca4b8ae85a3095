package calibration

import (
	"errors"
	"math"
	"slices"

	"github.com/prism-results/prism/pkg/prism"
)

// Costs of the answers to a yes_no: of a yes that should be no, of a no that should be yes, and of leaving an answer unsure.
// They are 0 or more, in any unit.
type Costs struct {
	FalseYes float64 `json:"false_yes"`
	FalseNo  float64 `json:"false_no"`
	Unsure   float64 `json:"unsure"`
}

// Threshold is two thresholds and what they do to the labels.
type Threshold struct {
	// Yes begins here.
	YesAt float64 `json:"yes_at" min:"0" max:"1"`
	// No ends here.
	NoAt float64 `json:"no_at" min:"0" max:"1"`
	// Answers that become yes.
	Yes int `json:"yes" min:"0"`
	// Answers that become no.
	No int `json:"no" min:"0"`
	// Answers that are left unsure.
	Unsure int `json:"unsure" min:"0"`
	// Of `yes`, those that should be no.
	FalseYes int `json:"false_yes" min:"0"`
	// Of `no`, those that should be yes.
	FalseNo int `json:"false_no" min:"0"`
	// The cost of all.
	Total float64 `json:"total" min:"0"`
	// The cost of one answer.
	Mean float64 `json:"mean" min:"0"`
}

// Thresholds are two ways to choose thresholds. Theory is right for calibrated probabilities. Empirical has the least cost on
// the labels themselves, so it looks better than it will be on new answers.
type Thresholds struct {
	Labels    int       `json:"labels"`
	Theory    Threshold `json:"theory"`
	Empirical Threshold `json:"empirical"`
}

// ThresholdsOf chooses thresholds of a yes_no by cost. It needs 30 observations, or fails with a TooFewError.
//
// In theory (Elkan 2001, The foundations of cost-sensitive learning, IJCAI; Chow 1970, On optimum recognition error and reject
// tradeoff, IEEE Trans. Inf. Theory 16) t = false_yes/(false_yes+false_no), yes_at = max(t, 1 - unsure/false_yes) and
// no_at = min(t, unsure/false_no). Where unsure is dear, both are t, and nothing is unsure. Where both errors are free, t is
// 0.5.
func ThresholdsOf(costs Costs, observations []Observation) (Thresholds, error) {
	for _, c := range []float64{costs.FalseYes, costs.FalseNo, costs.Unsure} {
		if !(c >= 0) || c > math.MaxFloat32 {
			return Thresholds{}, errors.New("a cost must be 0 or more, and at most 3e38")
		}
	}
	sorted, err := canonical(prism.Binary, observations)
	if err != nil {
		return Thresholds{}, err
	}
	if len(sorted) < MinLabels {
		return Thresholds{}, &TooFewError{len(sorted), MinLabels, "labels"}
	}
	yesAt, noAt := costs.theory()
	t := Thresholds{Labels: len(sorted), Theory: costs.evaluate(yesAt, noAt, sorted)}
	yesAt, noAt = costs.empirical(sorted)
	t.Empirical = costs.evaluate(yesAt, noAt, sorted)
	return t, nil
}

func (c Costs) theory() (yesAt, noAt float64) {
	t := 0.5
	if c.FalseYes+c.FalseNo > 0 {
		t = c.FalseYes / (c.FalseYes + c.FalseNo)
	}
	yesAt, noAt = t, t
	if c.FalseYes > 0 {
		yesAt = max(t, 1-c.Unsure/c.FalseYes)
	}
	if c.FalseNo > 0 {
		noAt = min(t, c.Unsure/c.FalseNo)
	}
	return yesAt, noAt
}

// evaluate computes what thresholds do to observations.
func (c Costs) evaluate(yesAt, noAt float64, observations []Observation) Threshold {
	t := Threshold{YesAt: yesAt, NoAt: noAt}
	for _, o := range observations {
		switch p := o.Probabilities[0]; {
		case p >= yesAt:
			t.Yes++
			t.FalseYes += 1 - o.Label
		case p <= noAt:
			t.No++
			t.FalseNo += o.Label
		default:
			t.Unsure++
		}
	}
	t.Total = float64(t.FalseYes)*c.FalseYes + float64(t.FalseNo)*c.FalseNo + float64(t.Unsure)*c.Unsure
	t.Mean = t.Total / float64(len(observations))
	return t
}

// empirical finds the thresholds of the least cost. Of several with equal cost, it takes the least no_at and the least yes_at.
//
// The different probabilities are numbered in rising order. Those below number i are no, those from j up are yes, and i ≤ j.
// The cost is a part that depends on i and a part that depends on j, so one walk over j that remembers the best i is enough.
func (c Costs) empirical(observations []Observation) (yesAt, noAt float64) {
	type point struct{ p, yes, no float64 }
	sorted := slices.Clone(observations)
	slices.SortFunc(sorted, func(a, b Observation) int { return slices.Compare(a.Probabilities, b.Probabilities) })
	var points []point
	all := point{}
	for _, o := range sorted {
		if n := len(points); n == 0 || points[n-1].p < o.Probabilities[0] {
			points = append(points, point{p: o.Probabilities[0]})
		}
		last := &points[len(points)-1]
		last.yes += float64(o.Label)
		last.no += float64(1 - o.Label)
		all.yes += float64(o.Label)
		all.no += float64(1 - o.Label)
	}
	least, bestI, i := math.Inf(1), 0, -1
	bestNo := math.Inf(1)
	var below point // sums of the points below j
	for j := range len(points) + 1 {
		if j == 1 && points[0].p == 0 { // a probability of 0 that is not yes is no, as it is not above no_at
			bestNo = math.Inf(1)
		}
		if cost := below.yes*c.FalseNo - (below.yes+below.no)*c.Unsure; cost < bestNo {
			bestNo, i = cost, j
		}
		unsureOrYes := (below.yes+below.no)*c.Unsure + (all.no-below.no)*c.FalseYes
		// A probability of 1 is at or above every yes_at.
		if cost := bestNo + unsureOrYes; (j < len(points) || points[j-1].p < 1) && cost < least {
			least, bestI = cost, i
			yesAt = 1 // no answer is yes: every probability is less
			if j < len(points) {
				yesAt = points[j].p
			}
		}
		if j < len(points) {
			below.yes += points[j].yes
			below.no += points[j].no
		}
	}
	if bestI > 0 {
		noAt = points[bestI-1].p
	}
	return yesAt, noAt
}
