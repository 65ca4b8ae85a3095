package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// consolePage is the console as a browser uses it: with a cookie, and with keys of its session.
type consolePage struct {
	stack  *stack
	cookie string
}

// ask makes a request below /console, and returns the status, the headers and the body.
func (p *consolePage) ask(t *testing.T, method, path, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.stack.front.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if p.cookie != "" {
		req.Header.Set("Cookie", p.cookie)
	}
	res, err := p.stack.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range res.Cookies() {
		p.cookie = c.Name + "=" + c.Value
	}
	return res.StatusCode, res.Header, string(text)
}

// signIn signs in to an account with an operator's link, whose token it returns.
func (s *stack) signIn(t *testing.T, account string) (p *consolePage, token string) {
	t.Helper()
	link, err := s.store.Operate(t.Context(), "console", "link", "--print", "--account", account, "--url", s.front.URL())
	if err != nil {
		t.Fatal(err)
	}
	address, token, ok := strings.Cut(link, "#")
	if !ok || address != s.front.URL()+"/console/sign-in" {
		t.Fatalf("the link is %s", address)
	}
	p = &consolePage{stack: s}
	// spec: link-owner
	if status, _, body := p.ask(t, "POST", "/console/session/link", `{"token":"`+token+`"}`); status != 200 || p.cookie != "" ||
		!strings.Contains(body, `"name":"`+account+`","member":{"id":"`) || !strings.Contains(body, `"name":"Operator","role":"owner"}`) {
		t.Fatalf("whose the link is: %d %s", status, body)
	}
	if status, _, body := p.ask(t, "POST", "/console/session", `{"token":"`+token+`"}`); status != 204 {
		t.Fatalf("the sign-in: %d %s", status, body)
	}
	return p, token
}

// spec: console-session, operator-link, console-behind-the-gateway, console-files, no-cookie-for-the-api
func TestConsole(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		t.Run("sign in, call with a key of the session, sign out", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			p, token := s.signIn(t, own.account)
			if status, headers, body := p.ask(t, "GET", "/console/sign-in", ""); status != 200 || !strings.Contains(body, "<div id=\"root\">") ||
				!strings.Contains(headers.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Fatalf("the page: %d %s", status, body)
			}
			if status, _, _ := (&consolePage{stack: s}).ask(t, "POST", "/console/session", `{"token":"`+token+`"}`); status != 401 {
				t.Errorf("the link again: %d", status)
			}
			if status, _, _ := (&consolePage{stack: s}).ask(t, "POST", "/console/session/link", `{"token":"`+token+`"}`); status != 401 {
				t.Errorf("whose the used link is: %d", status)
			}
			if status, _, body := p.ask(t, "GET", "/console/session", ""); status != 200 || !strings.Contains(body, `"name":"`+own.account+`"`) {
				t.Errorf("the session: %d %s", status, body)
			}
			status, _, body := p.ask(t, "POST", "/console/session/key", "{}")
			var made struct{ Key string }
			if err := json.Unmarshal([]byte(body), &made); err != nil || status != 200 {
				t.Fatalf("the key: %d %s (%v)", status, body, err)
			}
			session := &client{stack: s, key: made.Key, account: own.account}
			prism := session.triage(t)
			session.create(t, prism, text("from the console")).ok(t)
			if r := own.get(t, "/v1/keys"); strings.Contains(string(r.body), `"session"`) || strings.Count(string(r.body), `"prefix"`) != 1 {
				t.Errorf("the list of keys has the session's: %s", r.body)
			}
			if status, _, _ := p.ask(t, "GET", "/v1/keys", ""); status != 401 {
				t.Errorf("the API takes the cookie: %d", status)
			}
			if status, _, body := p.ask(t, "DELETE", "/console/session", ""); status != 204 {
				t.Fatalf("the sign-out: %d %s", status, body)
			}
			session.get(t, "/v1/prisms").wantStatus(t, 401)
			if status, _, _ := p.ask(t, "POST", "/console/session/key", "{}"); status != 401 {
				t.Errorf("a key after the sign-out: %d", status)
			}
		})
	}, encrypted, spread)
}
