package prism

import (
	"cmp"
	"slices"
	"strings"
)

// keyed is what choice and scale have in common: a probability for each option or level.
type keyed struct{ single }

func (keyed) takes(show Show) Takes { return Takes{Option: show == ShowProbability} }

func (keyed) labelValues(q Question) []string { return q.AnswerKeys() }

// readLabel finds a member by its key, else by its label, else by either in another letter case, and a level at last by its value.
// The first of these that finds anything decides: several members that it finds are none.
func (keyed) readLabel(q Question, text string) (value, problem string) {
	members := q.Members()
	for _, same := range []func(Option) bool{
		func(m Option) bool { return m.Key == text },
		func(m Option) bool { return strings.TrimSpace(m.Label) == text },
		func(m Option) bool {
			return strings.EqualFold(m.Key, text) || strings.EqualFold(strings.TrimSpace(m.Label), text)
		},
	} {
		at := slices.IndexFunc(members, same)
		switch {
		case at < 0:
			continue
		case slices.ContainsFunc(members[at+1:], same):
			return "", expectedMembers(members)
		}
		return members[at].Key, ""
	}
	if key := levelOf(q.Levels, text); key != "" {
		return key, ""
	}
	return "", expectedMembers(members)
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

func (keyed) replies(a *Answer) []string { return []string{a.Chosen} }

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
	to.Kind, to.Key, to.Label = TextCell, a.Chosen, c.labelOf(a.Type, a.Chosen)
	return ""
}

func (keyed) number(a *Answer, c Column, _ []Level) (float64, Reason) {
	if c.Show != ShowProbability {
		return 0, OtherType
	}
	p, ok := a.ProbabilityOf(cmp.Or(c.Option, a.Chosen))
	if !ok {
		return 0, NoOption
	}
	return p, ""
}
