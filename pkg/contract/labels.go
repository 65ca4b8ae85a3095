package contract

// LabelSample is how the results were chosen that were labelled (spec: label-sample).
type LabelSample string

// The samples. "" is a label of no sample: whoever put it chose the result in a way of their own.
const (
	RandomSample    LabelSample = "random"
	UncertainSample LabelSample = "uncertain"
)

// MaxLabels bounds the labels of one call (spec: labels-add).
const MaxLabels = 1000

// RowLabel is a label of a row of a run. Value is as in the store: an option key, a level key, "true" or "false".
type RowLabel struct{ Question, Value string }
