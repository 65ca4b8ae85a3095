package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// testStates opens what no address alone shows: dialogs, menus, pages that wait for the API or are refused by it, pages before
// somebody has signed in, and pages with data of other kinds than the first of each list.
func testStates(t *testing.T, server *prism, browser chromium) {
	t.Helper()
	axe := axe(t)
	used := use(t, server)
	// A tab of its own for each, since a tab has a bound of time.
	t.Run("data of other kinds", func(t *testing.T) {
		b := newTab(t, browser)
		b.signIn(server, usedAccount)
		b.holdEach(axe, server, used.views())
	})
	t.Run("dialogs and menus", func(t *testing.T) {
		for some := range slices.Chunk(append(used.layers(), used.webhooks()...), 10) {
			b := newTab(t, browser)
			b.signIn(server, usedAccount)
			b.holdEach(axe, server, some)
		}
	})
	t.Run("calls without an answer", func(t *testing.T) {
		b := newTab(t, browser)
		b.signIn(server, usedAccount)
		b.inject(`const real = window.fetch; window.fetch = (to, how) => (to instanceof Request ? new Promise(() => {}) : real(to, how));`)
		b.holdEach(axe, server, used.waiting())
	})
	t.Run("calls that fail", func(t *testing.T) {
		b := newTab(t, browser)
		b.signIn(server, usedAccount)
		// Twice, and then there is no answer, so that what says so stays.
		b.inject(`const real = window.fetch, calls = {};
			const away = { error: { code: "unavailable", message: "The results service is away." } };
			window.fetch = (to, how) => {
				if (!(to instanceof Request)) return real(to, how);
				calls[to.url] = (calls[to.url] ?? 0) + 1;
				if (calls[to.url] > 2) return new Promise(() => {});
				return Promise.resolve(Response.json(away, { status: 503, headers: { "X-Request-Id": "req-1" } }));
			};`)
		b.holdEach(axe, server, []view{{name: "a call that is repeated", path: "/results", act: func(b *tab) {
			b.await("document.querySelector('.bar-top.warn') !== null")
		}}})
	})
	t.Run("a session that ended", func(t *testing.T) {
		b := newTab(t, browser)
		b.signIn(server, usedAccount)
		b.holdEach(axe, server, []view{{name: "session ended", path: "/prisms/support/try", act: (*tab).endSession}})
	})
	// spec: console-missing-files
	t.Run("files of another release", func(t *testing.T) {
		b := newTab(t, browser)
		b.signIn(server, usedAccount)
		b.block(server.url + "/console/assets/Runs-*.js")
		b.holdEach(axe, server, []view{{name: "missing page", path: "/runs", heading: "This page could not be loaded"}})
		if n := b.asked(server.url + "/console/runs"); n != 2 {
			t.Errorf("the page was loaded %d times", n)
		}
		b.block(server.url + "/console/assets/index-*.js")
		b.holdEach(axe, server, []view{{name: "missing app", path: "/runs", heading: "Prism could not be loaded"}})
		if n := b.asked(server.url + "/console/runs"); n != 2 {
			t.Errorf("the app was loaded %d times", n)
		}
	})
	t.Run("before signing in", func(t *testing.T) {
		b := newTab(t, browser)
		b.holdEach(axe, server, []view{{name: "sign in refused", path: "/sign-in?error=link_invalid", heading: "Sign in"}})
		// Whether the console takes OpenID Connect is all that it says of itself.
		b.inject(`const real = window.fetch; window.fetch = (to, how) => (to === "/console/config"
			? Promise.resolve(Response.json({ version: "", openid: true })) : real(to, how));`)
		link := server.link(t, usedAccount)
		b.holdEach(axe, server, []view{
			{name: "single sign-on", path: "/sign-in", heading: "Sign in", act: func(b *tab) { b.find("button", "Sign in with single sign-on") }},
			{name: "account by name", path: "/sign-in?account=" + usedAccount, heading: "Sign in to " + usedAccount + "?"},
			{name: "invitation", path: "/sign-in?invited" + link[strings.Index(link, "#"):], heading: "Sign in to " + usedAccount + "?"},
		})
	})
}

