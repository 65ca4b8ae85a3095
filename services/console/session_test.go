package console

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/metrictest"
)

// spec: console-session
func TestALinkBeginsASession(t *testing.T) {
	t.Parallel()
	r := start(t, Settings{})
	r.ask("GET", "/console/session", "").want(t, 401, "You are not signed in.")
	r.ask("POST", "/console/session/key", "{}").want(t, 401, "You are not signed in.")
	cookie := r.signedIn()

	found := r.ask("GET", "/console/session", "", "Cookie", cookie).want(t, 200, `"name":"demo"`)
	var session struct {
		Member    struct{ ID, Name, Role string }
		Accounts  []struct{ ID, Name string }
		ExpiresAt time.Time `json:"expires_at"`
	}
	if err := json.Unmarshal([]byte(found.body), &session); err != nil {
		t.Fatal(err)
	}
	if session.Member.Role != "owner" || session.Member.Name != "Operator" || len(session.Accounts) != 1 || session.ExpiresAt.IsZero() {
		t.Errorf("the session is %s", found.body)
	}
	made := r.ask("POST", "/console/session/key", `{"account":"`+accountID.String()+`"}`, "Cookie", cookie).want(t, 200, keyText)
	for _, part := range []string{`"expires_at":`, `"account":{"id":"` + accountID.String(), `"role":"owner"`} {
		made.want(t, 200, part)
	}
	if made.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("a key may be kept: %s", made.Header.Get("Cache-Control"))
	}
	r.ask("POST", "/console/session/key", `{"account":"`+prism.UUID{9}.String()+`"}`, "Cookie", cookie).want(t, 401, "not signed in")
	r.ask("POST", "/console/session/key", `{"account":"nope"}`, "Cookie", cookie).want(t, 400, "account: must be a UUID")
	r.ask("GET", "/console/config", "").want(t, 200, `{"version":"v1.2.3","openid":false}`)

	out := r.ask("DELETE", "/console/session", "", "Cookie", cookie).want(t, 204, "")
	if cleared := out.Cookies()[0]; cleared.Value != "" || !cleared.Expires.Before(time.Now()) {
		t.Errorf("the cookie stays: %v", cleared)
	}
	r.ask("GET", "/console/session", "", "Cookie", cookie).want(t, 401, "")
	r.ask("DELETE", "/console/session", "").want(t, 204, "")
}

// spec: link-owner, sign-in-attempts
func TestALinkTellsWhoseItIsBeforeItIsUsed(t *testing.T) {
	t.Parallel()
	r := start(t, Settings{})
	for range 2 {
		told := r.ask("POST", "/console/session/link", `{"token":"`+linkText+`"}`).want(t, 200,
			`{"account":{"id":"`+accountID.String()+`","name":"demo","member":{"id":"`+memberID.String()+`","name":"Operator","role":"owner"}},`+
				`"expires_at":"2027-01-15T08:00:00Z"}`)
		if told.Header.Get("Set-Cookie") != "" || r.console.count() > 0 {
			t.Error("somebody is signed in")
		}
	}
	for _, token := range []string{otherText, "short"} {
		r.ask("POST", "/console/session/link", `{"token":"`+token+`"}`).want(t, 401, "This sign-in link was used or has expired.")
	}
	r.ask("POST", "/console/session/link", `{"token":"`+linkText+`"}`, "Sec-Fetch-Site", "cross-site").want(t, 403, "")
	r.signedIn()
	r.ask("POST", "/console/session/link", `{"token":"`+linkText+`"}`).want(t, 401, "")
	for r.ask("POST", "/console/session/link", `{"token":"`+otherText+`"}`).StatusCode == 401 {
	}
	r.ask("POST", "/console/session", `{"token":"`+otherText+`"}`).want(t, 503, "")
}

