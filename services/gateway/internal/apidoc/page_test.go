package apidoc

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The tests of what the page shows and does are in test/browser, where a browser runs the script.

func TestThePageLoadsItsOwnFilesAlone(t *testing.T) {
	t.Parallel()
	var loaded []string
	for _, file := range Page() {
		text := string(file.Content)
		for _, banned := range []string{
			"http://", "https://", "srcset=", "<iframe", "<img", "<style", " action=", " formaction=", "@import", "url(", " style=", " onclick=", " onload=", "javascript:",
		} {
			if at := strings.Index(text, banned); at >= 0 {
				t.Errorf("%s: %q: %s", file.Path, banned, text[max(0, at-40):min(len(text), at+60)])
			}
		}
		for _, m := range regexp.MustCompile(`<link [^>]*href="([^"]*)"| src="([^"]*)"|fetch\("([^"]*)"`).FindAllStringSubmatch(text, -1) {
			loaded = append(loaded, m[1]+m[2]+m[3])
		}
	}
	if want := []string{"/docs/page.css", "/docs/page.js", "/openapi.json"}; !slices.Equal(loaded, want) {
		t.Errorf("the page loads %q, want %q", loaded, want)
	}
	if n := strings.Count(string(page), "<script"); n != 1 {
		t.Errorf("%d script elements", n)
	}
}

// TestTheScriptMakesNoMarkupOfText is why no text of the document and no response can become an element.
func TestTheScriptMakesNoMarkupOfText(t *testing.T) {
	t.Parallel()
	if found := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|setHTML|createContextualFragment|\beval\b|\bFunction\b`).FindAll(script, -1); found != nil {
		t.Errorf("the script uses %q", found)
	}
}

func TestThePageIsNamedAsTheDocument(t *testing.T) {
	t.Parallel()
	d, err := parse(Document())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>" + d.Info.Title + "</title>", "</svg>" + d.Info.Title + "</a>", `name="description" content="` + d.Info.Summary + `"`} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestThePageLinksTheDocumentForABrowserWithoutScript(t *testing.T) {
	t.Parallel()
	if !regexp.MustCompile(`<noscript>.*<a href="/openapi.json">.*</noscript>`).Match(page) {
		t.Error("the link is missing")
	}
}

func TestThePageStaysSmall(t *testing.T) {
	t.Parallel()
	n := len(Document())
	for _, file := range Page() {
		n += len(file.Content)
	}
	if n > 450_000 {
		t.Errorf("%d bytes", n)
	}
}

// TestThePageCanSendEveryOperation holds the document to what the page's script sends: a body of JSON or of bytes,
// parameters in three places, and an API key. The script resolves no other kind.
func TestThePageCanSendEveryOperation(t *testing.T) {
	t.Parallel()
	d, err := parse(Document())
	if err != nil {
		t.Fatal(err)
	}
	operations(t, func(t *testing.T, _, _ string, op operation) {
		for _, p := range op.Parameters {
			if !slices.Contains([]string{"path", "query", "header"}, p.In) {
				t.Errorf("the page can't send %s in a %s", p.Name, p.In)
			}
		}
		types := []string{"application/json", "application/octet-stream"}
		if op.RequestBody != nil && (len(op.RequestBody.Content) != 1 || !slices.Contains(types, op.RequestBody.Content[0].Name)) {
			t.Errorf("the page sends a body of one of %q", types)
		}
		asked := d.Security
		if op.Security != nil {
			asked = *op.Security
		}
		for _, together := range asked {
			for name := range together {
				if s, _ := d.Components.SecuritySchemes.find(name); s.Type != "http" || s.Scheme != "bearer" {
					t.Errorf("the page can't send security scheme %s", name)
				}
			}
		}
	})
}
