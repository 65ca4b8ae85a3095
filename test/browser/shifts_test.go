package browser

// mostShift is the most that a page moves without an act of the reader: the sum of its layout shifts, which is never less than the
// cumulative layout shift of web vitals.
const mostShift = 0.02

// watchShifts has each document of the tab note what moves in it without an act of the reader.
func (b *tab) watchShifts() {
	b.t.Helper()
	b.inject(`window.shifts = [];
		const note = (entries) => shifts.push(...entries.filter((entry) => !entry.hadRecentInput).map(({ value, sources }) => ({
			value, what: sources.map(({ node }) => node?.outerHTML?.slice(0, 120) ?? "a text"),
		})));
		const watcher = new PerformanceObserver((list) => note(list.getEntries()));
		watcher.observe({ type: "layout-shift", buffered: true });
		window.noteShifts = () => note(watcher.takeRecords());`)
}

// shift is how far the page has moved so far, and what did.
func (b *tab) shift() (sum float64, what [][]string) {
	b.t.Helper()
	b.settle()
	for _, one := range eval[[]struct {
		Value float64
		What  []string
	}](b, "(noteShifts(), shifts)") {
		sum += one.Value
		what = append(what, one.What)
	}
	return sum, what
}
