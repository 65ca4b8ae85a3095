package prism

import "strings"

// yesNo is the kind of questions whose answer is the probability of yes.
type yesNo struct{ single }

func (yesNo) classes() Classes { return Binary }
func (yesNo) shape() Shape     { return Shape{Probability: true} }
func (yesNo) shows() []Show    { return []Show{ShowAnswer, ShowProbability} }
func (yesNo) derived() Show    { return ShowProbability }
func (yesNo) takes(show Show) Takes {
	return Takes{YesAt: show == ShowAnswer, NoAt: show == ShowAnswer}
}
func (yesNo) labelValues(Question) []string { return []string{labelNo, labelYes} }
func (yesNo) shownLabel(value string) any   { return value == labelYes }
func (yesNo) certainty(a *Answer) float64   { return max(a.Probability, 1-a.Probability) }

// The values of labels.
const labelNo, labelYes = "false", "true"

func (yesNo) readLabel(_ Question, text string) (value, problem string) {
	switch strings.ToLower(text) {
	case "true", "yes", "1":
		return labelYes, ""
	case "false", "no", "0":
		return labelNo, ""
	}
	return "", "Expected 'true' | 'false'"
}

func (yesNo) value(a *Answer) string {
	if a.Probability >= 0.5 {
		return labelYes
	}
	return labelNo
}

func (y yesNo) reply(a *Answer) string {
	if y.value(a) == labelYes {
		return "yes"
	}
	return "no"
}

func (y yesNo) replies(a *Answer) []string { return []string{y.reply(a)} }

func (yesNo) appendProbabilities(to []float64, a *Answer) []float64 { return append(to, a.Probability) }

func (yesNo) probabilitiesOf(a *Answer, _ []string) []float64 { return []float64{a.Probability} }

func (yesNo) setProbabilities(a *Answer, probabilities []float64, _ []KeyProbability) {
	a.Probability = probabilities[0]
}

// The default limits of an answer: yes from defaultYesAt up, no from defaultNoAt down (spec: show-answer).
const (
	defaultYesAt = 0.6
	defaultNoAt  = 0.4
)

func (yesNo) show(a *Answer, c *AnsweredColumn, to *Cell) Reason {
	to.Kind = TextCell
	switch p := a.Probability; {
	case p >= orDefault(c.YesAt, defaultYesAt): // first, so that overlapping limits mean yes
		to.Key, to.Label = "yes", "Yes"
	case p <= orDefault(c.NoAt, defaultNoAt):
		to.Key, to.Label = "no", "No"
	default:
		to.Key, to.Label = "unsure", "Unsure"
	}
	return ""
}

func (yesNo) number(a *Answer, column Column, _ []Level) (float64, Reason) {
	if column.Show != ShowProbability || column.Option != "" {
		return 0, OtherType
	}
	return a.Probability, ""
}

func orDefault(limit *float64, otherwise float64) float64 {
	if limit == nil {
		return otherwise
	}
	return *limit
}
