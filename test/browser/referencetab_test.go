package browser

import (
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// rendered is true when the script has made the page, of which the footer is the last part.
const rendered = "document.querySelector('main > footer') !== null"

// openReference opens the reference and waits until the script has made it.
func (b *tab) openReference(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
	b.await(rendered)
}

// drawAll has the reference draw all of itself, as for a printer.
func (b *tab) drawAll() {
	b.t.Helper()
	eval[bool](b, "dispatchEvent(new Event('beforeprint'))")
	b.await("document.querySelector('.in-words') === null")
}

// openSearch gives the keyboard to the search of the reference.
func (b *tab) openSearch() {
	b.t.Helper()
	b.until("the search has the keyboard", func() bool {
		b.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
		return eval[bool](b, "document.activeElement.type === 'search'")
	})
}

func formOf(o operation) string {
	return fmt.Sprintf("document.querySelector('#%s form')", o.id)
}

// openForm opens an operation's form by the keyboard, if it is closed.
func (b *tab) openForm(o operation) {
	b.t.Helper()
	if eval[bool](b, formOf(o)+" === null") {
		eval[string](b, "location.hash = "+quote(o.id))
		b.await(fmt.Sprintf("document.querySelector('#%s .try') !== null", o.id))
		eval[int](b, fmt.Sprintf("document.querySelector(\"#%s summary[aria-label^='Try it']\").focus(), 0", o.id))
		b.press(kb.Enter)
		b.await(formOf(o) + " !== null")
	}
}

// try sends an operation as it is, with a key.
func (b *tab) try(o operation, key string) {
	b.t.Helper()
	b.openForm(o)
	eval[int](b, formOf(o)+".querySelector('input[type=password]').focus(), 0")
	b.do(chromedp.KeyEvent(key), chromedp.KeyEvent(kb.Enter))
}

// awaitAnswer waits until the answer to an operation is shown.
func (b *tab) awaitAnswer(o operation) {
	b.t.Helper()
	b.await(formOf(o) + `.querySelector("[aria-label='Headers of the answer']") !== null`)
}

func (b *tab) outcome(o operation) string {
	b.t.Helper()
	return eval[string](b, formOf(o)+".querySelector('p[role=status]').textContent")
}

// part is the text of a named part of an answer, or "".
func (b *tab) part(o operation, name string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`%s.querySelector("[aria-label='%s']")?.textContent ?? ""`, formOf(o), name))
}

// block keeps the page from an address.
func (b *tab) block(address string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{
		URLPatterns: []*network.BlockPattern{{URLPattern: address, Block: true}},
	}); err != nil {
		b.t.Fatal(err)
	}
}

// wantNowhere wants that a secret is in no storage, no address and nothing that the document shows.
func (b *tab) wantNowhere(secret string) {
	b.t.Helper()
	for _, keeper := range []string{
		"JSON.stringify(localStorage)", "JSON.stringify(sessionStorage)", "document.cookie", "location.href", "JSON.stringify(history.state)",
		"document.documentElement.outerHTML", "indexedDB.databases().then((all) => JSON.stringify(all))",
	} {
		if got := eval[string](b, "Promise.resolve("+keeper+").then((text) => text ?? '')"); strings.Contains(got, secret) {
			b.t.Errorf("%s has the key", keeper)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, address := range b.requests {
		if strings.Contains(address, secret) {
			b.t.Errorf("the address %s has the key", address)
		}
	}
}
