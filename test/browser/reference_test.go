package browser

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The demo prism of a first start.
const demo = "tickets"

// resourceFailed begins what Chromium writes to the console for every answer that is an error.
const resourceFailed = "Failed to load resource: "

// testReference uses the API reference as a reader does.
func testReference(t *testing.T, server *prism, browser chromium) {
	t.Helper()
	open := func(t *testing.T) *tab {
		t.Helper()
		b := newTab(t, browser)
		b.do(chromedp.EmulateViewport(1280, 900))
		b.openReference(server.url + "/docs")
		return b
	}
	byID := map[string]operation{}
	for _, o := range operations(t, server) {
		byID[o.id] = o
	}

	t.Run("has every operation of the document, with a form to send it", func(t *testing.T) {
		b := open(t)
		b.drawAll()
		eval[int](b, `document.querySelectorAll("main :is(.errors > summary, summary[aria-label^='Try it: '])").forEach((summary) => summary.click()), 0`)
		b.await(fmt.Sprintf("document.forms.length === %d && document.querySelectorAll('.errors').length === document.querySelectorAll('.errors table').length", len(byID)))
		type form struct {
			Title, Route, Text, Body, Errors string
			Names, Required, Described       []string
			HasKey, HasBody                  bool
		}
		shown := eval[map[string]form](b, `Object.fromEntries([...document.querySelectorAll("main article[id]:has(form)")].map((article) => {
			const form = article.querySelector("form");
			const controls = [...form.querySelectorAll("[name]")];
			return [article.id, {
				Title: article.querySelector("h3").innerText, Route: article.querySelector("h3 + p").innerText.replace(/\s+/g, " "),
				Names: controls.map((c) => c.name), Required: controls.filter((c) => c.required).map((c) => c.name),
				Described: [...article.querySelectorAll("dt code")].map((c) => c.textContent),
				HasKey: form.querySelector("input[type=password]")?.required === true, HasBody: form.querySelector("textarea") !== null,
				Body: form.querySelector("textarea")?.value ?? "",
				Errors: [...article.querySelectorAll("td")].map((c) => c.textContent).join("\n"),
			}];
		}))`)
		for id, o := range byID {
			f := shown[id]
			if f.Route != o.method+" "+o.path || f.Title != o.summary || !f.HasKey || f.HasBody != o.body {
				t.Errorf("%s is shown as %+v", id, f)
			}
			for _, message := range o.errors {
				if !strings.Contains(f.Errors, message) {
					t.Errorf("%s does not show %q", id, message)
				}
			}
			for _, p := range o.parameters {
				name := p.In + " " + p.Name
				if !slices.Contains(f.Names, name) || slices.Contains(f.Required, name) != p.Required || !slices.Contains(f.Described, p.Name) {
					t.Errorf("%s can't be given %s, required: %v, or does not describe it", id, name, p.Required)
				}
			}
			for _, part := range regexp.MustCompile(`{([^}]*)}`).FindAllStringSubmatch(o.path, -1) {
				if !slices.Contains(o.parameters, parameter{part[1], "path", true}) {
					t.Errorf("%s does not ask for %s", id, part[0])
				}
			}
			if o.example != "" && compact(t, []byte(f.Body)) != o.example {
				t.Errorf("%s begins with %s, want %s", id, f.Body, o.example)
			}
		}
		b.wantOnly(server.url, server.key)
	})

	t.Run("sends a call by the keyboard alone and shows the answer", func(t *testing.T) {
		b := open(t)
		o := byID["createResult"]
		b.openForm(o)
		b.press(kb.Tab)
		b.press(server.key)
		b.press(kb.Tab)
		b.press(demo)                     // instead of the example, which is selected
		b.press(kb.Tab + kb.Tab + kb.Tab) // behind the format and the idempotency key
		b.pick("text fills")              // the example of a call with text
		b.press(kb.Tab + kb.Tab + kb.Enter)
		b.awaitAnswer(o)
		if got := b.outcome(o); !strings.HasPrefix(got, "200 OK in ") {
			t.Errorf("the outcome is %q", got)
		}
		if got := b.part(o, "Headers of the answer"); !strings.Contains(got, "Content-Type: application/json; charset=utf-8\nX-Request-Id: ") {
			t.Errorf("the headers are %q", got)
		}
		var made struct{ ID, Status string }
		answer := b.part(o, "Answer")
		if err := json.Unmarshal([]byte(answer), &made); err != nil || made.Status != "ok" {
			t.Fatalf("the answer is %s (%v)", answer, err)
		}
		if stored := server.call(t, "GET", "/v1/results/"+made.ID, "", 200); compact(t, []byte(answer)) != compact(t, stored) {
			t.Errorf("shown  %s\nstored %s", answer, stored)
		}
		if at := b.focused(); at.name != "Send" {
			t.Errorf("the keyboard is at %s", at)
		}
		b.openForm(byID["readResult"])
		if !eval[bool](b, "[...document.querySelectorAll('input[type=password]')].every((key) => key.value === "+quote(server.key)+")") {
			t.Error("another form asks for the key again")
		}
		b.wantNowhere(server.key)
		b.do(chromedp.Reload())
		b.await(rendered)
		b.openForm(o)
		if got := eval[string](b, "document.querySelector('input[type=password]').value"); got != "" {
			t.Error("the key is kept when the page is loaded anew")
		}
		b.wantOnly(server.url, server.key)
	})

	t.Run("fills the forms by the session of the console, whose key is nowhere", func(t *testing.T) {
		b := newTab(t, browser)
		b.do(chromedp.EmulateViewport(1280, 900))
		b.signIn(server, firstAccount)
		b.openReference(server.url + "/docs")
		eval[int](b, `window.keys = [], window.fetch = ((fetch) => (request, ...rest) => {
			if (request instanceof Request) keys.push(request.headers.get("Authorization"));
			return fetch(request, ...rest);
		})(window.fetch), 0`)
		o := byID["createResult"]
		b.openForm(o)
		b.await(formOf(o) + `.querySelector("select[name='path prism']")?.value === ` + quote(demo))
		if eval[bool](b, formOf(o)+`.querySelector("input[type=password]") !== null`) {
			t.Error("a key is asked for")
		}
		eval[int](b, formOf(o)+".requestSubmit(), 0")
		b.awaitAnswer(o)
		if got := b.outcome(o); !strings.HasPrefix(got, "200 OK in ") {
			t.Errorf("the outcome is %q: %s", got, b.part(o, "Answer"))
		}
		first := strings.TrimPrefix(eval[string](b, "keys.at(-1)"), "Bearer ")
		if !strings.HasPrefix(first, "prism_") {
			t.Fatalf("the key is %q", first)
		}
		b.wantNowhere(first)
		// A page that is left, and that the browser may keep, makes a key anew.
		eval[bool](b, "dispatchEvent(new Event('pagehide'))")
		eval[int](b, formOf(o)+".requestSubmit(), 0")
		b.await("keys.length === 2")
		b.awaitAnswer(o)
		if second := eval[string](b, "keys.at(-1)"); second == "Bearer "+first {
			t.Error("the key outlives the page")
		}
		eval[int](b, `document.querySelectorAll("main article:not(#createResult)").forEach((article) => article.remove()), 0`)
		for _, found := range b.violations(axe(t), allRules) {
			t.Error(found)
		}
		b.wantOnly(server.url, first)
	})

	t.Run("shows an error as it was answered", func(t *testing.T) {
		b := open(t)
		o := byID["listKeys"]
		b.try(o, "prism_wrong")
		b.awaitAnswer(o)
		if got := b.outcome(o); !strings.HasPrefix(got, "401 Unauthorized in ") {
			t.Errorf("the outcome is %q", got)
		}
		if got := b.part(o, "Headers of the answer"); !strings.Contains(got, "WWW-Authenticate: Bearer") {
			t.Errorf("the headers are %q", got)
		}
		if got := b.part(o, "Answer"); !strings.Contains(got, "Invalid API key") {
			t.Errorf("the answer is %s", got)
		}
		b.wantOnly(server.url, server.key, resourceFailed)
	})

	t.Run("sends nothing without what is required, and each call once", func(t *testing.T) {
		b := open(t)
		o := byID["readPrism"]
		b.openForm(o)
		b.press(kb.Tab + kb.Enter)
		b.press(server.key)
		eval[int](b, "document.querySelector(\"[name='path prism']\").value = '', 0")
		b.press(kb.Enter)
		if got := eval[string](b, "document.activeElement.name"); got != "path prism" {
			t.Errorf("the browser asks for %q", got)
		}
		if got := b.outcome(o); got != "" {
			t.Errorf("the outcome is %q", got)
		}
		b.press(demo)
		eval[int](b, "for (let i = 0; i < 2; i++) document.forms[0].requestSubmit(), 0")
		b.awaitAnswer(o)
		if got := b.asked(server.url + "/v1/prisms/" + demo); got != 1 {
			t.Errorf("it was sent %d times", got)
		}
	})

	t.Run("says of a key that no header can hold that it was not sent", func(t *testing.T) {
		b := open(t)
		o := byID["listKeys"]
		b.try(o, "prism_…")
		b.until("it says so", func() bool { return strings.HasPrefix(b.outcome(o), "Not sent. ") })
		b.wantOnly(server.url, server.key)
	})

	t.Run("shows markup in an answer as text, and cuts what is long", func(t *testing.T) {
		const markup, slug = `<img src="/nowhere" onerror="document.title = 'taken'">`, "markup"
		server.call(t, "POST", "/v1/prisms",
			`{"slug":"`+slug+`","fields":[{"key":"text","label":"Text"}],"questions":[{"key":"q","type":"yes_no","text":"Is it?"}]}`, 201)
		for range 3 {
			server.call(t, "POST", "/v1/prisms/"+slug+"/results", `{"text":"`+strings.Repeat("a", 100_000)+`","ref":`+quote(markup)+`}`, 200)
		}
		b := open(t)
		o := byID["exportResults"]
		b.openForm(o)
		eval[int](b, "document.querySelector(\"[name='path prism']\").value = "+quote(slug)+", 0")
		b.try(o, server.key)
		b.awaitAnswer(o)
		if got := b.outcome(o); !strings.HasSuffix(got, "These are its first 200,000 characters.") {
			t.Errorf("the outcome is %q", got)
		}
		if got := b.part(o, "Answer"); len(got) != 200_000 || !strings.Contains(got, "<img src=") {
			t.Errorf("%d characters are shown", len(got))
		}
		if eval[bool](b, "document.querySelector('img') !== null") {
			t.Error("an answer has made an element")
		}
		b.wantOnly(server.url, server.key)
	})

	t.Run("says so when the server or the document is away", func(t *testing.T) {
		b := open(t)
		o := byID["listKeys"]
		b.block(server.url + "/v1/keys")
		b.try(o, server.key)
		b.until("it says so", func() bool { return b.outcome(o) == "No answer. The server can't be reached." })
		if b.part(o, "Answer") != "" {
			t.Error("an answer is shown")
		}
		b.block(server.url + "/openapi.json")
		b.do(chromedp.Navigate(server.url + "/docs?"))
		if got := with[string](b, b.find("alert", ""), "function () { return this.textContent }"); !strings.HasPrefix(got, "The OpenAPI document can't be shown. ") {
			t.Errorf("the page says %q", got)
		}
	})

	t.Run("lets nothing else out and nothing else in", func(t *testing.T) {
		b := open(t)
		b.openForm(byID["listKeys"])
		for _, c := range []struct{ attempt, complaint string }{
			{"fetch('https://elsewhere.test/').catch(() => {})", "Connecting to 'https://elsewhere.test/' violates"},
			{"document.forms[0].setAttribute('action', '/nowhere'); document.forms[0].submit()", "Sending form data to"},
			{"document.body.setAttribute('style', 'color: red')", "Applying inline style violates"},
			{"try { document.body.innerHTML = 'taken' } catch { document.title += '' }", "TrustedHTML"},
			{"document.body.append(Object.assign(document.createElement('img'), { src: 'https://elsewhere.test/a' }))", "Loading the image"},
		} {
			eval[any](b, c.attempt+"; 0")
			b.awaitComplaint(c.complaint)
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

	t.Run("finds by search, and shows the part that the address names", func(t *testing.T) {
		b := newTab(t, browser)
		b.do(chromedp.EmulateViewport(1280, 900))
		b.openReference(server.url + "/docs#readResult")
		at := func(id string) string {
			return "Math.abs(document.getElementById(" + quote(id) + ").getBoundingClientRect().top - 64) < 3"
		}
		b.await(at("readResult"))
		b.await(`document.querySelector("nav [aria-current]")?.hash === "#readResult"`)
		b.openSearch()
		b.press("idempotency_key")
		b.find("option", "idempotency_key Create a result")
		b.press(kb.Enter)
		b.await(`location.hash === "#createResult.body.idempotency_key"`)
		b.await(at("createResult.body.idempotency_key"))
		eval[int](b, `document.querySelector("nav a[href='#schema-Lens']").click(), 0`)
		b.await(at("schema-Lens"))
		for _, within := range []string{"createPrism.body.questions.ChoiceQuestion.options.key", "createResult.200.Result.answers"} {
			eval[string](b, "location.hash = "+quote(within))
			b.await(at(within))
		}
		b.wantOnly(server.url, server.key)
	})

	t.Run("opens objects in place, in samples of four languages", func(t *testing.T) {
		b := open(t)
		b.drawAll()
		eval[int](b, `document.querySelector("#createPrism summary[aria-label='Members of Question in questions'], #createPrism summary[aria-label^='Members of'][aria-label$=' in questions']").click(), 0`)
		b.await("document.querySelectorAll('#createPrism details details, #createPrism details[open] dl').length > 0")
		samples := map[string]map[string]string{}
		for _, language := range []string{"Go", "TypeScript", "Python", "curl"} {
			eval[int](b, fmt.Sprintf("[...document.querySelectorAll('#createResult [role=tab]')].find((tab) => tab.textContent === %q).click(), 0", language))
			b.await(fmt.Sprintf("document.querySelector('#createResult [role=tabpanel] pre').ariaLabel.startsWith(%q)", language))
			samples[language] = eval[map[string]string](b, "Object.fromEntries([...document.querySelectorAll('article:has([role=tabpanel])')].map((a) => [a.id, a.querySelector('[role=tabpanel] pre').textContent]))")
		}
		var without []string
		for id := range byID {
			if strings.HasPrefix(samples["Go"][id], "The Go client has no method") {
				without = append(without, id)
				continue
			}
			if _, err := parser.ParseFile(token.NewFileSet(), id+".go", samples["Go"][id], parser.AllErrors); err != nil {
				t.Errorf("%v:\n%s", err, samples["Go"][id])
			}
		}
		if slices.Sort(without); !slices.Equal(without, []string{"createDecision", "createSystemOne"}) { // spec: formats-of-others
			t.Errorf("the Go client has no method for %q", without)
		}
		for language, call := range map[string]string{"TypeScript": "await prism.readResult(", "Python": "client.read_result("} {
			if got := samples[language]["readResult"]; !strings.Contains(got, call) {
				t.Errorf("%s: %s", language, got)
			}
		}
		run := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(samples["curl"]["listPrisms"], "curl ", "curl -sS --fail-with-body "))
		run.Env = append(run.Environ(), "PRISM_API_KEY="+server.key)
		if answer, err := run.CombinedOutput(); err != nil || !strings.Contains(string(answer), demo) {
			t.Errorf("curl: %v: %s", err, answer)
		}
	})

	t.Run("makes links that all lead somewhere, ids that are all different, and headings in order", func(t *testing.T) {
		b := open(t)
		b.drawAll()
		if got := eval[[]string](b, "[...document.querySelectorAll('[id]')].map((x) => x.id).filter((id, at, all) => all.indexOf(id) !== at)"); len(got) > 0 {
			t.Errorf("several elements have the ids %q", got)
		}
		if got := eval[[]string](b, `[...document.links].map((x) => x.getAttribute("href"))
			.filter((href) => href !== "/openapi.json" && !(href.startsWith("#") && document.getElementById(href.slice(1))))`); len(got) > 0 {
			t.Errorf("%q lead nowhere", got)
		}
		if !eval[bool](b, `document.querySelectorAll("h1").length === 1 && document.querySelectorAll("nav[aria-label] a").length > 40`) {
			t.Error("the page has not one h1, or no contents")
		}
		if got := eval[[]string](b, `[...document.querySelectorAll("main :is(h1, h2, h3, h4)")].map((x) => x.tagName)
			.filter((tag, at, all) => at > 0 && tag[1] - all[at - 1][1] > 1)`); len(got) > 0 {
			t.Errorf("%q follow a heading two levels above", got)
		}
	})

	t.Run("has a menu on a phone, and keeps a choice of theme", func(t *testing.T) {
		b := newTab(t, browser)
		b.do(chromedp.EmulateViewport(360, 780))
		b.openReference(server.url + "/docs")
		b.tabTo("button", "Menu")
		b.press(kb.Enter)
		b.tabTo("combobox", "Appearance")
		b.pick("Dark")
		b.await("getComputedStyle(document.documentElement).colorScheme === 'dark'")
		b.tabTo("link", "GET Read a result")
		b.press(kb.Enter)
		b.await("document.querySelector('dialog') === null && location.hash === '#readResult'")
		b.do(chromedp.Reload())
		b.await(rendered)
		if got := eval[string](b, "getComputedStyle(document.documentElement).colorScheme"); got != "dark" {
			t.Errorf("after a reload it is %s", got)
		}
		b.wantOnly(server.url, server.key)
	})

	t.Run("is accessible", func(t *testing.T) {
		b := open(t)
		source := axe(t)
		b.scheme("light")
		for _, found := range b.violations(source, allRules) {
			t.Errorf("at first: %s", found)
		}
		b.drawAll()
		b.openForm(byID["createResult"])
		for _, found := range b.violations(source, allRules) {
			t.Error(found)
		}
		// In the other looks one call and one schema stand for all, which are made alike.
		eval[int](b, `document.querySelectorAll("main article:not(#createResult, #schema-Question)").forEach((article) => article.remove()), 0`)
		reference := view{name: "reference"}
		b.accessible(source, reference)
		b.wantOnly(server.url, server.key)
		b.keepPictures(reference)
	})
}
