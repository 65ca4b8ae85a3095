package runs

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// The column outcomes of a chunk has the letters of its last rows' states, a group for each save, which is preceded by the time of
// the save in milliseconds since 1970: "1800000000123oof1800000000999i". So the last rows of a run are found without a database
// row that every save of the run would change.

// batch is the rows of a chunk that one save stored.
type batch struct {
	at      int64 // milliseconds since 1970
	chunk   int32
	letters string
}

const digits = "0123456789"

// parseOutcomes reads the column outcomes.
func parseOutcomes(outcomes string) (batches []batch) {
	for outcomes != "" {
		letters := strings.TrimLeft(outcomes, digits)
		at, err := strconv.ParseInt(outcomes[:len(outcomes)-len(letters)], 10, 64)
		end := strings.IndexAny(letters, digits)
		if end < 0 {
			end = len(letters)
		}
		if err != nil || end == 0 {
			return nil // nothing writes this
		}
		batches = append(batches, batch{at: at, letters: letters[:end]})
		outcomes = letters[end:]
	}
	return batches
}

// addOutcomes adds the letters of a save, and drops letters that cannot be among the last WatchedRows rows of a run.
func addOutcomes(outcomes string, at time.Time, letters string) string {
	if letters == "" {
		return outcomes
	}
	var text strings.Builder
	behind := len(letters)
	batches := parseOutcomes(outcomes)
	from := len(batches)
	for from > 0 && behind < WatchedRows {
		from--
		behind += len(batches[from].letters)
	}
	for _, b := range append(batches[from:], batch{at: at.UnixMilli(), letters: letters}) {
		text.WriteString(strconv.FormatInt(b.at, 10) + b.letters)
	}
	return text.String()
}

// readBatches reads the number of a chunk and its outcomes after a time, the last ones first.
func readBatches(r *sqldb.Row, since time.Time) (behind []batch) {
	chunk := r.Int32()
	for _, b := range parseOutcomes(r.Text()) {
		if b.at > since.UnixMilli() {
			b.chunk = chunk
			behind = append(behind, b)
		}
	}
	slices.Reverse(behind)
	return behind
}
