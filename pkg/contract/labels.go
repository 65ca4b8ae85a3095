package contract

import "github.com/prism-results/prism/pkg/prism"

// RowLabel is a label of a result that is known, such as that of a row.
type RowLabel struct{ Question, Value string }

// QueueOf is the list that the cursors of an order of the label queue belong to.
func QueueOf(order prism.LabelSample) List {
	if order == prism.UncertainSample {
		return ListOfUncertain
	}
	return ListOfRandom
}
