package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// keepReadmePictures writes the pictures of the README into a folder: an answer of a prism, and results with one of them open.
func keepReadmePictures(t *testing.T, server *prism, browser chromium, folder string) {
	t.Helper()
	b := newTab(t, browser)
	b.scheme("light")
	b.signIn(server, usedAccount)
	keep := func(name string) {
		t.Helper()
		b.settle()
		picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), picture, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.visit(server, view{path: "/results?prism=support"})
	b.find("table", "Results")
	// One that the model is not all too sure of, so that each option has a bar.
	eval[bool](b, `(() => {
		const rows = [...document.querySelectorAll("tbody tr")].filter((row) => row.cells.length > 4);
		(rows.find((row) => !/Insufficient/.test(row.innerText) && /\b[67]\d(\.\d)?%/.test(row.innerText)) ?? rows[0]).click();
		return true;
	})()`)
	b.find("heading", "Answers")
	keep("console-results.png")

	b.visit(server, view{path: "/prisms/support/try"})
	b.typeInto("Subject", "Sparks")
	b.typeInto("Message", "There were sparks from the plug of the toaster this morning and then smoke. "+
		"It is broken, out of warranty, and I am furious. I want my money back!")
	b.click("button", "Ask the model")
	b.await("location.search.includes('result=')")
	eval[bool](b, "scrollTo(0, 0), true")
	keep("console-try.png")
}
