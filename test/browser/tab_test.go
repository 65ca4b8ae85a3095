package browser

import (
	"context"
	"fmt"
	"net/url"
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
	caseBudget = 15 * time.Minute
	allBudget  = 36 * time.Minute
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
	*notes

	t   *testing.T
	ctx context.Context
}

// notes are of what the page did.
type notes struct {
	mu         sync.Mutex
	requests   []string
	complaints []string
	open       map[network.RequestID]string // requests without an end, by their addresses
}

func newTab(t *testing.T, browser chromium) *tab {
	t.Helper()
	b := &tab{t: t, notes: &notes{open: map[network.RequestID]string{}}}
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

func (b *notes) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
		if e.Type == network.ResourceTypeDocument { // the end of what the page before has asked for may not be told
			clear(b.open)
		}
		b.open[e.RequestID] = e.Request.URL
	case *network.EventLoadingFinished:
		delete(b.open, e.RequestID)
	case *network.EventLoadingFailed:
		delete(b.open, e.RequestID)
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

// settle waits until the page has all that it asked for and has drawn it. The events of a run have no end.
func (b *tab) settle() {
	b.t.Helper()
	quiet := 0
	b.until("the page is at rest", func() bool {
		busy := !eval[bool](b, "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(document.querySelector('[aria-busy=true]') === null))))")
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, address := range b.open {
			busy = busy || !strings.HasSuffix(address, "/events")
		}
		quiet++
		if busy {
			quiet = 0
		}
		return quiet == 3
	})
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
		if strings.HasPrefix(r, "data:") || strings.HasPrefix(r, "blob:"+origin+"/") {
			continue
		}
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

// forget begins the notes anew.
func (b *notes) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests, b.complaints = nil, nil
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
