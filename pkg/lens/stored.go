package lens

import (
	"slices"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
)

// storedCalibrated precedes the show of a calibrated column in a stored Lens. The release before calibrated columns ignores members
// that it does not know, and shows nothing for a show that it does not know. So its replicas show null until they are replaced, and
// not what is not calibrated (spec: calibrated-and-the-previous-release).
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

// Restored is the Lens that was stored as l, whose columns it changes.
func Restored(l prism.Lens) prism.Lens {
	for i, c := range l.Columns {
		if show, ok := strings.CutPrefix(string(c.Show), storedCalibrated); ok {
			l.Columns[i].Show, l.Columns[i].Calibrated = prism.Show(show), true
		}
	}
	return l
}
