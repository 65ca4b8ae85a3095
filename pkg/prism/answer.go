package prism

// Answer is the stored answer to one question (spec: raw-answer-shapes).
type Answer struct {
	Question string
	Type     QuestionType
	// Chosen is the option key of a choice or the level key of a scale: the most probable one, the first in definition
	// order on a tie.
	Chosen string
	// Probabilities of the options or levels in definition order; they sum to 1 within 1e-9.
	Probabilities []KeyProbability
	// Confidence of a choice, as the function Confidence computes it.
	Confidence float64
	// Probability of yes, for a yes_no question.
	Probability float64
}

// KeyProbability is the probability of one option or level.
type KeyProbability struct {
	Key         string
	Probability float64
}

// ProbabilityOf finds the probability of an option or level.
func (a Answer) ProbabilityOf(key string) (float64, bool) {
	for _, p := range a.Probabilities {
		if p.Key == key {
			return p.Probability, true
		}
	}
	return 0, false
}

// Certainty is the probability of the most probable option or level, and of the likelier of yes and no.
func (a Answer) Certainty() float64 {
	if a.Type == YesNo {
		return max(a.Probability, 1-a.Probability)
	}
	p, _ := a.ProbabilityOf(a.Chosen)
	return p
}

// Answers are a result's answers in question order.
type Answers []Answer

// Confidence is the confidence of a choice among n options whose chosen option has the probability p: (p − 1/n)/(1 − 1/n)
// within [0, 1], and 1 for a single option (spec: confidence).
func Confidence(p float64, n int) float64 {
	if n < 2 {
		return 1
	}
	guess := 1 / float64(n)
	return min(max((p-guess)/(1-guess), 0), 1)
}
