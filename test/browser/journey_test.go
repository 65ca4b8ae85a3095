package browser

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// rowsOfRun are the rows of the file that the journey sends through a prism.
const rowsOfRun = 1000

// testJourney does with the keyboard alone what the console is for: sign in, a prism, a try, its Lens, a run of a file, the
// download of its answers, labels and what they tell, a key, and out.
// spec: console-home, console-file-reading, console-run-page, console-label-keys, console-quality-page
func testJourney(t *testing.T, server *prism, browser chromium) {
	t.Helper()
	b := newTab(t, browser)
	downloads := t.TempDir()
	b.scheme("light")
	b.do(chromedp.EmulateViewport(1280, 720))
	b.signIn(server, firstAccount)
	b.askFirst(server)

	b.tabTo("link", "Prisms")
	b.press(kb.Enter)
	b.find("heading", "Prisms")
	b.find("cell", demo)
	b.openFirst()
	b.tabTo("link", "Try")
	b.press(kb.Enter)
	b.tryPrism()
	b.addColumn("wants_money")
	b.runFile(writeRows(t))
	b.download(downloads, "wants_money")
	b.labelResults(server)
	b.makeKey()

	b.tabTo("link", "Audit")
	b.press(kb.Enter)
	b.find("heading", "Audit")
	b.tabTo("button", b.named("button", firstAccount))
	b.press(kb.Enter)
	b.await(menuOpen)
	b.press(kb.End + kb.Enter)
	b.find("heading", "Sign in")
	if got := eval[int](b, "fetch('/console/session').then((r) => r.status)"); got != 401 {
		t.Errorf("after signing out the session is %d", got)
	}
	b.wantOnly(server.url, "prism_", resourceFailed)
}

