package prism

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// scale is the kind of questions that one of the levels of a rising scale answers.
type scale struct{ keyed }

func (scale) classes() Classes { return Ordinal }
func (scale) shape() Shape     { return Shape{Chosen: "level"} }
func (scale) shows() []Show    { return []Show{ShowAnswer, ShowProbability, ShowAverage} }
func (scale) derived() Show    { return ShowAverage }

func (s scale) number(a *Answer, c Column, levels []Level) (float64, Reason) {
	if c.Show != ShowAverage {
		return s.keyed.number(a, c, levels)
	}
	average, ok := average(levels, a.Probabilities)
	if !ok {
		return 0, NoAverage
	}
	return average, ""
}

// average weighs the values of the levels in the version that answered (spec: show-average). It is false without one: that version
// lacks a level of the stored answer, which must not be left out, a level has no value, or the values near the largest number overflow.
func average(levels []Level, probabilities []KeyProbability) (sum float64, ok bool) {
	for _, p := range probabilities {
		at := slices.IndexFunc(levels, func(l Level) bool { return l.Key == p.Key })
		if at < 0 || levels[at].Value == nil {
			return 0, false
		}
		sum += float64(p.Probability * *levels[at].Value) // the conversion forbids fusing: the same digits on every processor
	}
	return sum, len(probabilities) > 0 && !math.IsInf(sum, 0) && !math.IsNaN(sum)
}

// levelOf is the key of the level that has the value that a text writes, or empty. Where a key or label is a number too, a number is
// none of the values: of levels that are called 0 to 3, the 3 is not the third one.
func levelOf(levels []Level, text string) string {
	value, ok := decimal(text)
	if !ok || slices.ContainsFunc(levels, func(l Level) bool { return isDecimal(l.Key) || isDecimal(l.Label) }) {
		return ""
	}
	at := slices.IndexFunc(levels, func(l Level) bool { return l.Value != nil && *l.Value == value })
	if at < 0 {
		return ""
	}
	return levels[at].Key
}

func isDecimal(text string) bool {
	_, ok := decimal(strings.TrimSpace(text))
	return ok
}

// decimal reads a number in decimal digits, as files of rows write one.
func decimal(text string) (value float64, ok bool) {
	value, err := strconv.ParseFloat(text, 64)
	return value, err == nil && strings.Trim(text, "+-.0123456789eE") == ""
}
