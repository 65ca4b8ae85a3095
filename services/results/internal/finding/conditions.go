package finding

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// Conditions are those of where: a result is found if all of them hold.
type Conditions []Condition

// Condition is one of where.
type Condition struct {
	Subject
	Operator Operator
	Values   []string // of Is and Not
	Bound    float64  // of From and To; of times in milliseconds since 1970
	others   []string // the values that Not leaves; nil if they are not known
}

// Operator is what a condition asks of its subject.
type Operator string

// The operators. Each but the last three holds only for a result that has what the subject names.
const (
	Is           Operator = "is"   // one of the values
	Not          Operator = "not"  // none of them
	From         Operator = "from" // the bound or more
	To           Operator = "to"   // the bound or less; of a time less than the bound, as in every list
	IsLabelled   Operator = "labelled"
	IsUnlabelled Operator = "unlabelled"
	IsWrong      Operator = "wrong" // the label and the answer differ
)

const mostValues = 100

// The problems of conditions.
const (
	expectedCondition = "Expected question:operator:value"
	expectedValue     = "Expected a value"
	expectedNumber    = "Expected number"
	unknownOperator   = "Unknown operator"
)

// ParseConditions reads each where. The path of a problem has its index.
func (s Schema) ParseConditions(where []string) (all Conditions, problems []apierr.Problem) {
	for i, text := range where {
		c, problem := s.condition(text)
		if problem != "" {
			problems = append(problems, apierr.Problem{Path: "where." + strconv.Itoa(i), Text: problem})
		}
		all = append(all, c)
	}
	return all, problems
}

func (s Schema) condition(text string) (c Condition, problem string) {
	subject, rest, ok := strings.Cut(text, ":")
	if !ok {
		return c, expectedCondition
	}
	operator, value, valued := strings.Cut(rest, ":")
	if c.Subject, problem = s.subject(subject); problem != "" {
		return c, problem
	}
	c.Operator = Operator(operator)
	switch {
	case c.Operator == IsLabelled || c.Operator == IsUnlabelled || c.Operator == IsWrong:
		if c.Question == "" || c.Option != "" || c.Measure != "" {
			return c, unknownOperator
		}
		if valued {
			return c, expectedCondition
		}
		return c, ""
	case s.ranged(c.Subject) && (c.Operator == From || c.Operator == To):
		c.Bound, problem = c.bound(value)
		return c, problem
	case c.listed() && (c.Operator == Is || c.Operator == Not):
		if c.Values, problem = s.values(c.Subject, value); problem == "" && c.Operator == Not && c.Question != "" && !s[c.Question].several {
			c.others = s.valuesBut(c.Question, c.Values)
		}
		return c, problem
	}
	return c, unknownOperator
}

// ranged tells whether the subject is a number. An answer with any number of right options has none but those of its options and its
// measures.
func (s Schema) ranged(of Subject) bool {
	if of.Question != "" && of.Option == "" && of.Measure == "" {
		return s[of.Question].single
	}
	return of.Question != "" && of.Measure != Label || of.Measure == Created || of.Measure == Took
}

// listed tells whether the subject is one of several values.
func (of Subject) listed() bool {
	if of.Question != "" {
		return of.Option == "" && (of.Measure == "" || of.Measure == Label)
	}
	return of.Measure != Created && of.Measure != Took
}

func (of Subject) bound(value string) (bound float64, problem string) {
	if of.Measure == Created && of.Question == "" {
		at, err := time.Parse(time.RFC3339Nano, value)
		if err != nil {
			return 0, "Invalid datetime"
		}
		return float64(at.UnixMicro()) / 1000, ""
	}
	bound, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(bound, 0) || math.IsNaN(bound) || strings.ContainsAny(value, "xXpP_") {
		return 0, expectedNumber
	}
	return bound, ""
}

// values reads those of a list with commas.
func (s Schema) values(subject Subject, text string) (values []string, problem string) {
	values = strings.Split(text, ",")
	if len(values) > mostValues {
		return nil, "Expected at most 100 values"
	}
	for i, value := range values {
		if value == "" {
			return nil, expectedValue
		}
		known := true
		switch {
		case subject.Question != "":
			known = s[subject.Question].replies[value]
		case subject.Measure == Version:
			n, err := strconv.ParseInt(value, 10, 32)
			if err != nil || n < 1 {
				return nil, expectedNumber
			}
			values[i] = strconv.FormatInt(n, 10)
		case subject.Measure == Status:
			known = value == string(prism.OK) || value == string(prism.Failed)
		case subject.Measure == Labelled:
			known = value == "yes" || value == "no"
		}
		if !known {
			return nil, unknownOption
		}
	}
	return values, ""
}

// valuesBut are the values of a question but some.
func (s Schema) valuesBut(question string, some []string) (others []string) {
	for value := range s[question].replies {
		if !slices.Contains(some, value) {
			others = append(others, value)
		}
	}
	return others
}

// Match tells whether all conditions hold for a result.
func (all Conditions) Match(f *Found) bool {
	return !slices.ContainsFunc(all, func(c Condition) bool { return !c.holds(f) })
}

func (c *Condition) holds(f *Found) bool {
	switch c.Operator {
	case Is, Not:
		values, ok := f.values(c.Subject)
		some := slices.ContainsFunc(values, func(value string) bool { return slices.Contains(c.Values, value) })
		return ok && some == (c.Operator == Is)
	case From, To:
		n, ok := f.Number(c.Subject)
		return ok && c.bounds(n)
	case IsLabelled, IsUnlabelled, IsWrong:
	}
	label, labelled := f.Labels[c.Question]
	if c.Operator != IsWrong {
		return labelled == (c.Operator == IsLabelled)
	}
	a := f.Answer(c.Question)
	return labelled && a != nil && label != a.Value()
}

func (c *Condition) bounds(n float64) bool {
	switch {
	case c.Operator == From:
		return n >= c.Bound
	case c.Question == "" && c.Measure == Created:
		return n < c.Bound
	}
	return n <= c.Bound
}

// values are those of a subject that is one of several values: one, or any number of right options. It is false for a result without it.
func (f *Found) values(subject Subject) (values []string, ok bool) {
	switch {
	case subject.Question != "" && subject.Measure == Label:
		label, labelled := f.Labels[subject.Question]
		q, _ := f.Definition.Question(subject.Question)
		return q.LabelReplies(label), labelled
	case subject.Question != "":
		if a := f.Answer(subject.Question); a != nil {
			values = a.Replies()
			return values, !slices.Contains(values, "") // as of a type of a later release
		}
	case subject.Measure == Version:
		return []string{strconv.Itoa(int(f.Result.Version))}, true
	case subject.Measure == Status:
		return []string{string(f.Result.Status)}, true
	case subject.Measure == Labelled:
		if len(f.Labels) > 0 {
			return []string{"yes"}, true
		}
		return []string{"no"}, true
	case subject.Measure == Model && f.Result.Call != nil && f.Result.Call.Name != "":
		return []string{f.Result.Call.Name}, true
	}
	return nil, false
}