// writeRows makes a file of rows, as a spreadsheet of many countries saves them: with a title and an empty row above the header. A
// column has the name of the field.
func writeRows(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("Tickets of November;\r\n;\r\nticket;message\r\n")
	for i := range rowsOfRun {
		_, _ = fmt.Fprintf(&text, "T-%d;Parcel %d has not come. When will it?\r\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "tickets.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// askFirst has the first screen answer its message, whose answers grow one after the other, but not for those who want no motion.
func (b *tab) askFirst(server *prism) {
	b.t.Helper()
	b.visit(server, view{path: "/", heading: "Ask a text something."})
	b.hold(axe(b.t), server, view{name: "first screen", brief: true})
	const motion = `[...document.querySelectorAll(".refraction-bar > span")].map((bar) => {
		const { transitionDuration, transitionDelay } = getComputedStyle(bar);
		return transitionDuration + " " + transitionDelay;
	}).join()`
	b.until("without motion the answers are there at once", func() bool { return eval[string](b, motion) == "0s 0s,0s 0s,0s 0s" })
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{}); err != nil {
		b.t.Fatal(err)
	}
	b.until("the answers grow", func() bool { return eval[string](b, motion) == "0.2s 0s,0.2s 0.04s,0.2s 0.08s" })
	b.tabTo("textbox", "Message")
	b.press(kb.Enter)
	b.find("link", "Open its result")
	b.await(`[...document.querySelectorAll(".refraction-bar > span")].every((bar) => bar.offsetWidth > 0)`)
	b.hold(axe(b.t), server, view{name: "first answer", brief: true})
	b.scheme("light")
	b.do(chromedp.EmulateViewport(1280, 720))
}

// tryPrism asks the prism in view.
func (b *tab) tryPrism() {
	b.t.Helper()
	b.tabTo("textbox", b.named("textbox", "Message"))
	b.press("I was charged twice for my order.")
	b.tabTo("button", "Ask the model")
	b.press(kb.Enter)
	b.until("the answer is shown", func() bool { return strings.Contains(eval[string](b, "location.search"), "result=") })
	b.settle()
}

// addColumn adds a column to the Lens of the prism in view: the probability of its yes_no question. The preview has it before it
// is saved, and the results have it after.
func (b *tab) addColumn(name string) {
	b.t.Helper()
	b.tabTo("link", "Lens")
	b.press(kb.Enter)
	b.await("location.pathname.endsWith('/lens')")
	b.tabTo("button", "Add column")
	b.press(kb.Enter)
	b.await("document.activeElement.matches('.column-item:last-of-type input, li:last-child .column-item input')")
	b.press("a", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	b.press(name)
	b.press(kb.Tab)
	b.pick("Does the customer ask for a refund")
	b.press(kb.Tab)
	b.pick("Probability")
	value := fmt.Sprintf(`(() => {
		const at = [...document.querySelectorAll(".preview th")].findIndex((head) => head.textContent === %q);
		return document.querySelector(".preview tbody tr")?.cells[at]?.textContent ?? "";
	})()`, name)
	// What it had before its probability was chosen is a word.
	b.until("the preview has the column", func() bool { return strings.ContainsAny(eval[string](b, value), "0123456789") })
	before := eval[string](b, value)
	b.tabTo("button", "Save Lens")
	b.press(kb.Enter)
	b.await("document.querySelector('.foot').innerText.includes('No changes')")
	b.tabTo("link", "Results")
	b.press(kb.Enter)
	b.await("location.pathname.endsWith('/results')")
	b.find("table", "Results")
	b.openFirst()
	b.until("the result has the column", func() bool {
		at := strings.Fields(eval[string](b, "document.querySelector('.panel')?.innerText ?? ''"))
		i := slices.Index(at, name)
		return i >= 0 && i+1 < len(at) && at[i+1] == before
	})
	b.press(kb.Escape)
	b.await("document.querySelector('.panel') === null")
}

// runFile sends the rows of a file through the prism, slowly, and pauses and resumes the run while its counts change. Before, it has
// the file read again with another header.
func (b *tab) runFile(file string) {
	b.t.Helper()
	b.tabTo("link", "Runs")
	b.press(kb.Enter)
	b.await("location.pathname.endsWith('/runs')")
	b.tabTo("link", "New run")
	b.press(kb.Enter)
	b.find("heading", "New run")
	b.tabTo("combobox", "Prism")
	b.pick(demo)
	b.tabTo("button", "Choose a file")
	b.choose(file, func() { b.press(kb.Enter) })
	b.find("button", "Start the run of 1,001 rows")
	b.await(`document.querySelector("main").innerText.includes("1 empty row was skipped.")`)
	b.tabTo("button", "Use row 3")
	b.press(kb.Enter)
	b.find("button", "Start the run of 1,000 rows")
	if head := eval[string](b, `document.querySelector("[aria-label='The first rows as they were read'] tr").innerText`); strings.Join(strings.Fields(head), " ") != "ticket message" {
		b.t.Errorf("the columns are %s", head)
	}
	b.tabTo("textbox", "Rows a second at most")
	b.press("5")
	b.tabTo("button", "Check the rows")
	b.press(kb.Enter)
	b.tabTo("button", "Start the run of 1,000 rows")
	b.press(kb.Enter)
	b.await("/\\/runs\\/[0-9a-f-]+$/.test(location.pathname)")
	eval[bool](b, "window.before = true")
	b.awaitRun("running", 1)
	run := eval[string](b, "location.origin + '/v1/runs/' + location.pathname.split('/').at(-1)")
	b.until("the counts change without a read of the run", func() bool { // a stream that is lost is followed anew after a read
		reads := b.asked(run)
		b.awaitRun("running", b.awaitRun("running", 2)+1)
		return b.asked(run) == reads
	})
	b.press("p")
	done := b.awaitRun("paused", 2)
	b.tabTo("button", "Resume")
	b.press(kb.Enter)
	b.awaitRun("running", done+1)
	b.tabTo("button", "Limits")
	b.press(kb.Enter)
	b.tabTo("button", "Set limits")
	b.press(kb.Enter)
	if done = b.awaitRun("finished", rowsOfRun); done != rowsOfRun || !eval[bool](b, "window.before") {
		b.t.Errorf("%d rows are done, or the page was loaded anew", done)
	}
}

// awaitRun waits until the page of a run shows a state with at least so many rows done, and returns how many.
func (b *tab) awaitRun(state string, least int) (done int) {
	b.t.Helper()
	b.until(fmt.Sprintf("the run is %s with %d rows done", state, least), func() bool {
		shown := eval[string](b, `(document.querySelector(".page-head .badge")?.innerText ?? "") + " " +
			(document.querySelector(".runs-line strong")?.innerText.replace(",", "") ?? "")`)
		_, err := fmt.Sscanf(shown, state+" %d of", &done)
		return err == nil && done >= least
	})
	return done
}

// choose answers the dialog of the browser for a file that the next press opens.
func (b *tab) choose(file string, press func()) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, page.SetInterceptFileChooserDialog, page.SetInterceptFileChooserDialogParams{Enabled: true}); err != nil {
		b.t.Fatal(err)
	}
	opened, err := chromedp.Run(b.ctx, chromedp.WaitEvent(page.FileChooserOpened, func(page.EventFileChooserOpened) bool { return true },
		chromedp.Func(func(context.Context, *chromedp.Target) error { press(); return nil })))
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{file}, BackendNodeID: opened.BackendNodeID}); err != nil {
		b.t.Fatal(err)
	}
}

