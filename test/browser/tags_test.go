package browser

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// testTags labels answers with several right options, sees what each option is worth, and saves a version with one option more and with
// examples that are taken from the labels.
// spec: console-tags, console-examples
func testTags(t *testing.T, server *prism, browser chromium) {
	t.Helper()
	into := func(value any, method, path, body string, want int) {
		t.Helper()
		if err := json.Unmarshal(server.call(t, method, path, body, want), value); err != nil {
			t.Fatal(err)
		}
	}
	server.call(t, "POST", "/v1/prisms", `{"slug": "feedback", "fields": [{"key": "text", "label": "Text"}],
		"questions": [{"key": "topics", "type": "tags", "text": "What is it about?", "options": [
			{"key": "room", "label": "Room"}, {"key": "staff", "label": "Staff"}, {"key": "food", "label": "Food"}]}]}`, 201)
	var labels []string
	var last struct{ ID string }
	right := []string{`["room"]`, `["food"]`, `["staff", "food"]`, `[]`}
	for i := range 36 {
		into(&last, "POST", "/v1/prisms/feedback/results", fmt.Sprintf(`{"text": "The room was clean, but breakfast was cold on day %d."}`, i), 200)
		if i < 32 {
			labels = append(labels, fmt.Sprintf(`{"result_id": %q, "question": "topics", "value": %s}`, last.ID, right[i%len(right)]))
		}
	}
	server.call(t, "POST", "/v1/prisms/feedback/labels", `{"labels": [`+strings.Join(labels, ",")+`], "sample": "random"}`, 200)

	b := newTab(t, browser)
	b.signIn(server, firstAccount)
	says := func(words ...string) {
		t.Helper()
		for _, each := range words {
			b.until("the page says "+each, func() bool { return strings.Contains(eval[string](b, "document.body.innerText"), each) })
		}
	}
	b.visit(server, view{path: "/results/" + last.ID})
	says("What is it about?", "Room", "Staff", "Food")
	b.visit(server, view{path: "/results?prism=feedback&open=" + last.ID, heading: "Results"})
	says("What is it about?", "Staff")

	b.visit(server, view{path: "/prisms/feedback/label?question=topics"})
	b.await("document.querySelector('.label-text') !== null")
	b.press("12" + kb.Enter)
	b.until("the label is stored", func() bool {
		var stored struct {
			Data []struct {
				Labels map[string]struct{ Value []string }
			}
		}
		into(&stored, "GET", "/v1/prisms/feedback/labels?question=topics&limit=100", "", 200)
		found := 0
		for _, r := range stored.Data {
			if slices.Equal(r.Labels["topics"].Value, []string{"room", "staff"}) {
				found++
			}
		}
		return found == 1 && len(stored.Data) == 33
	})

	b.visit(server, view{path: "/prisms/feedback/quality?question=topics"})
	b.find("region", "Precision and recall of each option")
	b.click("link", "Room")
	b.find("heading", "What is it about? Room")
	b.await("location.search.includes('option=room')")

	b.visit(server, view{path: "/prisms/feedback/edit"})
	b.click("button", "Add option")
	b.await("document.activeElement.matches('.editor input')")
	b.press("Noise")
	b.click("button", "Take from labels")
	b.find("dialog", "Take examples from labels")
	b.focus("textbox", "How many")
	b.press("a", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	b.press("99" + kb.Enter)
	says("A whole number from 1 to 40")
	b.press("a", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	b.press("4" + kb.Enter)
	b.find("list", "Examples that are taken")
	b.click("button", "Use 4 examples")
	b.click("button", "Review and save")
	b.click("button", "Save version 2")
	b.until("the version is saved", func() bool {
		var is struct {
			Latest  int `json:"latest_version"`
			Version struct {
				Questions []struct{ Options []struct{ Key string } }
				Examples  []struct {
					Result  string `json:"result_id"`
					Answers map[string][]string
				}
			}
		}
		into(&is, "GET", "/v1/prisms/feedback", "", 200)
		if is.Latest < 2 {
			return false
		}
		if e := is.Version.Examples; len(e) != 4 || e[0].Result == "" || len(is.Version.Questions[0].Options) != 4 {
			t.Errorf("version 2 is %+v", is.Version)
		}
		return true
	})
	b.wantOnly(server.url, "prism_")
}
