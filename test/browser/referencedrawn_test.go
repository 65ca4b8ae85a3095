package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// mostElements is the most elements of the reference at first: what is far from the window is in words, an element for hundreds.
const mostElements = 4000

// testReferenceDrawn holds the reference to what is drawn of it, and when.
// spec: docs-page
func testReferenceDrawn(t *testing.T, server *prism, browser chromium) {
	t.Helper()
	open := func(t *testing.T) *tab {
		t.Helper()
		b := newTab(t, browser)
		b.do(chromedp.EmulateViewport(1280, 900))
		b.watchShifts()
		b.openReference(server.url + "/docs")
		b.settle()
		return b
	}
	count := func(b *tab, selector string) int {
		b.t.Helper()
		return eval[int](b, "document.querySelectorAll("+quote(selector)+").length")
	}

	t.Run("draws what is near the window, and has the rest in words that are found", func(t *testing.T) {
		b := open(t)
		n, parts := count(b, "*"), count(b, "main article")
		if n > mostElements {
			t.Errorf("%d elements are there at first, more than %d", n, mostElements)
		}
		if far := count(b, "main .in-words"); far < parts*9/10 {
			t.Errorf("%d of %d parts are in words", far, parts)
		}
		t.Logf("%d elements at first; the largest paint took %.0f ms", n, eval[float64](b, `new Promise((told) =>
			new PerformanceObserver((list) => told(list.getEntries().at(-1).startTime)).observe({ type: "largest-contentful-paint", buffered: true }))`))
		last := eval[[]string](b, "(({ id, lastElementChild: { textContent } }) => [id, textContent])([...document.querySelectorAll('article:has(.in-words)')].at(-1))")
		words := strings.Join(strings.Fields(last[1])[:4], " ")
		if !eval[bool](b, "window.find("+quote(words)+")") {
			t.Errorf("%q is not found", words)
		}
		b.await("document.querySelector('#" + last[0] + " .in-words') === null")
		if !strings.Contains(eval[string](b, "document.getElementById("+quote(last[0])+").textContent"), strings.Fields(words)[0]) {
			t.Errorf("%s is drawn without its words", last[0])
		}
		b.drawAll()
		t.Logf("%d elements when all is drawn", count(b, "*"))
		b.wantOnly(server.url, server.key)
	})

	t.Run("moves nothing while it is read", func(t *testing.T) {
		b := open(t)
		for more := true; more; {
			more = eval[bool](b, `new Promise((drawn) => {
				const before = scrollY;
				scrollBy({ top: innerHeight * 0.8, behavior: "instant" });
				requestAnimationFrame(() => requestAnimationFrame(() => drawn(scrollY > before)));
			})`)
		}
		if far := count(b, "main .in-words"); far > 0 {
			t.Errorf("%d parts are not drawn at the end", far)
		}
		if sum, what := b.shift(); sum > mostShift {
			t.Errorf("the page moves by %.3f, more than %.2f: %q", sum, mostShift, what)
		}
	})

	t.Run("stays at the part that the address names while those above are drawn", func(t *testing.T) {
		b := newTab(t, browser)
		b.do(chromedp.EmulateViewport(1280, 900))
		b.openReference(server.url + "/docs#listChanges")
		// Those around it are drawn, some of them above.
		b.await("document.querySelector('#listChanges .in-words') === null && document.querySelector('article:has(+ #listChanges) .in-words') === null")
		b.settle()
		b.await("Math.abs(document.getElementById('listChanges').getBoundingClientRect().top - 64) < 3")
	})
}
