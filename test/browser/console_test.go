package browser

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
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
	failed := first("/v1/results?status=failed")
	question := label(t, server, slug)
	return []view{
		{name: "home", path: "/", heading: "Home"},
		{name: "prisms", path: "/prisms", heading: "Prisms"},
		{name: "new prism", path: "/prisms/new", heading: "New prism"},
		{name: "new prism blank", path: "/prisms/new?from=blank", heading: "New prism"},
		{name: "paste", path: "/prisms/new?from=paste", heading: "Paste a prism"},
		{name: "try", path: "/prisms/" + slug},
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
		{name: "keys", path: "/keys", heading: "Keys"},
		{name: "members", path: "/members", heading: "Members"},
		{name: "audit", path: "/audit", heading: "Audit"},
		{name: "account", path: "/account", heading: "Your account"},
		{name: "nothing", path: "/nothing/here", heading: "Not found"},
	}
}

// label labels 100 results of the latest version of a prism, as many as reliability takes, and returns the yes_no question.
func label(t *testing.T, server *prism, slug string) string {
	t.Helper()
	ask := func(method, path, body string, into any) {
		if err := json.Unmarshal(server.callAs(t, server.used, method, "/v1/prisms/"+slug+path, body, 200), into); err != nil {
			t.Fatal(err)
		}
	}
	var is struct {
		Latest  int `json:"latest_version"`
		Version struct {
			Questions []struct{ Key, Type string }
		}
	}
	ask("GET", "", "", &is)
	at := slices.IndexFunc(is.Version.Questions, func(q struct{ Key, Type string }) bool { return q.Type == "yes_no" })
	if at < 0 {
		t.Fatalf("%s has no yes_no question", slug)
	}
	question := is.Version.Questions[at].Key
	var queue struct {
		Data []struct {
			ID string `json:"result_id"`
		}
	}
	ask("GET", fmt.Sprintf("/label-queue?question=%s&version=%d&limit=100", question, is.Latest), "", &queue)
	var labels []string
	for i, r := range queue.Data {
		labels = append(labels, fmt.Sprintf(`{"result_id":%q,"question":%q,"value":%v}`, r.ID, question, i%3 == 0))
	}
	var added struct{ Labelled int }
	ask("POST", "/labels", `{"labels":[`+strings.Join(labels, ",")+`],"sample":"random"}`, &added)
	if added.Labelled != 100 {
		t.Fatalf("%d results were labelled", added.Labelled)
	}
	return question
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
		b.act(p)
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