// spec: session-leave, console-same-origin
func TestAMemberLeavesAnAccount(t *testing.T) {
	t.Parallel()
	r := start(t, Settings{})
	cookie := r.signedIn()
	leave := func(body string, headers ...string) answer {
		return r.ask("POST", "/console/session/leave", body, headers...)
	}
	own := `{"account":"` + accountID.String() + `"}`
	leave(own).want(t, 401, "You are not signed in.")
	leave(own, "Cookie", cookie, "Sec-Fetch-Site", "cross-site").want(t, 403, "")
	leave(`{}`, "Cookie", cookie).want(t, 401, "")
	leave(`{"account":"nope"}`, "Cookie", cookie).want(t, 400, "account: must be a UUID")
	leave(`{"account":"`+prism.UUID{9}.String()+`"}`, "Cookie", cookie).want(t, 401, "")
	leave(own, "Cookie", cookie).want(t, 204, "")
	r.ask("GET", "/console/session", "", "Cookie", cookie).want(t, 401, "")
}

// spec: session-cookie
func TestTheCookieIsForThisHostAndTLSAlone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		settings Settings
		headers  []string
		cookie   string
		secure   bool
	}{
		{"on this machine", Settings{}, nil, "prism", false},
		{"on this machine by name", Settings{}, []string{"Host", "localhost:8080"}, "prism", false},
		{"on this machine behind TLS", Settings{}, []string{"X-Forwarded-Proto", "https"}, "__Host-prism", true},
		{"elsewhere", Settings{}, []string{"Host", "prism.example.com"}, "__Host-prism", true},
		{"a name that only begins like this machine", Settings{}, []string{"Host", "localhost.example.com"}, "__Host-prism", true},
		{"a public address", Settings{PublicURL: address(t, "https://prism.example.com")}, nil, "__Host-prism", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := start(t, test.settings)
			in := r.ask("POST", "/console/session", `{"token":"`+linkText+`"}`, test.headers...).want(t, 204, "")
			c := in.Cookies()[0]
			if c.Name != test.cookie || c.Secure != test.secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" ||
				c.Domain != "" || len(c.Value) != 32 || c.MaxAge < 6*24*3600 || c.MaxAge > 7*24*3600 {
				t.Errorf("the cookie is %s", in.Header.Get("Set-Cookie"))
			}
			r.ask("GET", "/console/session", "", append(test.headers, "Cookie", c.Name+"="+c.Value)...).want(t, 200, "")
			other := map[bool]string{true: "prism", false: "__Host-prism"}[test.secure]
			r.ask("GET", "/console/session", "", append(test.headers, "Cookie", other+"="+c.Value)...).want(t, 401, "")
		})
	}
}

// A cookie that somebody put into the browser is not the session that a sign-in continues.
//
// spec: session-rotation
func TestASignInBeginsANewSession(t *testing.T) {
	t.Parallel()
	r := start(t, Settings{})
	planted := "prism=" + otherText
	r.console.sessions[sha256.Sum256([]byte(otherText))] = contract.Session{}
	in := r.ask("POST", "/console/session", `{"token":"`+linkText+`"}`, "Cookie", planted).want(t, 204, "")
	if in.cookie(t, "prism") == planted {
		t.Error("the session has the text of the cookie that was there")
	}
	r.ask("GET", "/console/session", "", "Cookie", planted).want(t, 401, "")
	if n := r.console.count(); n != 1 {
		t.Errorf("there are %d sessions", n)
	}
}

// spec: console-session
func TestALinkThatIsNoneSignsNobodyIn(t *testing.T) {
	t.Parallel()
	r := start(t, Settings{})
	r.signedIn()
	for _, token := range []string{linkText, otherText, "", "short", linkText + "x", strings.Repeat("é", 16)} {
		res := r.ask("POST", "/console/session", `{"token":"`+token+`"}`).want(t, 401, "This sign-in link was used or has expired.")
		if res.Header.Get("Set-Cookie") != "" {
			t.Errorf("%q sets a cookie", token)
		}
	}
	for name, body := range map[string]string{"no JSON": "{", "a list": "[]", "twice": `{"token":"a","token":"b"}`} {
		if res := r.ask("POST", "/console/session", body); res.StatusCode != 400 {
			t.Errorf("%s: %d", name, res.StatusCode)
		}
	}
	r.ask("POST", "/console/session", `{}`, "Content-Type", "text/plain").want(t, 415, "")
	r.ask("POST", "/console/session", `token=x`, "Content-Type", "application/x-www-form-urlencoded").want(t, 415, "")
}

