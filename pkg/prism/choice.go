package prism

// choice is the kind of questions that one of several options answers.
type choice struct{ keyed }

func (choice) classes() Classes { return Nominal }
func (choice) shape() Shape     { return Shape{Chosen: "value", Confidence: true} }
func (choice) shows() []Show    { return []Show{ShowAnswer, ShowProbability, ShowConfidence} }
func (choice) derived() Show    { return ShowProbability }

func (c choice) setProbabilities(a *Answer, probabilities []float64, keys []KeyProbability) {
	c.keyed.setProbabilities(a, probabilities, keys)
	a.Confidence = Confidence(c.certainty(a), len(probabilities))
}

func (c choice) number(a *Answer, column Column, levels []Level) (float64, Reason) {
	if column.Show == ShowConfidence {
		return a.Confidence, ""
	}
	return c.keyed.number(a, column, levels)
}
