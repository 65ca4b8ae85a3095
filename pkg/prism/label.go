package prism

import (
	"strconv"
	"strings"
)

// LabelSample is how the results were chosen that were labelled (spec: label-sample).
type LabelSample string

// The samples. "" is a label of no sample: nothing is said about how its result was chosen.
const (
	RandomSample    LabelSample = "random"
	UncertainSample LabelSample = "uncertain" // those whose answers the model was not sure of
)

// Values are the samples that can be named.
func (LabelSample) Values() []string { return texts([]LabelSample{RandomSample, UncertainSample}) }

// LabelProblem is the path and the text of a problem of Question.ReadLabel with the label at a path: one with a text of a list begins with
// its position.
func LabelProblem(path, problem string) (at, text string) {
	if position, text, ok := strings.Cut(problem, ": "); ok {
		if _, err := strconv.Atoi(position); err == nil {
			return path + "." + position, text
		}
	}
	return path, problem
}