// download downloads the answers of the run in view, and reads them. They have a value in each column of the Lens.
func (b *tab) download(folder, column string) {
	b.t.Helper()
	at, err := chromedp.Call(b.ctx, target.GetTargetInfo, target.GetTargetInfoParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := chromedp.CallBrowser(b.ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
		Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder, BrowserContextID: at.TargetInfo.BrowserContextID,
	}); err != nil {
		b.t.Fatal(err)
	}
	b.tabTo("button", "Download")
	b.press(kb.Enter)
	b.find("combobox", "Format")
	b.tabTo("button", "Download")
	b.press(kb.Enter)
	var rows [][]string
	b.until("the answers are downloaded", func() bool {
		files, err := filepath.Glob(filepath.Join(folder, "*.csv"))
		if err != nil || len(files) != 1 {
			return false
		}
		file, err := os.Open(files[0])
		if err != nil {
			return false
		}
		defer func() { _ = file.Close() }()
		rows, err = csv.NewReader(file).ReadAll()
		return err == nil && len(rows) == rowsOfRun+1
	})
	if got := rows[1][:2]; got[0] != "T-0" || !strings.HasPrefix(got[1], "Parcel 0") {
		b.t.Errorf("the first row is %q", got)
	}
	if at := slices.Index(rows[0], column); at < 0 || rows[1][at] == "" {
		b.t.Errorf("the head is %q, and the first row is %q", rows[0], rows[1])
	}
}

// labelled is how many results the journey labels: as many as measures take, and some.
const labelled = 32

// labelResults labels results of the demo prism, one key each, and looks at the measure that it makes.
func (b *tab) labelResults(server *prism) {
	b.t.Helper()
	b.tabTo("link", "Prisms")
	b.press(kb.Enter)
	b.find("cell", demo)
	b.openFirst()
	b.tabTo("link", "Quality")
	b.press(kb.Enter)
	b.tabTo("link", "Label results")
	b.press(kb.Enter)
	text := func(n int) string {
		return fmt.Sprintf("document.querySelector('.label-text')?.ariaLabel === 'Text %d'", n)
	}
	b.await(text(1))
	b.settle()
	// The page's own time of a label: from the press of its key until the next text is there.
	eval[int](b, `window.took = [], addEventListener("keydown", ({ timeStamp }) => {
		const at = () => document.querySelector(".label-text")?.ariaLabel;
		const before = at();
		const changes = new MutationObserver(() => {
			if (at() === before) return;
			took.push(performance.now() - timeStamp);
			changes.disconnect();
		});
		changes.observe(document.body, { subtree: true, childList: true, attributes: true });
	}, true), 0`)
	begin := time.Now()
	for n := range labelled {
		b.press("12"[n%2 : n%2+1]) // Billing, Delivery
		b.await(text(n + 2))
	}
	all := time.Since(begin)
	took := eval[[]float64](b, "took.sort((a, b) => a - b)")
	if len(took) != labelled {
		b.t.Fatalf("%d of %d presses led to the next text", len(took), labelled)
	}
	b.t.Logf("%d labels by as many keys took %s; the page takes %.1f ms of a label, %.1f ms at most",
		labelled, all.Round(time.Millisecond), took[labelled/2], took[labelled-1])
	b.await("document.querySelector('.label-counts').innerText.endsWith('All stored')")
	var stored struct {
		Data []struct {
			Labels map[string]struct{ Value, Sample string }
		}
	}
	path := fmt.Sprintf("/v1/prisms/%s/labels?question=topic&limit=100", demo)
	if err := json.Unmarshal(server.call(b.t, "GET", path, "", 200), &stored); err != nil {
		b.t.Fatal(err)
	}
	of := map[string]int{}
	for _, r := range stored.Data {
		of[r.Labels["topic"].Sample+" "+r.Labels["topic"].Value]++
	}
	if of["random billing"] != labelled/2 || of["random delivery"] != labelled/2 || len(stored.Data) != labelled {
		b.t.Errorf("stored are %d labels: %v", len(stored.Data), of)
	}
	b.tabTo("link", "Quality")
	b.press(kb.Enter)
	b.find("table", "Questions")
	b.openFirst()
	b.until("the measure is there", func() bool {
		text := eval[string](b, "document.querySelector('main').innerText")
		return strings.Contains(text, fmt.Sprintf("of %d labels that count", labelled)) && strings.Contains(text, "% right, ")
	})
}

// makeKey makes a key, which is shown once and leaves the document with its dialog.
func (b *tab) makeKey() {
	b.t.Helper()
	b.tabTo("link", "Keys")
	b.press(kb.Enter)
	b.find("heading", "Keys")
	b.tabTo("button", "Create key")
	b.press(kb.Enter)
	b.tabTo("textbox", "Name")
	b.press("journey" + kb.Enter)
	b.find("heading", "Key journey")
	shown := eval[string](b, "document.querySelector('dialog[open] code').textContent")
	if !strings.HasPrefix(shown, "prism_") {
		b.t.Fatalf("the dialog shows %q", shown)
	}
	b.tabTo("button", "Done")
	b.press(kb.Enter)
	b.await("document.querySelector('dialog') === null")
	b.wantNowhere(shown)
}
