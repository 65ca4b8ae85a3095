package tabular

import (
	"fmt"
	"slices"
)

// maxNamings is how many columns the notes name.
const maxNamings = 10

// note adds a sentence to what was done to the file.
func (l *Layout) note(text string, args ...any) {
	l.Notes = append(l.Notes, fmt.Sprintf(text, args...))
}

// counted is a number with its noun: one row, 2 rows.
func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// was is the verb for so many things.
func was(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// nameColumns drops the columns that have neither a name nor cells, names the others, and makes all names different
// (spec: file-columns).
func (l *Layout) nameColumns() {
	taken := make(map[string]bool, len(l.Columns))
	for _, c := range l.Columns {
		taken[c.Name] = true
	}
	seen := make(map[string]bool, len(l.Columns))
	named, dropped := l.Columns[:0], int64(0)
	var namings []string
	for i, c := range l.Columns {
		if c.Name == "" && c.Filled == 0 {
			dropped++
			l.Dropped = append(l.Dropped, i)
			continue
		}
		name := c.Name
		if c.Name == "" {
			name = fmt.Sprintf("column_%d", i+1)
		}
		base := name
		for n := 2; seen[name] || name != c.Name && taken[name]; n++ {
			name = fmt.Sprintf("%s (%d)", base, n)
		}
		switch seen[name] = true; {
		case c.Name == "":
			namings = append(namings, fmt.Sprintf("Column %d has no name; it is called %s.", i+1, name))
		case name != c.Name:
			namings = append(namings, fmt.Sprintf("Column %d has the name of an earlier one; it is called %s.", i+1, name))
		}
		c.Name = name
		named = append(named, c)
	}
	if l.Columns = named; dropped > 0 {
		l.note("%s without a name and without cells %s dropped.", counted(dropped, "column"), was(dropped))
	}
	if more := len(namings) - maxNamings; more > 0 {
		namings = append(namings[:maxNamings], fmt.Sprintf("%d further columns were named.", more))
	}
	l.Notes = append(l.Notes, namings...)
}

// titles finds a title above the header (spec: file-header-row).
type titles struct {
	header int64 // the number of its row; 0: there is none yet
	cells  int   // of the header that are not empty, if these are its first ones
	rows   []titledRow
}

type titledRow struct {
	number int64
	filled int
}

// titleRows is how many rows are compared with the header.
const titleRows = 10

// add looks at a row, the first of which is the header.
func (t *titles) add(number int64, filled int, first bool) {
	switch {
	case t.header == 0:
		if t.header = number; first {
			t.cells = filled
		}
	case len(t.rows) < titleRows:
		t.rows = append(t.rows, titledRow{number, filled})
	}
}

// proposed is the row that looks like the header: 0 if the header does.
func (t *titles) proposed() int64 {
	if t.cells == 0 || len(t.rows) == 0 {
		return 0
	}
	most := slices.MaxFunc(t.rows, func(a, b titledRow) int { return a.filled - b.filled }).filled
	if 2*t.cells > most {
		return 0
	}
	for _, r := range t.rows {
		if r.filled == most {
			return r.number
		}
	}
	return 0
}

// filledCells counts the cells that are not empty, and reports whether these are the first ones.
func filledCells(n int, empty func(int) bool) (filled int, first bool) {
	last := -1
	for i := range n {
		if !empty(i) {
			filled, last = filled+1, i
		}
	}
	return filled, last+1 == filled
}

// describe adds what is known of the whole file to its layout.
func (c *chunker) describe(l *Layout) {
	l.nameColumns()
	if c.skipped > 0 {
		l.note("%s %s skipped.", counted(c.skipped, "empty row"), was(c.skipped))
	}
	if c.bad.count > 0 {
		l.note("%s cannot be read: a run has %s as invalid.", counted(c.bad.count, "row"), map[bool]string{true: "it", false: "them"}[c.bad.count == 1])
	}
	l.BadRows, l.HeaderRow = c.bad.count, c.titles.header
	if p := c.titles.proposed(); p > 0 {
		l.ProposedHeaderRow = p
		l.note("Row %d looks like the header, and row %d like a title above it. Read the file again with header_row %[1]d.", p, l.HeaderRow)
	}
}
