package prism

import "strings"

// Target is what is measured, calibrated and watched for drift by itself: a question, or an option of one of whose options any number can
// be right.
type Target struct {
	Of     Question
	Option string // its key; "": the question itself
	// Question is that whose classes the target has: Of, or the part of it that is the option.
	Question
}

// Itself is a question as a whole.
func (q Question) Itself() Target { return Target{Of: q, Question: q} }

// Targets are the question itself, or each of its Parts.
func (q Question) Targets() []Target {
	parts := q.Parts()
	if len(parts) == 0 {
		return []Target{q.Itself()}
	}
	targets := make([]Target, len(parts))
	for i, part := range parts {
		targets[i] = Target{q, part.Key, part}
	}
	return targets
}

// Targets are those of all questions.
func (d Definition) Targets() (all []Target) {
	for _, q := range d.Questions {
		all = append(all, q.Targets()...)
	}
	return all
}

// Classes is what the classes of its answers are to each other.
func (t Target) Classes() Classes { return t.Type.Classes() }

// Name is the name of the target in searches, pins and the store: topic, tags.vip.
func (t Target) Name() string { return TargetName(t.Of.Key, t.Option) }

// TargetName is the name of a target, without an option if that is "". No key has a point.
func TargetName(question, option string) string {
	if option == "" {
		return question
	}
	return question + "." + option
}

// SplitTarget is the question and the option that a name of a target has.
func SplitTarget(name string) (question, option string) {
	question, option, _ = strings.Cut(name, ".")
	return question, option
}

// LabelValue is the value for the target of a label of its question: one of LabelValues.
func (t Target) LabelValue(value string) string {
	if t.Option == "" {
		return value
	}
	return t.Of.Type.PartOfLabel(value, t.Option)
}

// AnswerIn is the answer to the target among those of a result; false if there is none that fits the question. It is nearly always at the
// place of the question in the version.
func (t Target) AnswerIn(answers Answers, place int) (a Answer, ok bool) {
	if place >= len(answers) || answers[place].Question != t.Of.Key {
		for place = 0; place < len(answers) && answers[place].Question != t.Of.Key; place++ {
		}
	}
	switch {
	case place >= len(answers) || answers[place].Type != t.Of.Type:
		return a, false
	case t.Option == "":
		return answers[place], true
	}
	return answers[place].Part(t.Option)
}
