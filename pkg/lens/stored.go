package lens

import (
	"slices"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
)

// storedCalibrated precedes the show of a calibrated column in a stored Lens. The release before calibrated columns would ignore
// the member calibrated and show stored probabilities. For a show that it does not know, it shows null instead
// (spec: calibrated-and-the-previous-release).
const storedCalibrated = "calibrated:"

// Stored is a Lens as it is stored.
func Stored(l prism.Lens) prism.Lens {
	columns := slices.Clone(l.Columns)
	for i, c := range columns {
		if c.Calibrated {
			columns[i].Show, columns[i].Calibrated = storedCalibrated+c.Show, false
		}
	}
	return prism.Lens{Columns: columns}
}

// Restored undoes Stored. It changes the columns of l.
func Restored(l prism.Lens) prism.Lens {
	for i, c := range l.Columns {
		if show, ok := strings.CutPrefix(string(c.Show), storedCalibrated); ok {
			l.Columns[i].Show, l.Columns[i].Calibrated = prism.Show(show), true
		}
	}
	return l
}
