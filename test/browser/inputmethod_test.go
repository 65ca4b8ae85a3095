package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// inputMethodCode is the code of a key that an input method has taken.
const inputMethodCode = 229

// testInputMethod types as one does whose words are composed: the keys that choose and end a word do nothing else.
// spec: input-methods
func testInputMethod(t *testing.T, server *prism, browser chromium) {
	t.Helper()
	const value, options = "document.activeElement.value", "document.querySelectorAll('[role=option]').length"
	t.Run("in the palette", func(t *testing.T) {
		b := newTab(t, browser)
		b.do(chromedp.EmulateViewport(1280, 720))
		b.signIn(server, usedAccount)
		b.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
		b.await(dialogOpen)
		b.settle()
		before := eval[int](b, options)
		b.compose("audi")
		b.await(value + " === 'audi'")
		for _, key := range []string{"ArrowDown", "Enter", "Escape"} {
			b.pressComposed(key)
			if !eval[bool](b, dialogOpen) || eval[string](b, "location.pathname") != "/console/" {
				t.Fatalf("%s did something while a text was composed", key)
			}
		}
		if n := eval[int](b, options); n != before {
			t.Errorf("%d of %d are found by a word that is still composed", n, before)
		}
		b.commit("audit")
		b.await(fmt.Sprintf("%s < %d", options, before))
		b.press(kb.Enter)
		b.find("heading", "Audit")
	})
	t.Run("in the search of the reference", func(t *testing.T) {
		b := newTab(t, browser)
		b.openReference(server.url + "/docs")
		b.openSearch()
		b.compose("audi")
		b.await(value + " === 'audi'")
		b.pressComposed("Enter")
		if hash, n := eval[string](b, "location.hash"), eval[int](b, options); hash != "" || n != 0 {
			t.Errorf("it jumped to %q, and found %d", hash, n)
		}
		b.commit("audit")
		b.await(options + " > 0")
		b.press(kb.Enter)
		b.await("location.hash !== ''")
	})
}

// compose has an input method show a text that it composes.
func (b *tab) compose(text string) {
	b.t.Helper()
	at := int64(len(text))
	if _, err := chromedp.Call(b.ctx, input.ImeSetComposition, input.ImeSetCompositionParams{Text: text, SelectionStart: at, SelectionEnd: at}); err != nil {
		b.t.Fatal(err)
	}
}

// commit ends the composition with a text.
func (b *tab) commit(text string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, input.InsertText, input.InsertTextParams{Text: text}); err != nil {
		b.t.Fatal(err)
	}
}

// pressComposed presses a key that the input method takes.
func (b *tab) pressComposed(key string) {
	b.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		_, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key, WindowsVirtualKeyCode: inputMethodCode})
		if err != nil {
			b.t.Fatal(err)
		}
	}
}