// holdEach opens views and holds them to what holds for every page. Their acts show what the address alone does not.
func (b *tab) holdEach(axe string, server *prism, views []view) {
	b.t.Helper()
	for _, v := range views {
		v.brief = true // what the pages have in common is held elsewhere
		b.t.Run(v.name, func(t *testing.T) {
			b := b.in(t)
			b.visit(server, v)
			b.hold(axe, server, v)
		})
	}
}

// inject has each document of the tab run a script before its own.
func (b *tab) inject(script string) {
	b.t.Helper()
	in := page.AddScriptToEvaluateOnNewDocumentParams{Source: script}
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, in); err != nil {
		b.t.Fatal(err)
	}
}

// click presses an element by its role and name, or one whose name begins so if it ends with "…".
func (b *tab) click(role, name string) {
	b.t.Helper()
	b.use(role, name, "function() { const can = this.isConnected && !this.disabled; if (can) this.click(); return can; }")
}

// focus gives the keyboard to an element by its role and name, as click takes it.
func (b *tab) focus(role, name string) {
	b.t.Helper()
	b.use(role, name, "function() { this.focus(); return document.activeElement === this; }")
}

// typeInto types into a field whose name begins so.
func (b *tab) typeInto(field, text string) {
	b.t.Helper()
	b.focus("textbox", field+"…")
	b.press(text)
}

// Layers that are open, and a message that stays because it gets the focus.
const (
	dialogOpen = "document.querySelector('dialog[open]') !== null"
	menuOpen   = "document.querySelector('[role=menu]:popover-open')?.contains(document.activeElement) === true"

	messageHeld = "(document.querySelector('.toast button')?.focus(), document.activeElement?.closest('.toast') instanceof Element)"
)

// dialog is what opens a dialog by the press of buttons, unless one is open.
func dialog(buttons ...string) func(*tab) {
	return func(b *tab) {
		b.t.Helper()
		if eval[bool](b, dialogOpen) {
			return
		}
		for _, name := range buttons {
			b.click("button", name)
		}
		b.await(dialogOpen)
	}
}

// popover is what opens controls beside a button, and presses buttons in them, unless they are open.
func popover(buttons ...string) func(*tab) {
	return func(b *tab) {
		b.t.Helper()
		const open = "document.querySelector('.pop:popover-open') !== null"
		if eval[bool](b, open) {
			return
		}
		b.click("button", buttons[0])
		for _, name := range buttons[1:] {
			b.clickWithin(name)
		}
		b.await("document.querySelector('.pop:popover-open .pop-body') !== null")
	}
}

// clickWithin presses a button of the controls that are open. The head of a column may have the same name.
func (b *tab) clickWithin(name string) {
	b.t.Helper()
	b.await(fmt.Sprintf(`(() => {
		const found = [...document.querySelectorAll(".pop:popover-open .pop-body button")].find((button) => button.textContent === %q);
		found?.click();
		return found !== undefined;
	})()`, name))
}

// chosen is what selects the first result, and opens a dialog about it by the press of buttons, unless one is open.
func chosen(buttons ...string) func(*tab) {
	return func(b *tab) {
		b.t.Helper()
		if !eval[bool](b, dialogOpen) {
			const box = "document.querySelector('tbody input[type=checkbox]')"
			eval[bool](b, box+".checked || "+box+".click(), true")
			dialog(buttons...)(b)
		}
	}
}

// deleteOne asks for the deletion of a result, whose message stays as long as it has the focus: nothing is deleted.
// spec: console-undo
func (b *tab) deleteOne() {
	b.t.Helper()
	if !eval[bool](b, "document.querySelector('.toast') !== null") {
		eval[bool](b, "document.querySelector('tbody input[type=checkbox]').click(), true")
		b.click("button", "Delete 1 result")
	}
	b.await(messageHeld)
}