// spec: console-session
func TestARoleThatChangesShowsAtOnce(t *testing.T) {
	t.Parallel()
	r := start(t, Settings{})
	cookie := r.signedIn()
	r.console.mu.Lock()
	r.console.role = prism.Reader
	r.console.mu.Unlock()
	r.ask("POST", "/console/session/key", "", "Cookie", cookie).want(t, 200, `"role":"reader"`)
	r.ask("GET", "/console/session", "", "Cookie", cookie).want(t, 200, `"role":"reader"`)
}

// spec: console-session
func TestASessionThatEndedElsewhereIsOver(t *testing.T) {
	t.Parallel()
	r := start(t, Settings{})
	cookie := r.signedIn()
	r.console.mu.Lock()
	clear(r.console.sessions) // expired, or its member was removed
	r.console.mu.Unlock()
	r.ask("GET", "/console/session", "", "Cookie", cookie).want(t, 401, "")
	r.ask("POST", "/console/session/key", "", "Cookie", cookie).want(t, 401, "")
}

// spec: console-same-origin
func TestAChangeFromAnotherOriginIsRefused(t *testing.T) {
	t.Parallel()
	public := Settings{PublicURL: address(t, "https://prism.example.com")}
	own, tls := "prism.example.com", "https"
	for _, test := range []struct {
		name     string
		settings Settings
		headers  []string
		refused  bool
	}{
		{"the page itself", Settings{}, []string{"Sec-Fetch-Site", "same-origin"}, false},
		{"another site", Settings{}, []string{"Sec-Fetch-Site", "cross-site"}, true},
		{"another host of the site", Settings{}, []string{"Sec-Fetch-Site", "same-site"}, true},
		{"typed by the user", Settings{}, []string{"Sec-Fetch-Site", "none"}, true},
		{"another site that claims our origin", Settings{}, []string{"Host", own, "Origin", "https://" + own, "Sec-Fetch-Site", "cross-site"}, true},
		{"our origin", Settings{}, []string{"Host", own, "Origin", "https://" + own, "X-Forwarded-Proto", tls}, false},
		{"another origin", Settings{}, []string{"Host", own, "Origin", "https://evil.example.com"}, true},
		{"another port", Settings{}, []string{"Host", own, "Origin", "https://" + own + ":444"}, true},
		{"our host in plain text", Settings{}, []string{"Host", own, "Origin", "http://" + own}, true},
		{"no origin", Settings{}, []string{"Host", own, "Origin", "null"}, true},
		{"no browser", Settings{}, nil, false},
		{"a proxy that changes Host", public, []string{"Host", "10.0.0.1:8080", "Origin", "https://" + own}, false},
		{"a proxy that changes Host, which is not known", Settings{}, []string{"Host", "10.0.0.1:8080", "Origin", "https://" + own}, true},
		{"another origin behind a proxy", public, []string{"Host", "10.0.0.1:8080", "Origin", "https://evil.example.com"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := start(t, test.settings)
			for _, call := range []struct{ method, path, body string }{
				{"POST", "/console/session", `{"token":"` + linkText + `"}`}, {"POST", "/console/session/key", ""}, {"DELETE", "/console/session", ""},
			} {
				res := r.ask(call.method, call.path, call.body, test.headers...)
				if refused := res.StatusCode == 403; refused != test.refused {
					t.Errorf("%s %s: %d %s", call.method, call.path, res.StatusCode, res.body)
				}
				if test.refused && !strings.Contains(res.body, "This request comes from another origin.") {
					t.Errorf("%s %s: %s", call.method, call.path, res.body)
				}
			}
			if signedIn := r.console.count() > 0; signedIn && test.refused {
				t.Error("the link was used up")
			}
		})
	}
}

// spec: sign-in-attempts
func TestAnAddressHasAFewSignIns(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	r := start(t, Settings{}, func(d *Deps) { d.Now = func() time.Time { return now } })
	guess := func(from string) answer {
		return r.ask("POST", "/console/session", `{"token":"`+otherText+`"}`, "X-Forwarded-For", from)
	}
	for n := range 30 {
		if res := guess("203.0.113.1"); res.StatusCode != 401 {
			t.Fatalf("attempt %d: %d", n, res.StatusCode)
		}
	}
	limited := guess("203.0.113.1").want(t, 503, "Service Unavailable")
	if limited.Header.Get("Retry-After") != "2" {
		t.Errorf("Retry-After is %q", limited.Header.Get("Retry-After"))
	}
	r.ask("POST", "/console/session", `{"token":"`+linkText+`"}`, "X-Forwarded-For", "203.0.113.1").want(t, 503, "")
	guess("203.0.113.2").want(t, 401, "")
	now = now.Add(2 * time.Second)
	guess("203.0.113.1").want(t, 401, "")
	guess("203.0.113.1").want(t, 503, "")
}

