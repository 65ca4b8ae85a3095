package browser

import (
	"encoding/json"
	"fmt"
	"image/color"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The demo prism of a first start.
const demo = "tickets"

// resourceFailed begins what Chromium writes to the console for every answer that is an error.
const resourceFailed = "Failed to load resource: "

// spec: docs-page
func TestThePage(t *testing.T) {
	t.Parallel()
	server := startPrism(t)
	browser := startBrowser(t)

	open := func(t *testing.T) *tab {
		t.Helper()
		b := newTab(t, browser)
		b.do(chromedp.EmulateViewport(1280, 900))
		b.open(server.url + "/docs")
		return b
	}

	t.Run("has every operation of the document, with a form to send it", func(t *testing.T) {
		b := open(t)
		for _, o := range operations(t, server) {
			article := fmt.Sprintf("document.querySelector('article.operation#%s')", o.id)
			if !eval[bool](b, article+"?.querySelector('.try > summary')?.checkVisibility() === true") {
				t.Errorf("%s or its form is missing", o.id)
				continue
			}
			if got := eval[string](b, article+".querySelector('.route').innerText.replace(/\\s+/g, ' ')"); got != o.method+" "+o.path {
				t.Errorf("%s is shown as %q", o.id, got)
			}
			if got := eval[string](b, article+".querySelector('h3').innerText"); got != o.summary {
				t.Errorf("%s is called %q, want %q", o.id, got, o.summary)
			}
			shown := eval[[]string](b, "[..."+article+".querySelectorAll('.errors .message')].map((cell) => cell.textContent)")
			for _, message := range o.errors {
				if !slices.Contains(shown, message) {
					t.Errorf("%s does not show %q", o.id, message)
				}
			}
			// Not by the mouse: the page above grows while it is scrolled to.
			eval[bool](b, article+".querySelector('.try > summary').click() === undefined")
			if !eval[bool](b, article+".querySelector('.try button').checkVisibility()") {
				t.Errorf("%s has no button to send it", o.id)
			}
			if !eval[bool](b, article+".querySelector('.try .key').required") {
				t.Errorf("%s asks for no key", o.id)
			}
			described := eval[[]string](b, "[..."+article+".querySelectorAll('.text dt > code')].map((name) => name.textContent)")
			for _, p := range o.parameters {
				if !slices.Contains(described, p.Name) {
					t.Errorf("%s does not describe %s", o.id, p.Name)
				}
				input := fmt.Sprintf("%s.querySelector('form [name=%q][data-in=%q]')", article, p.Name, p.In)
				if !eval[bool](b, input+"?.checkVisibility() === true && "+input+".required === "+strconv.FormatBool(p.Required)) {
					t.Errorf("%s can't be given %s, required: %v", o.id, p.Name, p.Required)
				}
			}
			for _, part := range regexp.MustCompile(`{([^}]*)}`).FindAllStringSubmatch(o.path, -1) {
				if !slices.Contains(o.parameters, parameter{part[1], "path", true}) {
					t.Errorf("%s does not ask for %s", o.id, part[0])
				}
			}
			if got := eval[bool](b, article+".querySelector('textarea') !== null"); got != o.body {
				t.Errorf("%s has a body: %v", o.id, got)
			}
		}
		b.wantOnly(server.url, server.key)
	})

	testScript(t, server, browser)

	t.Run("names everything that can be used to who can't see it", func(t *testing.T) {
		b := open(t)
		eval[any](b, "document.querySelectorAll('details').forEach((d) => { d.open = true; })")
		tree, err := chromedp.Call(b.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for _, node := range tree.Nodes {
			if node.Ignored || node.Role == nil {
				continue
			}
			var role, name string
			if err := json.Unmarshal(node.Role.Value, &role); err != nil {
				t.Fatal(err)
			}
			switch role {
			case "textbox", "combobox", "button", "form", "DisclosureTriangle", "link":
				seen[role]++
				if node.Name == nil || json.Unmarshal(node.Name.Value, &name) != nil || strings.TrimSpace(name) == "" {
					t.Errorf("a %s has no name", role)
				}
			}
		}
		for _, role := range []string{"textbox", "combobox", "button", "form", "DisclosureTriangle", "link"} {
			if seen[role] == 0 {
				t.Errorf("no %s is on the page", role)
			}
		}
	})

	t.Run("sends a call by the keyboard alone and shows the answer", func(t *testing.T) {
		b := open(t)
		b.do(
			chromedp.Focus(chromedp.CSS("#createResult .try > summary")), chromedp.KeyEvent(kb.Enter),
			chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(server.key),
			chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(demo), // instead of the example, which is selected
			chromedp.KeyEvent(kb.Tab),                          // the format
			chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("te"), // the example of a call with text
			chromedp.KeyEvent(kb.Tab), // the body
			chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter),
		)
		b.awaitAnswer("createResult")
		if got := b.text("#createResult .outcome"); !strings.HasPrefix(got, "200 OK in ") {
			t.Errorf("the outcome is %q", got)
		}
		if got := b.text("#createResult .heads"); !strings.Contains(got, "Content-Type: application/json; charset=utf-8\nX-Request-Id: ") {
			t.Errorf("the headers are %q", got)
		}
		var made struct{ ID, Status string }
		shown := b.text("#createResult .reply pre")
		if err := json.Unmarshal([]byte(shown), &made); err != nil || made.Status != "ok" {
			t.Fatalf("the answer is %s (%v)", shown, err)
		}
		if stored := server.call(t, "GET", "/v1/results/"+made.ID, "", 200); compact(t, []byte(shown)) != compact(t, stored) {
			t.Errorf("shown  %s\nstored %s", shown, stored)
		}
		if !eval[bool](b, "document.activeElement === document.querySelector('#createResult .send button')") {
			t.Error("the button has lost the focus")
		}
		if !eval[bool](b, "document.querySelector('#readResult .key').value === "+quote(server.key)) {
			t.Error("another form asks for the key again")
		}
		for _, keeper := range []string{"JSON.stringify(localStorage)", "JSON.stringify(sessionStorage)", "document.cookie", "location.href", "JSON.stringify(history.state)"} {
			if got := eval[string](b, keeper); strings.Contains(got, server.key) {
				t.Errorf("%s has the key", keeper)
			}
		}
		b.do(chromedp.Reload())
		b.await(rendered)
		if !eval[bool](b, "[...document.querySelectorAll('.key')].every((key) => key.value === '')") {
			t.Error("the key is kept when the page is loaded anew")
		}
		b.wantOnly(server.url, server.key)
	})

	t.Run("begins with the document's first example of a body", func(t *testing.T) {
		b := open(t)
		for _, o := range operations(t, server) {
			if o.example != "" {
				if got := eval[string](b, fmt.Sprintf("document.querySelector('#%s textarea').value", o.id)); compact(t, []byte(got)) != o.example {
					t.Errorf("%s begins with %s, want %s", o.id, got, o.example)
				}
			}
		}
	})

	t.Run("shows an error as it was answered", func(t *testing.T) {
		b := open(t)
		b.try("listKeys", "prism_wrong")
		b.awaitAnswer("listKeys")
		if got := b.text("#listKeys .outcome"); !strings.HasPrefix(got, "401 Unauthorized in ") {
			t.Errorf("the outcome is %q", got)
		}
		if got := b.text("#listKeys .heads"); !strings.Contains(got, "WWW-Authenticate: Bearer") {
			t.Errorf("the headers are %q", got)
		}
		if got := b.text("#listKeys .reply pre"); !strings.Contains(got, "Invalid API key") {
			t.Errorf("the answer is %s", got)
		}
		b.wantOnly(server.url, server.key, resourceFailed)
	})

	t.Run("sends nothing without what is required", func(t *testing.T) {
		b := open(t)
		b.do(chromedp.Click(chromedp.CSS("#readResult .try > summary")), chromedp.Click(chromedp.CSS("#readResult .send button")))
		if !eval[bool](b, "document.activeElement === document.querySelector('#readResult .key')") {
			t.Error("the browser does not ask for the key")
		}
		b.do(chromedp.KeyEvent(server.key), chromedp.KeyEvent(kb.Enter))
		if !eval[bool](b, "document.activeElement.name === 'result_id'") {
			t.Error("the browser does not ask for the id")
		}
		if got := b.text("#readResult .outcome"); got != "" {
			t.Errorf("the outcome is %q", got)
		}
	})

	t.Run("sends a call once, however often the button is pressed while it waits", func(t *testing.T) {
		b := open(t)
		b.do(chromedp.SetValue(chromedp.CSS("#listPrisms .key"), server.key))
		eval[any](b, "{ const form = document.querySelector('#listPrisms form'); for (let i = 0; i < 2; i++) form.requestSubmit(); } 0")
		b.awaitAnswer("listPrisms")
		if got := b.asked(server.url + "/v1/prisms"); got != 1 {
			t.Errorf("it was sent %d times", got)
		}
	})

	t.Run("says of a key that no header can hold that it was not sent", func(t *testing.T) {
		b := open(t)
		b.try("listKeys", "prism_…")
		b.await("document.querySelector('#listKeys .outcome').textContent.startsWith('Not sent. ')")
		b.wantOnly(server.url, server.key)
	})

	t.Run("shows markup in an answer as text", func(t *testing.T) {
		const markup = `<img src="/nowhere" onerror="document.title = 'taken'">`
		server.call(t, "POST", "/v1/prisms/"+demo+"/results", `{"text":"Hello","ref":`+quote(markup)+`}`, 200)
		b := open(t)
		b.try("listResults", server.key)
		b.awaitAnswer("listResults")
		if got := b.text("#listResults .reply pre"); !strings.Contains(got, quote(markup)) {
			t.Errorf("the answer is %s", got)
		}
		if eval[bool](b, "document.querySelector('img') !== null") {
			t.Error("an answer has made an element")
		}
		b.wantOnly(server.url, server.key)
	})

	t.Run("cuts an export that is long, and says so", func(t *testing.T) {
		for range 3 {
			server.call(t, "POST", "/v1/prisms/"+demo+"/results", `{"text":"`+strings.Repeat("a", 100_000)+`"}`, 200)
		}
		b := open(t)
		b.do(chromedp.SetValue(chromedp.CSS("#exportResults [name=prism]"), demo))
		b.try("exportResults", server.key)
		b.awaitAnswer("exportResults")
		if got := b.text("#exportResults .outcome"); !strings.HasSuffix(got, "These are its first 200,000 characters.") {
			t.Errorf("the outcome is %q", got)
		}
		if got := len(b.text("#exportResults .reply pre")); got != 200_000 {
			t.Errorf("%d characters are shown", got)
		}
		b.wantOnly(server.url, server.key)
	})

	t.Run("says what it has not got or does not show", func(t *testing.T) {
		b := open(t)
		b.do(chromedp.SetValue(chromedp.CSS("#listPrisms .key"), server.key))
		for _, c := range []struct{ answer, outcome, shown string }{
			{"throw new DOMException('', 'TimeoutError')", "No answer within 75 seconds.", ""},
			{
				`let pulls = 0;
				return new Response(new ReadableStream({ pull(c) { if (pulls++) c.error(); else c.enqueue(new TextEncoder().encode("half")); } }))`,
				"It broke off before its end.", "half",
			},
			{"return new Response('PNG', { headers: { 'Content-Type': 'image/png' } })", "Only text is shown.", ""},
		} {
			eval[any](b, "window.fetch = async () => { "+c.answer+" }; document.querySelector('#listPrisms form').requestSubmit(); 0")
			b.await("document.querySelector('#listPrisms .outcome').textContent.endsWith(" + quote(c.outcome) + ")")
			if got := b.text("#listPrisms pre"); got != c.shown {
				t.Errorf("%s: %q is shown", c.outcome, got)
			}
		}
	})

	t.Run("says so when the server is away", func(t *testing.T) {
		own := startPrism(t)
		b := newTab(t, browser)
		b.open(own.url + "/docs")
		if err := own.service.Stop(); err != nil {
			t.Fatal(err)
		}
		b.try("listKeys", own.key)
		b.await(`document.querySelector("#listKeys .outcome").textContent === "No answer. The server can't be reached."`)
		if eval[bool](b, "document.querySelector('#listKeys .reply').checkVisibility()") {
			t.Error("an answer is shown")
		}
		b.wantOnly(own.url, own.key, resourceFailed)
	})

	t.Run("lets nothing else out and nothing else in", func(t *testing.T) {
		b := open(t)
		for _, c := range []struct{ attempt, complaint string }{
			{"fetch('https://elsewhere.test/').catch(() => {})", "Connecting to 'https://elsewhere.test/' violates"},
			{"document.forms[0].setAttribute('action', '/nowhere'); document.forms[0].submit()", "Sending form data to"},
			{"document.body.setAttribute('style', 'color: red')", "Applying inline style violates"},
			{
				"document.head.append(Object.assign(document.createElement('script'), { textContent: 'document.title = \"taken\"' }))",
				"Executing inline script violates",
			},
			{"document.body.append(Object.assign(document.createElement('img'), { src: '/nowhere' }))", "Loading the image"},
		} {
			eval[any](b, c.attempt+"; 0")
			b.awaitComplaint(c.complaint)
		}
		if eval[bool](b, "document.title === 'taken'") {
			t.Error("a script that is not the page's own has run")
		}
	})

	t.Run("links the document where scripts are off", func(t *testing.T) {
		b := newTab(t, browser)
		if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
			t.Fatal(err)
		}
		b.do(chromedp.Navigate(server.url+"/docs"), chromedp.WaitVisible(chromedp.CSS(`noscript a[href="/openapi.json"]`)))
		b.wantOnly(server.url, server.key)
	})

	for _, look := range []struct {
		name, scheme  string
		width, height int
		paper         color.NRGBA
	}{
		{"light", "light", 1280, 900, color.NRGBA{0xff, 0xff, 0xff, 0xff}},
		{"dark", "dark", 1280, 900, color.NRGBA{0x10, 0x15, 0x1c, 0xff}},
		{"phone", "light", 390, 844, color.NRGBA{0xff, 0xff, 0xff, 0xff}},
		{"phone dark", "dark", 390, 844, color.NRGBA{0x10, 0x15, 0x1c, 0xff}},
	} {
		t.Run("fits and is drawn: "+look.name, func(t *testing.T) {
			b := newTab(t, browser)
			if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}},
			}); err != nil {
				t.Fatal(err)
			}
			b.do(chromedp.EmulateViewport(int64(look.width), int64(look.height)))
			b.open(server.url + "/docs")
			b.shot("top", look.width, look.height, look.paper)
			b.do(chromedp.SetValue(chromedp.CSS("#readPrism [name=prism]"), demo))
			b.try("readPrism", server.key)
			b.awaitAnswer("readPrism")
			if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > look.width {
				t.Errorf("the page is %d wide", wide)
			}
			b.shot("answer", look.width, look.height, look.paper)
			b.wantOnly(server.url, server.key)
		})
	}
}

// rendered is true when the script has made the page, of which the footer is the last part.
const rendered = "document.querySelector('main > footer') !== null"

// open opens the page and waits until the script has made it.
func (b *tab) open(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
	b.await(rendered)
}

// try opens an operation's form and sends it as it is, with a key.
func (b *tab) try(operation, key string) {
	b.t.Helper()
	form := "#" + operation + " .try"
	b.do(
		chromedp.Click(chromedp.CSS(form+" > summary")), chromedp.SendKeys(chromedp.CSS(form+" .key"), key),
		chromedp.Click(chromedp.CSS(form+" .send button")),
	)
}

// awaitAnswer waits until the answer to an operation is shown.
func (b *tab) awaitAnswer(operation string) {
	b.t.Helper()
	b.await("!document.querySelector('#" + operation + " .reply').hidden")
}
