package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The most rows of a list that are in the document at once.
const mostRows = 200

// view is a page of the console, with its heading. A %s is a prism, a result or a run.
type view struct{ name, path, heading string }

func pages(t *testing.T, server *prism) []view {
	t.Helper()
	first := func(path string) string {
		var list struct {
			Data []struct{ ID, Slug string }
		}
		if err := json.Unmarshal(server.callAs(t, server.used, "GET", path, "", 200), &list); err != nil || len(list.Data) == 0 {
			t.Fatalf("%s has nothing (%v)", path, err)
		}
		if list.Data[0].Slug != "" {
			return list.Data[0].Slug
		}
		return list.Data[0].ID
	}
	slug, result, run := first("/v1/prisms"), first("/v1/results"), first("/v1/runs")
	return []view{
		{"home", "/", "Home"},
		{"prisms", "/prisms", "Prisms"},
		{"new prism", "/prisms/new", "New prism"},
		{"new prism blank", "/prisms/new?from=blank", "New prism"},
		{"try", "/prisms/" + slug, ""},
		{"edit", "/prisms/" + slug + "/edit", ""},
		{"lens", "/prisms/" + slug + "/lens", ""},
		{"settings", "/prisms/" + slug + "/settings", ""},
		{"results", "/results", "Results"},
		{"results of a prism", "/results?prism=" + slug, "Results"},
		{"result", "/results/" + result, ""},
		{"runs", "/runs", "Runs"},
		{"new run", "/runs/new?prism=" + slug, "New run"},
		{"run", "/runs/" + run, ""},
		{"usage", "/usage", "Usage"},
		{"usage by model", "/usage?by=model", "Usage"},
		{"keys", "/keys", "Keys"},
		{"members", "/members", "Members"},
		{"audit", "/audit", "Audit"},
		{"account", "/account", "Your account"},
		{"nothing", "/nothing/here", "Not found"},
	}
}

// testConsole opens every page of the console.
func testConsole(t *testing.T, server *prism, browser chromium) {
	t.Helper()
	axe := axe(t)
	t.Run("shows every page without a complaint of the browser, to all who read it", func(t *testing.T) {
		b := newTab(t, browser)
		b.do(chromedp.EmulateViewport(1280, 720))
		b.do(chromedp.Navigate(server.url + "/console/sign-in"))
		b.find("heading", "Sign in")
		b.hold(axe, server, view{"sign in", "/sign-in", "Sign in"})
		b.signIn(server, usedAccount)
		for _, p := range pages(t, server) {
			t.Run(p.name, func(t *testing.T) {
				b := b.in(t)
				b.visit(server, p)
				b.hold(axe, server, p)
			})
		}
	})
}

// in is the tab for a part of a test.
func (b *tab) in(t *testing.T) *tab {
	return &tab{t: t, ctx: b.ctx, notes: b.notes}
}

// visit opens a page by its address and waits until it is there.
func (b *tab) visit(server *prism, p view) {
	b.t.Helper()
	b.forget()
	b.do(chromedp.EmulateViewport(1280, 720), chromedp.Navigate(server.url+"/console"+p.path))
	b.until("the page has its heading", func() bool {
		heading := eval[string](b, "document.querySelector('main h1')?.innerText ?? ''")
		return heading != "" && (p.heading == "" || strings.HasPrefix(heading, p.heading))
	})
	b.settle()
}

// hold holds the page in view to what holds for every page.
func (b *tab) hold(axe string, server *prism, p view) {
	b.t.Helper()
	if rows := eval[int](b, "document.querySelectorAll('tbody tr, [role=row]').length"); rows > mostRows {
		b.t.Errorf("%d rows are in the document", rows)
	}
	if n := eval[int](b, "document.querySelectorAll('h1').length"); n != 1 {
		b.t.Errorf("%d elements are h1", n)
	}
	if title := eval[string](b, "document.title"); !strings.HasSuffix(title, "Prism") || title == "Prism" {
		b.t.Errorf("the title is %q", title)
	}
	b.wantOnly(server.url, "prism_", known(p)...)
	b.accessible(axe)
	b.keepPictures(p.name)
}

// known are the complaints that a page is allowed: a browser notes each answer that is an error.
func known(p view) []string {
	if p.name == "sign in" {
		return []string{resourceFailed}
	}
	return nil
}

// signIn opens the link of an operator, which is used once.
func (b *tab) signIn(server *prism, account string) {
	b.t.Helper()
	link := server.link(b.t, account)
	b.do(chromedp.Navigate(link))
	b.find("heading", "Home")
	token := link[strings.LastIndex(link, "#")+1:]
	if at := eval[string](b, "location.href"); strings.Contains(at, token) || token == link {
		b.t.Errorf("the address after signing in is %s", at)
	}
	b.settle()
}

// link is a new sign-in link of an account.
func (p *prism) link(t *testing.T, account string) string {
	t.Helper()
	printed, err := p.service.Operate(t.Context(), "console", "link", "--account", account)
	if err != nil {
		t.Fatal(err)
	}
	for word := range strings.FieldsSeq(printed) {
		if at := strings.Index(word, "/console/sign-in#"); at >= 0 {
			return p.url + word[at:]
		}
	}
	t.Fatal(fmt.Errorf("no link in %q", printed))
	return ""
}
