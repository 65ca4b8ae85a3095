package browser

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Bounds of what one test does in the browser, and of what all do: where the page is broken, each waits in vain.
const (
	caseBudget = 2 * time.Minute
	allBudget  = 10 * time.Minute
)

// chromium is a browser that runs.
type chromium struct {
	ctx   context.Context
	until time.Time
}

// startBrowser starts a Chromium that knows no other machine, and ends it with the test.
func startBrowser(t *testing.T) chromium {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, // its sandbox refuses root, and the page is our own
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.UserDataDir(t.TempDir()),
	)
	ctx, cancel := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(cancel)
	late := time.AfterFunc(startBudget, cancel)
	defer late.Stop()
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("Chromium does not start; on Debian make deps installs it: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(ctx, stopBudget)
		defer cancel()
		if err := chromedp.Cancel(ctx); err != nil {
			t.Errorf("Chromium did not stop: %v", err)
		}
	})
	return chromium{ctx, time.Now().Add(allBudget)}
}

// tab is a page with storage of its own. It notes what the page asks for and what the browser complains of.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	requests   []string
	complaints []string
}

func newTab(t *testing.T, browser chromium) *tab {
	t.Helper()
	b := &tab{t: t}
	ctx, cancel := chromedp.NewContext(browser.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.listen))
	t.Cleanup(cancel)
	ctx, cancel = context.WithDeadline(ctx, browser.until)
	t.Cleanup(cancel)
	b.ctx, cancel = context.WithTimeout(ctx, caseBudget)
	t.Cleanup(cancel)
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if t.Failed() {
			t.Logf("the page asked for\n%s\nand the browser complained of\n%s", strings.Join(b.requests, "\n"), strings.Join(b.complaints, "\n"))
		}
	})
	return b
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.complaints = append(b.complaints, e.Entry.Text)
		}
	case *runtime.EventConsoleAPICalled:
		b.complaints = append(b.complaints, fmt.Sprintf("console.%s", e.Type))
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Text)
	}
}

// do takes steps, each of which has to work.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// eval is the value of a JavaScript expression in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// await waits until a JavaScript expression is true of the page.
func (b *tab) await(expression string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(0))); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
}

// text is what stands in an element.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("document.querySelector(%q).textContent", selector))
}

// wantOnly wants that every request went to the origin, none with the secret in its address, and that the browser had no
// complaint but those that begin so.
func (b *tab) wantOnly(origin, secret string, complaints ...string) {
	b.t.Helper()
	eval[int](b, "0") // what the page did before has been noted when this is answered
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) == 0 {
		b.t.Error("no request was seen")
	}
	for _, r := range b.requests {
		if u, err := url.Parse(r); err != nil || u.Scheme+"://"+u.Host != origin || strings.Contains(r, secret) {
			b.t.Errorf("the page asked for %s", r)
		}
	}
	for _, c := range b.complaints {
		if !slices.ContainsFunc(complaints, func(known string) bool { return strings.HasPrefix(c, known) }) {
			b.t.Errorf("the browser complains: %s", c)
		}
	}
}

// awaitComplaint waits until the browser has complained in these words.
func (b *tab) awaitComplaint(words string) {
	b.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		b.mu.Lock()
		all := strings.Join(b.complaints, "\n")
		b.mu.Unlock()
		if strings.Contains(all, words) {
			return
		}
		select {
		case <-tick.C:
		case <-b.ctx.Done():
			b.t.Fatalf("the browser does not complain of %s, but of\n%s", words, all)
		}
	}
}

// shot takes a picture of what is in view, keeps it with the test's artifacts, and wants it to be a page that was drawn:
// of this size, mostly of its paper's colour, with the colours of letters on it.
func (b *tab) shot(name string, width, height int, paper color.NRGBA) {
	b.t.Helper()
	file, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.t.ArtifactDir(), name+".png"), file, 0o600); err != nil {
		b.t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		b.t.Fatalf("%s is not a PNG: %v", name, err)
	}
	if picture.Bounds().Size() != image.Pt(width, height) {
		b.t.Errorf("%s is %v", name, picture.Bounds().Size())
	}
	colours := map[color.NRGBA]int{}
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			colours[color.NRGBAModel.Convert(picture.At(x, y)).(color.NRGBA)]++
		}
	}
	if share := 100 * colours[paper] / (width * height); share < 30 || len(colours) < 50 {
		b.t.Errorf("%s has %d colours; %d%% are paper", name, len(colours), share)
	}
}

// asked is the number of requests of the page for an address.
func (b *tab) asked(address string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.requests {
		if r == address {
			n++
		}
	}
	return n
}