// spec: unknown-sessions
func TestAnAddressHasAFewUnknownSessions(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	r := start(t, Settings{}, func(d *Deps) { d.Now = func() time.Time { return now } })
	cookie := r.signedIn()
	calls := []struct{ method, path string }{{"GET", "/console/session"}, {"POST", "/console/session/key"}, {"DELETE", "/console/session"}}
	ask := func(n int, cookie, from string) answer {
		return r.ask(calls[n%3].method, calls[n%3].path, "", "Cookie", cookie, "X-Forwarded-For", from)
	}
	const unknown = "prism=" + otherText
	for n := range 20 {
		if res := ask(n, unknown, "203.0.113.1"); res.StatusCode == 503 {
			t.Fatalf("call %d: %d", n, res.StatusCode)
		}
	}
	looked := r.console.looks()
	for n := range 3 {
		limited := ask(n, unknown, "203.0.113.1").want(t, 503, "Service Unavailable")
		if limited.Header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After is %q", limited.Header.Get("Retry-After"))
		}
	}
	if n := r.console.looks(); n != looked {
		t.Errorf("%d sessions were looked up beyond the limit", n-looked)
	}
	for range 40 { // a session that is known counts for nothing, nor does a text that is none
		ask(0, cookie, "203.0.113.2").want(t, 200, "")
		ask(0, "prism=none", "203.0.113.2").want(t, 401, "")
	}
	ask(0, cookie, "203.0.113.1").want(t, 200, "") // behind the same address
	ask(2, cookie, "203.0.113.1").want(t, 204, "")
	ask(2, cookie, "203.0.113.1").want(t, 503, "")
	now = now.Add(time.Second / 20)
	ask(0, unknown, "203.0.113.1").want(t, 401, "")
	ask(0, unknown, "203.0.113.1").want(t, 503, "")
}

// spec: error-service-unavailable
func TestResultsThatAreAwaySignNobodyOut(t *testing.T) {
	t.Parallel()
	r := start(t, Settings{})
	cookie := r.signedIn()
	r.console.mu.Lock()
	r.console.away = fmt.Errorf("the database: %w", contract.ErrUnavailable)
	r.console.mu.Unlock()
	r.ask("GET", "/console/session", "", "Cookie", cookie).want(t, 503, "Service Unavailable")
	out := r.ask("DELETE", "/console/session", "", "Cookie", cookie).want(t, 503, "")
	if out.Header.Get("Set-Cookie") != "" {
		t.Error("the cookie is gone, and the session is not")
	}
}

func TestTheMetricsCountSignInsKeysAndSignOuts(t *testing.T) {
	t.Parallel()
	r := start(t, Settings{})
	cookie := r.signedIn()
	r.ask("POST", "/console/session", `{"token":"`+otherText+`"}`)
	r.ask("POST", "/console/session/key", "", "Cookie", cookie)
	r.ask("POST", "/console/session/key", "")
	r.ask("POST", "/console/session", "{}", "Sec-Fetch-Site", "cross-site")
	r.ask("DELETE", "/console/session", "", "Cookie", cookie)
	for series, want := range map[string]float64{
		"prism_console_sign_ins_total link ok": 1, "prism_console_sign_ins_total link refused": 1,
		"prism_console_sign_ins_total openid ok": 0, "prism_console_session_keys_total ok": 1,
		"prism_console_session_keys_total refused": 1, "prism_console_sign_outs_total": 1, "prism_console_cross_origin_total": 1,
	} {
		if got := metrictest.Value(t, r.metrics, series); got != want {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
}

// address is a setting.
func address(t *testing.T, text string) config.URL {
	t.Helper()
	type settings struct {
		URL config.URL `env:"URL" schemes:"https http"`
	}
	env := config.Environment{Name: "test", Get: func(string) (string, bool) { return text, true }}
	s, err := config.Parse[settings](nil, env, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return s.URL
}
