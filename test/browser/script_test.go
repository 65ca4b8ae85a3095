package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// testScript holds the functions of the page's script, each called in the page, and what the script makes of the document.
func testScript(t *testing.T, server *prism, browser chromium) {
	t.Helper()
	open := func(t *testing.T, address string) *tab {
		t.Helper()
		b := newTab(t, browser)
		b.do(chromedp.EmulateViewport(1280, 900))
		b.open(server.url + address)
		return b
	}

	t.Run("shows", func(t *testing.T) {
		b := open(t, "/docs")
		const auth = " \\\n" + `  -H "Authorization: Bearer $PRISM_API_KEY"`
		const id = `{ name: "id", in: "path", example: "a b" }`
		long := strings.Repeat("x", 84)
		html := func(nodes string) string { return "element('div', " + nodes + ").innerHTML" }
		command := func(operation string) string {
			return "commandLine({ path: '/v1/{id}', bodies: [], parameters: [" + id + "], " + operation + " })"
		}
		input := func(schema, example string) string {
			return "input({ name: 'p', in: 'query', schema: " + schema + ", example: " + example + " }).outerHTML"
		}
		text := func(json string) string { return "layout(" + quote(json) + ").textContent" }
		for _, c := range []struct{ name, expression, want string }{
			{"text as text", html("markdown('a < b & `<c>`')"), "<p>a &lt; b &amp; <code>&lt;c&gt;</code></p>"},
			{"the lines of a paragraph joined", html(`markdown('a\n**b**\n\nc')`), "<p>a <strong>b</strong></p><p>c</p>"},
			{"a list", html("markdown('- a\\n- `b`')"), "<ul><li>a</li><li><code>b</code></li></ul>"},
			{
				"a table", html(`markdown('| a | b |\n|---|---|\n| 1 | <2> |')`),
				`<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead>` +
					"<tbody><tr><td>1</td><td>&lt;2&gt;</td></tr></tbody></table></div>",
			},
			{
				"every kind of JSON in its colour", html("layout(" + quote(`{"a<": "b\"&", "c": -1.5e3, "d": [true, null]}`) + ")"),
				"{\n  " + `<span class="n">"a&lt;"</span>: <span class="s">"b\"&amp;"</span>,` + "\n  " +
					`<span class="n">"c"</span>: <span class="d">-1.5e3</span>,` + "\n  " +
					`<span class="n">"d"</span>: [<span class="w">true</span>, <span class="w">null</span>]` + "\n}",
			},
			{"the whole opened", text(`{"a":1}`), "{\n  \"a\": 1\n}"},
			{"short members on a line", text(`{"a":{"b":[1,"c, \": d"]},"e":[]}`), "{\n  \"a\": {\"b\": [1, \"c, \\\": d\"]},\n  \"e\": []\n}"},
			{"long members opened", text(`[[1,"` + long + `"],2]`), "[\n  [\n    1,\n    \"" + long + "\"\n  ],\n  2\n]"},
			{"84 characters on a line", text(`[["` + long[4:] + `"]]`), "[\n  [\"" + long[4:] + "\"]\n]"},
			{"85 characters opened", text(`[["` + long[3:] + `"]]`), "[\n  [\n    \"" + long[3:] + "\"\n  ]\n]"},
			{"a string alone as one", text(`"` + long + `"`), `"` + long + `"`},
			{
				"limits in short",
				"limits({ enum: ['a'], minLength: 1, maxLength: 100000, minItems: 1, maxItems: 1, minimum: 0, maximum: 1, pattern: '^a$', default: 0.5 }).join('|')",
				"a|1–100,000 characters|1–1 items|≥ 0|≤ 1|^a$|default 0.5",
			},
			{"a limit of one side", "limits({ minLength: 2, maxItems: 3 }).join('|')", "≥ 2 characters|≤ 3 items"},
			{"the command of a read without a method", command("method: 'GET'"), `curl "$PRISM_URL/v1/a%20b"` + auth},
			{"the method of a command without a body", command("method: 'POST'"), `curl -X POST "$PRISM_URL/v1/a%20b"` + auth},
			{
				"a command's query where there is an example",
				command("method: 'GET', parameters: [" + id + ", { name: 'format', in: 'query', example: 'csv' }, { name: 'to', in: 'query' }]"),
				`curl "$PRISM_URL/v1/a%20b?format=csv"` + auth,
			},
			{
				"a command's body quoted for the shell", command(`method: 'PUT', type: 'application/json', bodies: [{ value: { a: "it's" } }]`),
				`curl -X PUT "$PRISM_URL/v1/a%20b"` + auth + " \\\n" + `  -H "Content-Type: application/json"` + " \\\n" + "  -d '{\"a\": \"it'\\''s\"}'",
			},
			{
				"a command's bytes quoted for the shell", command(`method: 'PUT', type: 'application/octet-stream', bodies: [{ value: "it's" }]`),
				`curl -X PUT "$PRISM_URL/v1/a%20b"` + auth + " \\\n" + `  -H "Content-Type: application/octet-stream"` + " \\\n" + "  --data-binary 'it'\\''s'",
			},
			{"an example that may exist filled in", input("{}", "'triage'"), field(`value="triage" placeholder=""`)},
			{"an example's id left out", input("{ format: 'uuid' }", "'0199f3a2'"), field(`value="" placeholder="uuid"`)},
			{"a default as a hint", input("{ default: 50 }", "undefined"), field(`value="" placeholder="50 (default)"`)},
			{"the form of a time", input("{ format: 'date-time' }", "undefined"), field(`value="" placeholder="2026-12-31T23:59:59Z"`)},
			{
				"known values to choose from", input("{ enum: ['ok', 'failed'] }", "'failed'"),
				`<select name="p" data-in="query"><option value="">not sent</option><option>ok</option><option selected="">failed</option></select>`,
			},
			{
				"true and false to choose from", input("{ type: 'boolean', default: false }", "undefined"),
				`<select name="p" data-in="query"><option value="">false (default)</option><option>true</option><option>false</option></select>`,
			},
			{
				"no input for a key where none is needed",
				"String(tryForm({ method: 'GET', path: '/', summary: '', parameters: [], bodies: [], security: [] }).querySelector('.key'))", "null",
			},
		} {
			t.Run(c.name, func(t *testing.T) {
				if got := eval[string](b, c.expression); got != c.want {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
			})
		}
	})

	t.Run("makes links that all lead somewhere and ids that are all different", func(t *testing.T) {
		b := open(t, "/docs")
		if got := eval[[]string](b, "[...document.querySelectorAll('[id]')].map((x) => x.id).filter((id, at, all) => all.indexOf(id) !== at)"); len(got) > 0 {
			t.Errorf("several elements have the ids %q", got)
		}
		if got := eval[[]string](b, `[...document.links].map((x) => x.getAttribute("href"))
			.filter((href) => href !== "/openapi.json" && !(href.startsWith("#") && document.getElementById(href.slice(1))))`); len(got) > 0 {
			t.Errorf("%q lead nowhere", got)
		}
	})

	t.Run("makes no element that loads or runs anything", func(t *testing.T) {
		b := open(t, "/docs")
		const loading = "[src], [srcset], link, style, iframe, img, [action], [formaction], [style], [onclick], [onload]"
		if got := eval[string](b, "[...document.querySelectorAll('"+loading+"')].map((x) => x.outerHTML).join('')"); got !=
			`<link rel="stylesheet" href="/docs/page.css"><script src="/docs/page.js" defer=""></script>` {
			t.Errorf("the page has %s", got)
		}
		if n := eval[int](b, "document.documentElement.outerHTML.length"); n > 500_000 {
			t.Errorf("%d characters", n)
		}
	})

	t.Run("has the landmarks and headings of a document", func(t *testing.T) {
		b := open(t, "/docs")
		if !eval[bool](b, `document.querySelectorAll("h1").length === 1 && document.querySelectorAll("nav[aria-label] a").length > 40`) {
			t.Error("the page has not one h1, or no contents")
		}
		if got := eval[[]string](b, `[...document.querySelectorAll("main :is(h1, h2, h3, h4)")].map((x) => x.tagName)
			.filter((tag, at, all) => at > 0 && tag[1] - all[at - 1][1] > 1)`); len(got) > 0 {
			t.Errorf("%q follow a heading two levels above", got)
		}
	})

	t.Run("shows the part that the address names", func(t *testing.T) {
		b := open(t, "/docs#readResult")
		b.await("Math.abs(document.getElementById('readResult').getBoundingClientRect().top - 76) < 3")
		b.await(`document.querySelector("nav [aria-current]")?.hash === "#readResult"`)
		b.do(chromedp.Click(chromedp.CSS(`nav a[href="#schema-Lens"]`)))
		b.await("Math.abs(document.getElementById('schema-Lens').getBoundingClientRect().top - 76) < 3")
		b.wantOnly(server.url, server.key)
	})

	t.Run("says so when the document can't be had", func(t *testing.T) {
		b := newTab(t, browser)
		if _, err := chromedp.Call(b.ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{
			URLPatterns: []*network.BlockPattern{{URLPattern: server.url + "/openapi.json", Block: true}},
		}); err != nil {
			t.Fatal(err)
		}
		b.do(chromedp.Navigate(server.url+"/docs"), chromedp.WaitVisible(chromedp.CSS("main [role=alert]")))
		if got := b.text("main [role=alert]"); !strings.HasPrefix(got, "The OpenAPI document can't be shown. ") {
			t.Errorf("the page says %q", got)
		}
	})
}

// field is an input with these attributes.
func field(attributes string) string {
	return `<input name="p" data-in="query" ` + attributes + ` spellcheck="false" autocapitalize="none">`
}
