package browser

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"github.com/chromedp/chromedp/kb"
)

// webhook has a webhook send a test that is delivered and one that fails, to a receiver on this machine. It asks for what does not happen
// here, so that its page stays as it is.
func (a user) webhook() (id string) {
	a.t.Helper()
	var asked atomic.Int32
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) > 1 {
			http.Error(w, "The queue is full.", http.StatusServiceUnavailable)
		}
	}))
	a.t.Cleanup(receiver.Close)
	var made struct{ ID string }
	a.into(&made, "POST", "/v1/webhooks", `{"url":"`+receiver.URL+`/hooks/prism","events":["result.created","key.expiring"],"prisms":["spam"],
		"condition":{"column":"spam","op":"is","value":"yes"},"answers":true}`, 201)
	for n, status := range []string{"delivered", "failed"} {
		a.ask("POST", "/v1/webhooks/"+made.ID+"/test", "", 200)
		a.awaitCount("/v1/webhooks/"+made.ID+"/deliveries?status="+status, 1)
		if int(asked.Load()) != n+1 {
			a.t.Fatalf("the receiver was asked %d times", asked.Load())
		}
	}
	return made.ID
}

// webhooks are the layers of the page of webhooks.
func (u used) webhooks() []view {
	return []view{
		{name: "open webhook", path: "/webhooks?open=" + u.webhook, act: func(b *tab) {
			b.await("document.querySelectorAll('.webhooks-deliveries details').length === 2")
			eval[bool](b, "document.querySelectorAll('.webhooks-deliveries details').forEach((one) => { one.open = true; }), true")
		}},
		{name: "create webhook", path: "/webhooks", act: dialog("Create webhook")},
		{name: "edit webhook", path: "/webhooks?open=" + u.webhook, act: dialog("Edit")},
		{name: "delete webhook", path: "/webhooks?open=" + u.webhook, act: dialog("Delete")},
		{name: "webhook made", path: "/webhooks", act: func(b *tab) {
			if !eval[bool](b, dialogOpen) {
				b.click("button", "Create webhook")
				b.await("document.activeElement.matches('dialog input')")
				b.press("https://example.com/hook" + kb.Enter)
				b.find("heading", "Secret of the webhook")
			}
		}},
	}
}