// typeToTry types a text to try beside a definition, and waits for its answers beside the questions.
// spec: console-live-answers
func (b *tab) typeToTry() {
	b.t.Helper()
	const first = "document.querySelector('.panel textarea')"
	if eval[string](b, first+".value") == "" {
		b.await("(" + first + ".focus(), document.activeElement === " + first + ")")
		b.press("You charged me twice, and nobody answers.")
	}
	b.await("(document.querySelector('.question-live .figure')?.scrollIntoView({ block: 'center' }), document.querySelectorAll('.question-live .figure').length > 1)")
}

// layers are what opens above a page.
func (u used) layers() []view {
	return []view{
		{name: "account menu", path: "/", act: (*tab).openAccountMenu},
		{name: "leave account", path: "/account", act: dialog("Leave account")},
		{name: "copy menu", path: "/results/" + u.result, act: func(b *tab) {
			eval[bool](b, "document.querySelector('[role=menu]:popover-open')?.hidePopover(), true")
			b.click("button", "Copy")
			b.await(menuOpen)
		}},
		{name: "palette", path: "/", act: func(b *tab) {
			if !eval[bool](b, dialogOpen) {
				b.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
				b.await(dialogOpen)
			}
		}},
		{name: "list of keys", path: "/results", act: func(b *tab) {
			if !eval[bool](b, dialogOpen) {
				b.press("?")
				b.await(dialogOpen)
			}
		}},
		{name: "filter menu", path: "/results?prism=support", act: popover("Filter")},
		{name: "filter by an answer", path: "/results?prism=banking77", act: popover("Filter", "Intent")},
		{name: "filter by yes", path: "/results?prism=support", act: popover("Filter", "Refund")},
		{name: "filter by time", path: "/results?prism=support", act: popover("Filter", "Time")},
		{name: "save view", path: "/results?prism=support&q=refund", act: popover("Save view")},
		{name: "columns", path: "/results?prism=support", act: popover("Columns")},
		{name: "deletion to undo", path: "/results?prism=support", act: (*tab).deleteOne},
		{name: "label chosen", path: "/results?prism=support", act: chosen("Label")},
		{name: "run again", path: "/results?prism=support", act: func(b *tab) {
			chosen("Run again")(b)
			b.await("document.querySelector('dialog[open] .facts') !== null")
		}},
		{name: "live answers", path: "/prisms/support/edit?try=true", act: (*tab).typeToTry},
		{name: "delete all that match", path: "/results?prism=support&q=refund", act: chosen("Select all…", "Delete all …")},
		{name: "retry many", path: "/results?prism=banking77&status=failed", act: dialog("Retry all that match")},
		{name: "chosen results", path: "/results?prism=support", act: func(b *tab) {
			const boxes = "[...document.querySelectorAll('tbody input[type=checkbox]')].slice(0, 3)"
			eval[bool](b, boxes+".forEach((box) => box.checked || box.click()), true")
		}},
		{name: "download results", path: "/results?prism=support", act: dialog("Download")},
		{name: "create key", path: "/keys", act: dialog("Create key")},
		{name: "key made", path: "/keys", act: func(b *tab) {
			if !eval[bool](b, dialogOpen) {
				b.click("button", "Create key")
				b.await("document.activeElement.matches('dialog input')")
				b.press("production" + kb.Enter)
				b.find("heading", "Key production")
			}
		}},
		{name: "open key", path: "/keys?open=" + u.key},
		{name: "revoke key", path: "/keys?open=" + u.key, act: dialog("Revoke key")},
		{name: "invite", path: "/members", act: dialog("Invite member")},
		{name: "open member", path: "/members?open=" + u.member},
		{name: "remove member", path: "/members?open=" + u.member, act: dialog("Remove member")},
		{name: "open entry", path: "/audit?open=" + u.entry},
		{name: "retention", path: "/prisms/banking77/settings", act: func(b *tab) {
			if !eval[bool](b, dialogOpen) {
				b.use("textbox", "Days", "function() { this.focus(); this.select(); return document.activeElement === this; }")
				b.press("30" + kb.Enter)
				b.await(dialogOpen)
			}
		}},
		{name: "toast", path: "/prisms/spam/settings", act: (*tab).archive},
		{name: "review", path: "/prisms/support/edit?from=1&review=true", act: func(b *tab) { b.await(dialogOpen) }},
		{name: "cancel run", path: "/runs/" + u.paused, act: dialog("Cancel")},
		{name: "limits", path: "/runs/" + u.paused, act: dialog("Limits")},
		{name: "download run", path: "/runs/" + u.paused, act: dialog("Download")},
		{name: "stop watching", path: "/prisms/banking77/quality?tab=drift&question=intent", act: dialog("Stop watching")},
		{name: "set reference", path: "/prisms/banking77/quality?tab=drift&question=intent", act: dialog("Change reference")},
	}
}

