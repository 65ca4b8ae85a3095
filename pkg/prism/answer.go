package prism

import "math"

// Answer is the stored answer to one question (spec: raw-answer-shapes).
type Answer struct {
	Question string
	Type     QuestionType
	// Chosen is the option key of a choice or the level key of a scale: the most probable one, the first in definition
	// order on a tie. Where several can be right it is empty.
	Chosen string
	// Probabilities of the options or levels in definition order; they sum to 1 within 1e-15, unless several can be right.
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

// Certainty is the probability of the most probable option or level, and of the likelier of yes and no. Where several options can be right
// it is the least of those of their parts.
func (a *Answer) Certainty() float64 { return a.Type.kind().certainty(a) }

// Value is the value of a label that says that the answer is right: one of Question.LabelValues.
func (a *Answer) Value() string { return a.Type.kind().value(a) }

// Replies are the keys of the answer itself, which are of Question.ReplyKeys: one, or, where several options can be right, any number of
// them, the most probable first.
func (a *Answer) Replies() []string { return a.Type.kind().replies(a) }

// Reply is the first of Replies, or empty.
func (a *Answer) Reply() string { return a.Type.kind().reply(a) }

// Part is the answer to one of Question.Parts; false if the answer has none of that key.
func (a *Answer) Part(option string) (Answer, bool) { return a.Type.kind().part(a, option) }

// Number is the number that a column shows of the answer, or why there is none. Levels are those of the question in the version that
// answered.
func (a *Answer) Number(column Column, levels []Level) (float64, Reason) {
	return a.Type.kind().number(a, column, levels)
}

// AppendProbabilities appends the probabilities in order; of a binary answer that of yes.
func (a *Answer) AppendProbabilities(to []float64) []float64 {
	return a.Type.kind().appendProbabilities(to, a)
}

// ProbabilitiesOf are the probabilities of classes, which may be more than those of the question: those of Question.LabelValues, or of
// two versions of a question. Of a binary answer they are that of yes.
func (a *Answer) ProbabilitiesOf(classes []string) []float64 {
	return a.Type.kind().probabilitiesOf(a, classes)
}

// SetProbabilities sets other probabilities, in the form of AppendProbabilities. What was chosen stays. keys is memory for them.
func (a *Answer) SetProbabilities(probabilities []float64, keys []KeyProbability) {
	a.Type.kind().setProbabilities(a, probabilities, keys)
}

// Answers are a result's answers in question order.
type Answers []Answer

// rounding is how far probabilities are from what they are without rounding (spec: probabilities-of-an-answer).
const rounding = 1e-15

// Confidence is the confidence of a choice among n options whose chosen option has the probability p: (p − 1/n)/(1 − 1/n)
// within [0, 1], and 1 for a single option (spec: confidence).
func Confidence(p float64, n int) float64 {
	guess := 1 / float64(n)
	switch {
	case n < 2, p >= 1-rounding:
		return 1
	case p <= guess+rounding:
		return 0
	}
	return (p - guess) / (1 - guess)
}

// Normalize divides weights, which are not negative and not all 0, by their sum. Added up in their order they are 1 within 1e-15
// (spec: probabilities-of-an-answer), and a weight that is not less than another one stays so.
func Normalize(weights []float64) {
	sum := total(weights)
	for i := range weights {
		weights[i] /= sum
	}
	for range 10 { // one correction nearly always suffices
		off := total(weights) - 1
		if math.Abs(off) <= rounding {
			return
		}
		// The most probable one can only become more probable, and the least probable one less.
		at := 0
		for i, w := range weights {
			if off < 0 && w > weights[at] || off > 0 && w > off && (weights[at] <= off || w <= weights[at]) {
				at = i
			}
		}
		weights[at] -= off
	}
}

func total(weights []float64) (sum float64) {
	for _, w := range weights {
		sum += w
	}
	return sum
}
