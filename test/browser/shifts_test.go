package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

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
	b.until("the page has drawn every answer", func() bool {
		b.settle()
		return eval[bool](b, "(window.held ?? 0) === 0")
	})
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

// oneByOne gives a page each answer of the API in a frame of its own, behind one that shows the page without it: whatever the speed
// of the machine, that is the order in which most moves.
const oneByOne = `const real = window.fetch;
	let last = Promise.resolve();
	window.held = 0;
	const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
	window.fetch = (to, how) => {
		if (!(to instanceof Request)) return real(to, how);
		const answer = real(to, how);
		const before = last;
		held++;
		last = before.then(() => answer).catch(() => {}).then(drawn).then(() => { held--; }).then(drawn);
		return before.then(() => answer);
	};`

// testShifts holds the pages that are drawn from several calls to staying where they are while the calls are answered.
// spec: console-still
func testShifts(t *testing.T, server *prism, browser chromium) {
	t.Helper()
	for _, window := range []struct {
		name          string
		width, height int64
	}{{"laptop", laptop, 720}, {"phone", 360, 780}} {
		t.Run(window.name, func(t *testing.T) {
			b := newTab(t, browser)
			b.signIn(server, usedAccount)
			b.watchShifts()
			b.inject(oneByOne)
			for _, v := range []view{
				{name: "overview", path: "/prisms/support"},
				{name: "results", path: "/results", heading: "Results"},
				{name: "results of a prism", path: "/prisms/support/results"},
				{name: "quality", path: "/prisms/support/quality?question=team"},
				{name: "quality of every question", path: "/prisms/support/quality"},
				{name: "thresholds", path: "/prisms/support/quality?question=refund&tab=thresholds"},
				{name: "drift", path: "/prisms/support/quality?question=team&tab=drift"},
				{name: "label", path: "/prisms/support/label"},
			} {
				t.Run(v.name, func(t *testing.T) {
					b := b.in(t)
					b.do(chromedp.EmulateViewport(window.width, window.height), chromedp.Navigate("about:blank"))
					b.do(chromedp.Navigate(server.url + "/console" + v.path))
					b.await("document.querySelector('main h1')?.innerText.startsWith(" + quote(v.heading) + ")")
					sum, what := b.shift()
					t.Logf("%.4f", sum)
					if sum > mostShift {
						t.Errorf("the page moves by %.3f, more than %.2f: %q", sum, mostShift, what)
					}
				})
			}
		})
	}
}
