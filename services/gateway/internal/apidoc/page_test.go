package apidoc

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"
)

func TestThePageShowsEveryOperationWithItsPathAndItsErrors(t *testing.T) {
	t.Parallel()
	text := string(Page())
	plain := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, ""))
	operations(t, func(t *testing.T, method, path string, op operation) {
		if !strings.Contains(text, `<article class="operation" id="`+op.OperationID+`">`) {
			t.Error("the operation is missing")
		}
		if !strings.Contains(plain, strings.ToUpper(method)+" "+path) || !strings.Contains(plain, op.Summary) {
			t.Error("its path or summary is missing")
		}
		for _, p := range op.Parameters {
			if !strings.Contains(text, "<dt><code>"+p.Name+"</code>") {
				t.Errorf("parameter %s is missing", p.Name)
			}
		}
		o := operationView{}
		if err := o.addResponses(op.Responses); err != nil {
			t.Fatal(err)
		}
		for _, e := range o.Errors {
			if !strings.Contains(plain, e.Message) {
				t.Errorf("%q is missing", e.Message)
			}
		}
	})
}

func TestThePageLoadsNothingAndRunsNothingBesideItself(t *testing.T) {
	t.Parallel()
	page := string(Page())
	for _, banned := range []string{
		"http://", "https://", " src=", "srcset=", "<link", "<iframe", "<img", " action=", " formaction=", "@import", "url(", " style=", " onclick=", " onload=", "javascript:",
	} {
		if at := strings.Index(page, banned); at >= 0 {
			t.Errorf("%q: %s", banned, page[max(0, at-40):min(len(page), at+60)])
		}
	}
}

func TestThePolicyAllowsTheStyleAndTheScriptByTheirHashes(t *testing.T) {
	t.Parallel()
	if strings.Contains(PageCSP, "unsafe") || !strings.HasPrefix(PageCSP, "default-src 'none';") {
		t.Errorf("the policy is not strict: %s", PageCSP)
	}
	for _, tag := range []string{"style", "script"} {
		found := regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+tag+`>`).FindAllSubmatch(Page(), -1)
		if len(found) != 1 {
			t.Fatalf("%d %s elements", len(found), tag)
		}
		sum := sha256.Sum256(found[0][1])
		want := tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if !strings.Contains(PageCSP, want) {
			t.Errorf("PageCSP must say %s", want)
		}
	}
}

func TestEveryLinkOfThePageLeadsSomewhere(t *testing.T) {
	t.Parallel()
	page := string(Page())
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("two elements have the id %q", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(` href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if m[1] != "/openapi.json" && !ids[strings.TrimPrefix(m[1], "#")] {
			t.Errorf("%s leads nowhere", m[1])
		}
	}
}

func TestThePageStaysSmall(t *testing.T) {
	t.Parallel()
	if n := len(Page()); n > 300_000 {
		t.Errorf("%d bytes", n)
	}
}

func TestTheCommandLineOf(t *testing.T) {
	t.Parallel()
	const auth = " \\\n" + `  -H "Authorization: Bearer $PRISM_API_KEY"`
	id := []parameter{{Name: "id", In: "path", Example: "a b"}}
	for _, c := range []struct {
		name, method string
		params       []parameter
		body, want   string
	}{
		{"a read has no method", "GET", id, "", `curl "$PRISM_URL/v1/a%20b"` + auth},
		{"a post without a body names its method", "POST", id, "", `curl -X POST "$PRISM_URL/v1/a%20b"` + auth},
		{
			"query parameters with an example are sent", "GET", append(id, parameter{Name: "format", In: "query", Example: "csv"}, parameter{Name: "to", In: "query"}), "",
			`curl "$PRISM_URL/v1/a%20b?format=csv"` + auth,
		},
		{
			"a body is quoted for the shell", "PUT", id, `{"a":"it's"}`,
			`curl -X PUT "$PRISM_URL/v1/a%20b"` + auth + " \\\n" + `  -H "Content-Type: application/json"` + " \\\n" + "  -d '{\"a\": \"it'\\''s\"}'",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var body json.RawMessage
			if c.body != "" {
				body = json.RawMessage(c.body)
			}
			got, err := curl(c.method, "/v1/{id}", c.params, body)
			if err != nil || got != c.want {
				t.Errorf("got (%v)\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"text is escaped", "a < b & `<c>`", "<p>a &lt; b &amp; <code>&lt;c&gt;</code></p>\n"},
		{"lines of a paragraph are joined", "a\n**b**\n\nc", "<p>a <strong>b</strong></p>\n<p>c</p>\n"},
		{"a list", "- a\n- `b`", "<ul><li>a</li><li><code>b</code></li></ul>\n"},
		{
			"a table", "| a | b |\n|---|---|\n| 1 | <2> |",
			`<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead>` +
				"<tbody><tr><td>1</td><td>&lt;2&gt;</td></tr></tbody></table></div>\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := string(markdown(c.in)); got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestPaintMarksEveryKindOfJSONAndEscapesIt(t *testing.T) {
	t.Parallel()
	got := string(paint(`{"a<": "b\"&", "c": -1.5e3, "d": [true, null]}`))
	want := `{<span class="n">&#34;a&lt;&#34;</span>: <span class="s">&#34;b\&#34;&amp;&#34;</span>, ` +
		`<span class="n">&#34;c&#34;</span>: <span class="d">-1.5e3</span>, ` +
		`<span class="n">&#34;d&#34;</span>: [<span class="w">true</span>, <span class="w">null</span>]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestLayoutKeepsShortThingsOnALine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", lineWidth)
	for _, c := range []struct{ name, in, want string }{
		{"the whole is always opened", `{"a":1}`, "{\n  \"a\": 1\n}"},
		{"short members are not", `{"a":{"b":[1,"c, \": d"]},"e":[]}`, "{\n  \"a\": {\"b\": [1, \"c, \\\": d\"]},\n  \"e\": []\n}"},
		{"long ones are", `[[1,"` + long + `"],2]`, "[\n  [\n    1,\n    \"" + long + "\"\n  ],\n  2\n]"},
		{"a string alone stays one", `"` + long + `"`, `"` + long + `"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got, err := layout(json.RawMessage(c.in), ""); err != nil || got != c.want {
				t.Errorf("got (%v)\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
	if _, err := layout(json.RawMessage(`{"a":}`), ""); err == nil {
		t.Error("what is not JSON was laid out")
	}
}

func TestLimitsAreShort(t *testing.T) {
	t.Parallel()
	one, many := 1, 100000
	low, high := json.Number("0"), json.Number("1")
	got := strings.Join(limits(schema{
		Enum: []string{"a"}, MinLength: &one, MaxLength: &many, MinItems: &one, MaxItems: &one, Minimum: &low, Maximum: &high, Pattern: "^a$", Default: 0.5,
	}), "|")
	if want := "a|1–100,000 characters|1–1 items|≥ 0|≤ 1|^a$|default 0.5"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
