package prism

import "math"

// scale is the kind of questions that one of the levels of a rising scale answers.
type scale struct{ keyed }

func (scale) classes() Classes { return Ordinal }
func (scale) shape() Shape     { return Shape{Chosen: "level"} }
func (scale) shows() []Show    { return []Show{ShowAnswer, ShowProbability, ShowAverage} }
func (scale) derived() Show    { return ShowAverage }

func (s scale) show(a *Answer, c *AnsweredColumn, to *Cell) Reason {
	if c.Show == ShowAverage {
		return average(a, c, to)
	}
	return s.keyed.show(a, c, to)
}

// average weighs the values of the levels in the version that answered (spec: show-average). If that version lacks a level
// of the stored answer, the average is null: leaving the level out would give a wrong number.
func average(a *Answer, c *AnsweredColumn, to *Cell) Reason {
	var sum float64
	for _, p := range a.Probabilities {
		m := c.member(a.Type, p.Key)
		if m == nil || m.Value == nil {
			return NoAverage
		}
		sum += float64(p.Probability * *m.Value) // the conversion forbids fusing: the same digits on every processor
	}
	if len(a.Probabilities) == 0 || math.IsInf(sum, 0) || math.IsNaN(sum) { // values near the largest number overflow
		return NoAverage
	}
	return to.number(sum)
}