// waiting are pages whose calls have no answer yet.
func (u used) waiting() (views []view) {
	for _, v := range []view{
		{name: "home", path: "/"},
		{name: "prisms", path: "/prisms"},
		{name: "prism", path: "/prisms/support"},
		{name: "results", path: "/results"},
		{name: "result", path: "/results/" + u.result},
		{name: "runs", path: "/runs"},
		{name: "run", path: "/runs/" + u.paused},
		{name: "usage", path: "/usage"},
		{name: "models", path: "/models"},
		{name: "keys", path: "/keys"},
		{name: "webhooks", path: "/webhooks"},
		{name: "audit", path: "/audit"},
	} {
		v.name = "waiting for " + v.name
		v.act = func(b *tab) { // a skeleton is seen after 200 ms
			b.await("[...document.querySelectorAll('main .skeleton')].every((shown) => getComputedStyle(shown).opacity === '1')")
		}
		views = append(views, v)
	}
	return views
}

// openAccountMenu opens the menu of the account, on a phone in the menu of the pages.
func (b *tab) openAccountMenu() {
	b.t.Helper()
	eval[bool](b, "document.querySelector('[role=menu]:popover-open')?.hidePopover(), true")
	if eval[bool](b, "getComputedStyle(document.querySelector('.side-body')).display === 'none'") {
		b.click("button", "Menu")
		b.await("getComputedStyle(document.querySelector('.side-body')).display !== 'none'")
	}
	b.click("button", usedAccount+"…")
	b.await(menuOpen)
}

// archive archives the prism in view, whose toast stays as long as its button has the focus.
func (b *tab) archive() {
	b.t.Helper()
	const undo, archived = "document.querySelector('.toast button') !== null", "document.querySelector('.page-head .badge') !== null"
	if eval[bool](b, undo) {
		return
	}
	if eval[bool](b, archived) {
		b.click("button", "Unarchive prism")
		b.until("the prism is not archived", func() bool { return !eval[bool](b, archived) })
	}
	b.click("button", "Archive prism")
	b.await(messageHeld)
	b.until("the prism is archived", func() bool { return eval[bool](b, archived) })
}

// endSession ends the session behind the page's back while something is typed, and has the page find out.
func (b *tab) endSession() {
	b.t.Helper()
	if eval[bool](b, "document.querySelector('.bar-top.warn') !== null") {
		return
	}
	b.typeInto("Message", "The kettle that I ordered leaks. I want my money back.")
	if status := eval[int](b, "fetch('/console/session', { method: 'DELETE' }).then((r) => r.status)"); status != 204 {
		b.t.Fatal(fmt.Errorf("the session's end is %d", status))
	}
	b.click("button", "Ask the model")
	b.find("button", "Sign in")
	// Nobody reads the body of the call that was refused, so its end is not told.
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.open)
}
