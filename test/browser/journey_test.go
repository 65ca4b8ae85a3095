package browser

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// rowsOfRun are the rows of the file that the journey sends through a prism.
const rowsOfRun = 1000

// testJourney does with the keyboard alone what the console is for: sign in, a prism, a try, its Lens, a run of a file, the
// download of its answers, a key, and out.
func testJourney(t *testing.T, server *prism, browser chromium) {
	t.Helper()
	b := newTab(t, browser)
	downloads := t.TempDir()
	b.scheme("light")
	b.do(chromedp.EmulateViewport(1280, 720))
	b.signIn(server, firstAccount)

	b.tabTo("link", "Prisms")
	b.press(kb.Enter)
	b.find("heading", "Prisms")
	b.find("cell", demo)
	b.press("j" + kb.Enter)
	b.tryPrism()
	b.openLens()
	b.runFile(writeRows(t))
	b.download(downloads)
	b.makeKey()

	b.tabTo("link", "Audit")
	b.press(kb.Enter)
	b.find("heading", "Audit")
	b.tabTo("button", b.named("button", firstAccount))
	b.press(kb.Enter)
	b.find("menuitem", "Sign out")
	b.press(kb.End + kb.Enter)
	b.find("heading", "Sign in")
	if got := eval[int](b, "fetch('/console/session').then((r) => r.status)"); got != 401 {
		t.Errorf("after signing out the session is %d", got)
	}
	b.wantOnly(server.url, "prism_", resourceFailed)
}

// writeRows makes a file of rows, with a column of the same name as the field.
func writeRows(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("ticket,message\n")
	for i := range rowsOfRun {
		_, _ = fmt.Fprintf(&text, "T-%d,Parcel %d has not come. When will it?\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "tickets.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
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

// openLens looks at the columns of the prism in view.
func (b *tab) openLens() {
	b.t.Helper()
	b.tabTo("link", "Lens")
	b.press(kb.Enter)
	b.await("location.pathname.endsWith('/lens')")
	b.settle()
}

// runFile sends the rows of a file through the prism.
func (b *tab) runFile(file string) {
	b.t.Helper()
	b.tabTo("link", "Runs")
	b.press(kb.Enter)
	b.await("location.pathname.endsWith('/runs')")
	b.tabTo("link", "New run")
	b.press(kb.Enter)
	b.find("heading", "New run")
	b.tabTo("combobox", "Prism")
	b.press(demo)
	b.tabTo("button", "Choose a file")
	b.choose(file, func() { b.press(kb.Enter) })
	b.find("button", "Start the run of 1,000 rows")
	b.tabTo("button", "Check the rows")
	b.press(kb.Enter)
	b.tabTo("button", "Start the run of 1,000 rows")
	b.press(kb.Enter)
	b.until("the run has finished", func() bool {
		return strings.Contains(eval[string](b, "document.querySelector('main').innerText"), "finished")
	})
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

// download downloads the answers of the run in view, and reads them.
func (b *tab) download(folder string) {
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
