package prism

import (
	"cmp"
	"slices"
	"strings"
)

// keyed is what choice and scale have in common: a probability for each option or level.
type keyed struct{}

func (keyed) takes() (option, limits bool) { return true, false }

func (keyed) labelValues(q Question) []string { return q.AnswerKeys() }

// readLabel finds a member by its key, or else the only one with the label.
func (keyed) readLabel(q Question, text string) (value, problem string) {
	members := q.Members()
	for _, m := range members {
		switch {
		case m.Key == text:
			return text, ""
		case strings.TrimSpace(m.Label) != text:
		case value == "":
			value = m.Key
		default:
			problem = expectedMembers(members)
		}
	}
	switch {
	case problem != "":
		return "", problem
	case value == "":
		return "", expectedMembers(members)
	}
	return value, ""
}

// shownMembers is how many members a problem names.
const shownMembers = 20

func expectedMembers(members []Option) string {
	var keys []string
	for _, m := range members[:min(len(members), shownMembers)] {
		keys = append(keys, m.Key)
	}
	shown := "Expected '" + strings.Join(keys, "' | '") + "'"
	if len(members) > shownMembers {
		shown += " | …"
	}
	return shown
}

func (keyed) shownLabel(value string) any { return value }

func (keyed) certainty(a *Answer) float64 {
	p, _ := a.ProbabilityOf(a.Chosen)
	return p
}

func (keyed) value(a *Answer) string { return a.Chosen }

func (keyed) reply(a *Answer) string { return a.Chosen }

func (keyed) appendProbabilities(to []float64, a *Answer) []float64 {
	to = slices.Grow(to, len(a.Probabilities))
	for _, p := range a.Probabilities {
		to = append(to, p.Probability)
	}
	return to
}

func (keyed) probabilitiesOf(a *Answer, classes []string) []float64 {
	probabilities := make([]float64, len(classes))
	for i, key := range classes {
		probabilities[i], _ = a.ProbabilityOf(key)
	}
	return probabilities
}

func (keyed) setProbabilities(a *Answer, probabilities []float64, keys []KeyProbability) {
	for i, p := range probabilities {
		keys = append(keys, KeyProbability{a.Probabilities[i].Key, p})
	}
	a.Probabilities = keys
}

func (keyed) show(a *Answer, c *AnsweredColumn, to *Cell) Reason {
	to.Kind, to.Key, to.Label = TextCell, a.Chosen, a.Chosen
	if m := c.member(a.Type, a.Chosen); m != nil && m.Label != "" {
		to.Label = m.Label
	}
	return ""
}

func (keyed) number(a *Answer, show Show, option string, _ []Level) (float64, Reason) {
	if show != ShowProbability {
		return 0, OtherType
	}
	p, ok := a.ProbabilityOf(cmp.Or(option, a.Chosen))
	if !ok {
		return 0, NoOption
	}
	return p, ""
}
