package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The most rows of a list that are in the document at once.
const mostRows = 200

// view is a page of the console, with its heading. Its act, if there is one, opens what the address alone does not show; it is taken
// again after each change of the window, and then finds most of it open.
type view struct {
	name, path, heading string
	act                 func(*tab)
	brief               bool // its parts are on other pages too, so that a laptop and a phone stand for every look
}

func pages(t *testing.T, server *prism) []view {
	t.Helper()
	a := user{t, server}
	slug, result, run := a.first("/v1/prisms"), a.first("/v1/results"), a.first("/v1/runs")
	failed := a.first("/v1/results?status=failed")
	question := a.labelYesNo(slug)
	return []view{
		{name: "home", path: "/", heading: "Home"},
		{name: "prisms", path: "/prisms", heading: "Prisms"},
		{name: "new prism", path: "/prisms/new", heading: "New prism"},
		{name: "new prism blank", path: "/prisms/new?from=blank", heading: "New prism"},
		{name: "paste", path: "/prisms/new?from=paste", heading: "Paste a prism"},
		{name: "overview", path: "/prisms/" + slug},
		{name: "try", path: "/prisms/" + slug + "/try"},
		{name: "edit", path: "/prisms/" + slug + "/edit"},
		{name: "lens", path: "/prisms/" + slug + "/lens"},
		{name: "runs of a prism", path: "/prisms/" + slug + "/runs"},
		{name: "settings", path: "/prisms/" + slug + "/settings"},
		{name: "reliability", path: "/prisms/" + slug + "/quality?question=" + question},
		{name: "confusion", path: "/prisms/" + slug + "/quality?tab=confusion&question=" + question},
		{name: "coverage", path: "/prisms/" + slug + "/quality?tab=coverage&question=" + question},
		{name: "thresholds", path: "/prisms/" + slug + "/quality?tab=thresholds&question=" + question},
		{name: "versions", path: "/prisms/" + slug + "/quality?tab=versions&question=" + question},
		{name: "calibration", path: "/prisms/" + slug + "/quality?tab=calibration&question=" + question},
		{name: "drift", path: "/prisms/" + slug + "/quality?tab=drift&question=" + question},
		{name: "label", path: "/prisms/" + slug + "/label?question=" + question},
		{name: "results", path: "/results", heading: "Results"},
		{name: "results of a prism", path: "/prisms/" + slug + "/results"},
		{name: "open result", path: "/results?prism=" + slug + "&open=" + result, heading: "Results"},
		{name: "result", path: "/results/" + result},
		{name: "failed result", path: "/results/" + failed},
		{name: "runs", path: "/runs", heading: "Runs"},
		{name: "new run", path: "/runs/new?prism=" + slug, heading: "New run"},
		{name: "run", path: "/runs/" + run},
		{name: "usage", path: "/usage", heading: "Usage"},
		{name: "usage by model", path: "/usage?by=model", heading: "Usage"},
		{name: "models", path: "/models?open=default", heading: "Models", act: func(b *tab) {
			if !eval[bool](b, "document.querySelector('.models-parts') !== null") {
				b.click("button", "Check")
				b.await("document.querySelector('.models-parts') !== null")
			}
		}},
		{name: "keys", path: "/keys", heading: "Keys"},
		{name: "members", path: "/members", heading: "Members"},
		{name: "webhooks", path: "/webhooks", heading: "Webhooks"},
		{name: "audit", path: "/audit", heading: "Audit"},
		{name: "account", path: "/account", heading: "Your account"},
		{name: "nothing", path: "/nothing/here", heading: "Not found"},
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
		b.hold(axe, server, view{name: "sign in", path: "/sign-in", heading: "Sign in"})
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
		// A page that loads itself once more is replaced in between.
		heading, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.querySelector('main h1')?.innerText ?? ''"))
		return err == nil && heading != "" && (p.heading == "" || strings.HasPrefix(heading, p.heading))
	})
	b.settle()
	if p.act != nil {
		p.act(b)
		b.settle()
	}
}

// act takes the act of a view, if it has one.
func (b *tab) act(p view) {
	b.t.Helper()
	if p.act != nil {
		p.act(b)
	}
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
	b.accessible(axe, p)
	b.underAFinger(p)
	b.keepPictures(p)
}

// known are the complaints that a page is allowed: a browser notes each answer that is an error.
func known(p view) []string {
	switch p.name {
	case "sign in", "versions", "sign in refused", "session ended", "missing app": // nobody is signed in; too few labels to compare; a file
		return []string{resourceFailed}
	case "missing page": // React and the router say so too
		return []string{resourceFailed, "console.", "Uncaught"}
	default:
		return nil
	}
}

// signIn opens the link of an operator and confirms it, with the keyboard alone.
func (b *tab) signIn(server *prism, account string) {
	b.t.Helper()
	link := server.link(b.t, account)
	b.do(chromedp.Navigate(link))
	b.find("heading", "Sign in to "+account+"?")
	b.tabTo("button", "Sign in as Operator")
	b.press(kb.Enter)
	b.await("location.pathname === '/console/' && document.querySelector('main h1') !== null")
	token := link[strings.LastIndex(link, "#")+1:]
	if at := eval[string](b, "location.href"); strings.Contains(at, token) || token == link {
		b.t.Errorf("the address after signing in is %s", at)
	}
	b.settle()
}

// link is a new sign-in link of an account.
func (p *prism) link(t *testing.T, account string) string {
	t.Helper()
	printed, err := p.service.Operate(t.Context(), "console", "link", "--print", "--account", account)
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
