package prism

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// tags is the kind of questions that any number of several options answers, each with a probability of its own. Each option is a part: a
// question whose answer is the probability of yes.
type tags struct{ keyed }

func (tags) classes() Classes { return Multiple }
func (tags) shape() Shape     { return Shape{Chosen: "values", Several: true} }
func (tags) shows() []Show    { return []Show{ShowAnswer, ShowProbability, ShowCount} }
func (tags) derived() Show    { return "" }

func (tags) takes(show Show) Takes {
	one := show == ShowProbability
	return Takes{Option: one, NeedsOption: one, YesAt: show == ShowAnswer || show == ShowCount}
}

// defaultTagAt is the probability from which on an option is in the answer (spec: show-answer).
const defaultTagAt = 0.5

// chosen are the keys with a probability from at on, the most probable first, and equally probable ones in the order of the definition.
func chosen(a *Answer, at float64) []string {
	var likely []KeyProbability
	for _, p := range a.Probabilities {
		if p.Probability >= at {
			likely = append(likely, p)
		}
	}
	slices.SortStableFunc(likely, func(x, y KeyProbability) int { return cmp.Compare(y.Probability, x.Probability) })
	keys := make([]string, len(likely))
	for i, p := range likely {
		keys[i] = p.Key
	}
	return keys
}

func (tags) replies(a *Answer) []string { return chosen(a, defaultTagAt) }

func (tags) reply(a *Answer) string {
	if keys := chosen(a, defaultTagAt); len(keys) > 0 {
		return keys[0]
	}
	return ""
}

// certainty is that of the option of which the answer is the least sure.
func (tags) certainty(a *Answer) float64 {
	least := 1.0
	for _, p := range a.Probabilities {
		least = min(least, max(p.Probability, 1-p.Probability))
	}
	return least
}

func (tags) parts(q Question) []Question {
	parts := make([]Question, len(q.Options))
	for i, o := range q.Options {
		parts[i] = Question{Key: o.Key, Type: YesNo, Text: q.Text + "\nDoes this apply: " + o.Text()}
	}
	return parts
}

func (tags) part(a *Answer, option string) (Answer, bool) {
	p, ok := a.ProbabilityOf(option)
	return Answer{Question: option, Type: YesNo, Probability: p}, ok
}

// whole has the probabilities of yes of the parts.
func (tags) whole(q Question, parts []Answer) Answer {
	a := Answer{Question: q.Key, Type: q.Type, Probabilities: make([]KeyProbability, len(parts))}
	for i, p := range parts {
		a.Probabilities[i] = KeyProbability{q.Options[i].Key, p.Probability}
	}
	return a
}

// The value of a label is a JSON array of the keys that are right, in the order of the definition: "[]" says that none is.
func keysValue(q Question, right func(key string) bool) string {
	keys := []string{}
	for _, o := range q.Options {
		if right(o.Key) {
			keys = append(keys, o.Key)
		}
	}
	return listValue(keys)
}

func listValue(keys []string) string {
	text, _ := json.Marshal(keys) // of a list of texts cannot fail
	return string(text)
}

// listed are the keys of the value of a label; nil of another text, as of a label of the question when it had another type.
func listed(value string) (keys []string) {
	_ = json.Unmarshal([]byte(value), &keys)
	return keys
}

// value has the keys in the order of the definition, which the probabilities have.
func (tags) value(a *Answer) string {
	keys := []string{}
	for _, p := range a.Probabilities {
		if p.Probability >= defaultTagAt {
			keys = append(keys, p.Key)
		}
	}
	return listValue(keys)
}

// readLabel reads a JSON array of texts, or texts with semicolons between them, each of which stands for an option as for one of a choice.
// The text none, if no option is called so, is the empty list. A problem begins with the position in the list, from 0.
func (t tags) readLabel(q Question, text string) (value, problem string) {
	var texts []string
	if strings.HasPrefix(text, "[") {
		if json.Unmarshal([]byte(text), &texts) != nil {
			return "", "Expected a list of " + strings.TrimPrefix(expectedMembers(q.Members()), "Expected ")
		}
	} else if key, wrong := t.keyed.readLabel(q, text); wrong == "" {
		texts = []string{key}
	} else if texts = strings.Split(text, ";"); strings.EqualFold(text, "none") {
		texts = nil
	}
	right := map[string]bool{}
	for i, text := range texts {
		key, wrong := t.keyed.readLabel(q, strings.TrimSpace(text))
		if wrong != "" {
			return "", strconv.Itoa(i) + ": " + wrong
		}
		right[key] = true
	}
	return keysValue(q, func(key string) bool { return right[key] }), ""
}

func (tags) shownLabel(value string) any {
	if keys := listed(value); keys != nil {
		return keys
	}
	return value
}

// partOfLabel is what a label says of a part.
func (tags) partOfLabel(value, option string) string {
	if slices.Contains(listed(value), option) {
		return labelYes
	}
	return labelNo
}

func (tags) show(a *Answer, c *AnsweredColumn, to *Cell) Reason {
	keys := chosen(a, orDefault(c.YesAt, defaultTagAt))
	labels := make([]string, len(keys))
	for i, key := range keys {
		labels[i] = c.labelOf(a.Type, key)
	}
	to.Kind, to.Key, to.Label = TextCell, strings.Join(keys, "; "), strings.Join(labels, "; ")
	return ""
}

func (t tags) number(a *Answer, c Column, levels []Level) (float64, Reason) {
	if c.Show == ShowCount {
		return float64(len(chosen(a, orDefault(c.YesAt, defaultTagAt)))), ""
	}
	if c.Show == ShowProbability && c.Option == "" {
		return 0, OtherType
	}
	return t.keyed.number(a, c, levels)
}
