package browser

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// testAnalyst finds, in the results of a prism, those about billing of which the model is sure, the angriest first, by filters and by
// the head of a column. A view that is saved shows the same to a colleague.
// spec: console-results-page, console-views
func testAnalyst(t *testing.T, server *prism, browser chromium) {
	t.Helper()
	b := newTab(t, browser)
	b.signIn(server, usedAccount)
	b.until("all results are in the index", func() bool {
		var is struct {
			From  *string `json:"indexed_from"`
			Until *string `json:"indexed_until"`
		}
		user{t, server}.into(&is, "GET", "/v1/results?prism=support&sort=-mood@average&limit=1", "", 200)
		return is.From == nil && is.Until == nil
	})
	b.visit(server, view{path: "/results?prism=support", heading: "Results"})
	b.find("table", "Results")
	b.press("/")
	b.clickWithin("Team")
	b.until("the counts are there", func() bool {
		return len(b.all("checkbox", "")) > 0 && strings.HasPrefix(b.named("checkbox", "Billing"), "Billing ")
	})
	b.click("checkbox", "Billing…")
	b.find("button", "Remove the filter: Team is Billing") // the next filter is added to this one
	b.focus("textbox", "From")
	b.press("80" + kb.Enter + kb.Escape)
	b.find("button", "Remove the filter: Team ≥ 80%")
	b.click("button", "Mood")
	b.await("document.querySelector('main').innerText.includes('by Mood, “Happy, grateful')")
	b.click("button", "Mood") // which has the happiest first at the first press
	b.await("document.querySelector('main').innerText.includes('by Mood, “')")
	b.settle()

	want := texts(t, user{t, server}, url.Values{
		"prism": {"support"}, "where": {"team:is:billing", "team:from:0.8"}, "sort": {"mood@average"}, "fields": {"true"}, "limit": {"5"},
	})
	shown := func() []string {
		return eval[[]string](b, "[...document.querySelectorAll('tbody .results-text')].slice(0, 5).map((text) => text.textContent)")
	}
	b.until("the page has the results of the API", func() bool { return slices.Equal(shown(), want) })
	if sorted := eval[string](b, "document.querySelector('th[aria-sort]').innerText + document.querySelector('th[aria-sort]').ariaSort"); sorted != "Moodascending" {
		t.Errorf("the head is sorted as %q", sorted)
	}

	popover("Save view")(b)
	b.focus("textbox", "Name")
	b.press("Billing, sure, angriest first" + kb.Enter)
	b.find("link", "Billing, sure, angriest first")
	b.await("location.search.includes('view=')")

	colleague := newTab(t, browser)
	colleague.signIn(server, usedAccount)
	colleague.visit(server, view{path: "/results", heading: "Results"})
	colleague.click("link", "Billing, sure, angriest first")
	colleague.until("a colleague sees the same", func() bool {
		found := "[...document.querySelectorAll('tbody .results-text')].slice(0, 5).map((text) => text.textContent)"
		return slices.Equal(eval[[]string](colleague, found), want)
	})
	colleague.find("button", "Remove the filter: Team is Billing")

	b.click("button", "Remove the filter: Team ≥ 80%")
	b.await("!location.search.includes('0.8') && location.search.includes('billing')")
	b.wantOnly(server.url, "prism_")
}

// texts are what was sent with the results of a list, as a page shows it.
func texts(t *testing.T, a user, query url.Values) (shown []string) {
	t.Helper()
	var list struct {
		Data []struct {
			Fields json.RawMessage
		}
	}
	a.into(&list, "GET", "/v1/results?"+query.Encode(), "", 200)
	for _, one := range list.Data {
		var fields struct{ Subject, Message string }
		if err := json.Unmarshal(one.Fields, &fields); err != nil {
			t.Fatal(err)
		}
		shown = append(shown, strings.Join(strings.Fields(fields.Subject), " ")+" · "+strings.Join(strings.Fields(fields.Message), " "))
	}
	if len(shown) == 0 {
		t.Fatal("no result is about billing")
	}
	return shown
}
