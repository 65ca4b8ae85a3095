package prism

// LabelSample is how the results were chosen that were labelled (spec: label-sample).
type LabelSample string

// The samples. "" is a label of no sample: nothing is said about how its result was chosen.
const (
	RandomSample    LabelSample = "random"
	UncertainSample LabelSample = "uncertain" // those whose answers the model was not sure of
)

// Values are the samples that can be named.
func (LabelSample) Values() []string { return texts([]LabelSample{RandomSample, UncertainSample}) }
