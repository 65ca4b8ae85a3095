package console

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/testkit/metrictest"
)

// publicURL is where browsers find the console. Tests ask it at its own address, with that Host.
const publicURL = "http://localhost:8080"

// browser is a browser with cookies of its own.
type browser struct {
	*running
	cookies map[string]string
}

func (r *running) browser() *browser { return &browser{r, map[string]string{}} }

func (b *browser) ask(method, path, body string, headers ...string) answer {
	b.t.Helper()
	var cookies []string
	for name, value := range b.cookies {
		cookies = append(cookies, name+"="+value)
	}
	res := b.running.ask(method, path, body, append(headers, "Host", "localhost:8080", "Cookie", strings.Join(cookies, "; "))...)
	for _, c := range res.Cookies() {
		if c.Value == "" {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c.Value
		}
	}
	return res
}

// begin starts a sign-in, and returns the address at the provider.
func (b *browser) begin() string {
	b.t.Helper()
	return b.ask("GET", "/console/openid/start?return=/console/prisms%3Fq=a", "").want(b.t, 303, "").Header.Get("Location")
}

// back opens the address to which the provider sends the browser, and returns the page that it ends at.
func (b *browser) back(callback string) string {
	b.t.Helper()
	return b.ask("GET", callback, "").want(b.t, 303, "").Header.Get("Location")
}

// startOpenID runs a console with a provider.
func startOpenID(t *testing.T, change ...func(*Deps)) (*running, *provider) {
	t.Helper()
	p := newProvider(t)
	r := start(t, Settings{PublicURL: address(t, publicURL), OpenID: OpenID{
		Issuer: address(t, p.url), ClientID: clientID, ClientSecret: clientSecret, Scopes: "openid profile email", Claims: "groups admin",
	}}, change...)
	r.console.members[subject] = true
	return r, p
}

const expired, refused = "/console/sign-in?error=openid_expired", "/console/sign-in?error=openid_failed"

// spec: openid-sign-in
func TestAMemberSignsInByOpenIDConnect(t *testing.T) {
	t.Parallel()
	r, p := startOpenID(t)
	r.ask("GET", "/console/config", "").want(t, 200, `"openid":true`)
	p.claims = map[string]any{"groups": []string{"a", "b"}, "admin": true, "other": "x"}
	b := r.browser()
	at := b.begin()
	if !strings.HasPrefix(at, p.url+"/authorize?") {
		t.Fatalf("the browser is sent to %s", at)
	}
	if page := b.back(p.authorize(at)); page != "/console/prisms?q=a" {
		t.Errorf("the sign-in ends at %s", page)
	}
	b.ask("GET", "/console/session", "").want(t, 200, "Operator")
	if len(b.cookies) != 1 {
		t.Errorf("the browser keeps %v", b.cookies)
	}
	want := contract.Identity{
		Issuer: p.url, Subject: subject, Name: "Ada", Email: "ada@example.com", EmailVerified: true,
		Claims: map[string][]string{"groups": {"a", "b"}, "admin": {"true"}},
	}
	if got := r.console.seen[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("the identity is %+v, want %+v", got, want)
	}
	if n := metrictest.Value(t, r.metrics, "prism_console_sign_ins_total openid ok"); n != 1 {
		t.Errorf("%v sign-ins are counted", n)
	}
}

// spec: openid-identity
func TestWhatTheIDTokenDoesNotSayIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name             string
		claims, userinfo map[string]any
		who, email       string
		verified         bool
	}{
		{"userinfo", map[string]any{"name": nil, "email": nil, "email_verified": nil}, map[string]any{"sub": subject, "name": "Eve", "email": "e@x", "email_verified": true}, "Eve", "e@x", true},
		{"userinfo of somebody else", map[string]any{"name": nil}, map[string]any{"sub": "other", "name": "Eve"}, "ada@example.com", "ada@example.com", true},
		{"a user name", map[string]any{"name": nil, "preferred_username": "ada"}, nil, "ada", "ada@example.com", true},
		{"verified as a text", map[string]any{"email_verified": "true"}, nil, "Ada", "ada@example.com", true},
		{"not verified", map[string]any{"email_verified": false}, nil, "Ada", "ada@example.com", false},
		{"not said", map[string]any{"email_verified": nil}, nil, "Ada", "ada@example.com", false},
		{"verified, but another address", map[string]any{"email_verified": nil, "name": nil}, map[string]any{"sub": subject, "email": "other@x", "email_verified": true}, "ada@example.com", "ada@example.com", false},
		{"verified before there is an address", map[string]any{"email": nil}, map[string]any{"sub": subject, "email": "e@x"}, "Ada", "e@x", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, p := startOpenID(t)
			p.claims, p.userinfo = test.claims, test.userinfo
			for i := range 8 { // the order of the claims, which is not that of a map, decides nothing
				b := r.browser()
				b.back(p.authorize(b.begin()))
				if len(r.console.seen) <= i {
					t.Fatal("nobody is signed in")
				}
				if got := r.console.seen[i]; got.Name != test.who || got.Email != test.email || got.EmailVerified != test.verified {
					t.Errorf("the identity is %+v", got)
				}
			}
		})
	}
}

// spec: openid-transaction
func TestAnAnswerIsForTheBrowserThatAskedAlone(t *testing.T) {
	t.Parallel()
	r, p := startOpenID(t)
	attacker, victim := r.browser(), r.browser()
	theirs := p.authorize(attacker.begin())
	if page := victim.back(theirs); page != expired {
		t.Errorf("a browser that began no sign-in ends at %s", page)
	}
	own := p.authorize(victim.begin())
	if page := victim.back(theirs); page != expired {
		t.Errorf("with the state of another browser: %s", page)
	}
	if page := victim.back(strings.Replace(own, "state=", "state=x", 1)); page != expired {
		t.Errorf("with another state: %s", page)
	}
	victim.ask("GET", "/console/session", "").want(t, 401, "")
	if page := victim.back(own); page != "/console/prisms?q=a" {
		t.Errorf("the sign-in of the victim cannot be finished: %s", page)
	}
	if page := victim.back(own); page != expired {
		t.Errorf("the same answer again: %s", page)
	}
}

// spec: openid-transaction
func TestATransactionIsSealedAndEnds(t *testing.T) {
	t.Parallel()
	now := time.Now()
	r, p := startOpenID(t, func(d *Deps) { d.Now = func() time.Time { return now } })
	b := r.browser()
	answer := p.authorize(b.begin())
	sealed := b.cookies["prism-openid"]
	for _, text := range []string{"state", "verifier", url.QueryEscape("/console/prisms")} {
		if strings.Contains(sealed, text) {
			t.Errorf("the cookie shows %s", text)
		}
	}
	for name, changed := range map[string]string{"changed": sealed[:20] + "A" + sealed[21:], "cut": sealed[:len(sealed)-4], "no text": "%%%", "empty": ""} {
		b.cookies["prism-openid"] = changed
		if changed == sealed {
			b.cookies["prism-openid"] = sealed[:20] + "B" + sealed[21:]
		}
		if page := b.back(answer); page != expired {
			t.Errorf("%s: %s", name, page)
		}
	}
	b.cookies["prism-openid"] = sealed
	now = now.Add(10 * time.Minute)
	if page := b.back(answer); page != expired {
		t.Errorf("after ten minutes: %s", page)
	}
	now = now.Add(-time.Second)
	if page := b.back(answer); page != "/console/prisms?q=a" {
		t.Errorf("before: %s", page)
	}
}

// A code is used once, also if the browser kept the cookie of its sign-in.
//
// spec: openid-transaction
func TestACodeIsUsedOnce(t *testing.T) {
	t.Parallel()
	r, p := startOpenID(t)
	b := r.browser()
	answer := p.authorize(b.begin())
	kept := b.cookies["prism-openid"]
	b.back(answer)
	b.cookies = map[string]string{"prism-openid": kept}
	if page := b.back(answer); page != refused {
		t.Errorf("the replayed code ends at %s", page)
	}
	if n := len(r.console.seen); n != 1 {
		t.Errorf("%d sign-ins", n)
	}
	code := strings.Split(strings.Split(answer, "code=")[1], "&")[0]
	if strings.Contains(r.log.String(), code) {
		t.Error("the log has the code")
	}
}

// spec: openid-sign-in
func TestAnIDTokenThatIsNotForThisSignInSignsNobodyIn(t *testing.T) {
	t.Parallel()
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*provider){
		"another nonce":    func(p *provider) { p.claims["nonce"] = "other" },
		"no nonce":         func(p *provider) { p.claims["nonce"] = nil },
		"another audience": func(p *provider) { p.claims["aud"] = "another-client" },
		"another issuer":   func(p *provider) { p.claims["iss"] = "https://evil.example.com" },
		"expired":          func(p *provider) { p.claims["exp"] = time.Now().Add(-time.Minute).Unix() },
		"not yet valid":    func(p *provider) { p.claims["nbf"] = time.Now().Add(time.Hour).Unix() },
		"another key":      func(p *provider) { p.key = other },
		"no signature":     func(p *provider) { p.sign = func(claims []byte) string { return unsigned("none", claims, nil) } },
		"signed by the secret": func(p *provider) {
			p.sign = func(claims []byte) string { return unsigned("HS256", claims, []byte(clientSecret)) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, p := startOpenID(t)
			spoil(p)
			b := r.browser()
			if page := b.back(p.authorize(b.begin())); page != refused {
				t.Errorf("the sign-in ends at %s", page)
			}
			if len(r.console.seen) > 0 || r.console.count() > 0 || b.cookies["prism"] != "" {
				t.Error("somebody is signed in")
			}
			if n := metrictest.Value(t, r.metrics, "prism_console_sign_ins_total openid refused"); n != 1 {
				t.Errorf("%v refused sign-ins are counted", n)
			}
		})
	}
}

// spec: openid-errors
func TestAFailedSignInSaysWhy(t *testing.T) {
	t.Parallel()
	r, p := startOpenID(t)
	sign := func(change func(answer string) string) string {
		b := r.browser()
		return b.back(change(p.authorize(b.begin())))
	}
	with := func(parameter string) func(string) string {
		return func(answer string) string { return strings.Replace(answer, "code=", parameter+"&x=", 1) }
	}
	if page := sign(with("error=access_denied")); page != "/console/sign-in?error=openid_denied" {
		t.Errorf("denied: %s", page)
	}
	if page := sign(with("error=server_error")); page != refused {
		t.Errorf("an error of the provider: %s", page)
	}
	if page := sign(with("none=1")); page != refused {
		t.Errorf("no code: %s", page)
	}
	delete(r.console.members, subject)
	if page := sign(func(answer string) string { return answer }); page != "/console/sign-in?error=not_a_member" {
		t.Errorf("nobody's member: %s", page)
	}
	if without := start(t, Settings{}); without != nil {
		without.ask("GET", "/console/openid/start", "").want(t, 404, "Route not found")
		without.ask("GET", "/console/openid/callback", "").want(t, 404, "Route not found")
		without.ask("POST", "/console/openid/start", "{}").want(t, 404, "Route not found")
	}
}

// spec: openid-provider-away
func TestAProviderThatComesBackIsFound(t *testing.T) {
	t.Parallel()
	now := time.Now()
	r, p := startOpenID(t, func(d *Deps) { d.Now = func() time.Time { return now } })
	const available = "prism_console_openid_available"
	away := func(is bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.away = is
	}
	away(true)
	if got, is := metrictest.Values(t, r.metrics)[available]; is {
		t.Errorf("before the first sign-in: %v", got)
	}
	if page := r.browser().begin(); page != "/console/sign-in?error=openid_unavailable" {
		t.Errorf("a provider that is away: %s", page)
	}
	if got := metrictest.Value(t, r.metrics, available); got != 0 {
		t.Errorf("while the provider is away: %v", got)
	}
	r.ask("POST", "/console/openid/start", "{}").want(t, 503, "Service Unavailable")
	r.ask("GET", "/console/config", "").want(t, 200, `"openid":true`)
	r.ask("POST", "/console/session", `{"token":"`+linkText+`"}`).want(t, 204, "")

	away(false)
	now = now.Add(3 * time.Second)
	for range 3 {
		b := r.browser()
		if page := b.back(p.authorize(b.begin())); page != "/console/prisms?q=a" {
			t.Errorf("the provider is back: %s", page)
		}
	}
	if got := metrictest.Value(t, r.metrics, available); got != 1 || p.lookUps != 1 {
		t.Errorf("available is %v after %d look-ups", got, p.lookUps)
	}
	b := r.browser()
	answer := p.authorize(b.begin())
	away(true)
	if page := b.back(answer); page != "/console/sign-in?error=openid_unavailable" {
		t.Errorf("a provider that goes away during a sign-in: %s", page)
	}
	if got := metrictest.Value(t, r.metrics, available); got != 0 {
		t.Errorf("available is %v after a code that was not taken", got)
	}
}

// spec: openid-sign-in, claim-grant
func TestAnAccountIsNamedByThePageAlone(t *testing.T) {
	t.Parallel()
	r, p := startOpenID(t)
	at := func(begun answer) string { return strings.TrimSuffix(strings.TrimPrefix(begun.body, `{"url":"`), `"}`) }
	b := r.browser()
	const named = `{"account":"acme & co","return":"/console/keys"}`
	b.ask("POST", "/console/openid/start", named, "Sec-Fetch-Site", "cross-site").want(t, 403, "")
	begun := b.ask("POST", "/console/openid/start", named, "Sec-Fetch-Site", "same-origin").want(t, 200, `{"url":"`+p.url)
	if page := b.back(p.authorize(at(begun))); page != "/console/keys" {
		t.Errorf("the sign-in ends at %s", page)
	}
	linked := b.ask("GET", "/console/openid/start?account=evil&return=/console/prisms", "").want(t, 303, "") // anybody can lead here
	b.back(p.authorize(linked.Header.Get("Location")))
	if want := []string{"acme & co", ""}; !slices.Equal(r.console.accounts, want) {
		t.Errorf("the sign-ins name %q, want %q", r.console.accounts, want)
	}
	b.ask("POST", "/console/openid/start", `{"account":"`+strings.Repeat("a", 201)+`"}`).want(t, 400, "account: must have at most 200 bytes")
}

// spec: openid-sign-in
func TestAnInvitationIsTakenByOpenIDConnect(t *testing.T) {
	t.Parallel()
	r, p := startOpenID(t)
	delete(r.console.members, subject)
	b := r.browser()
	begun := b.ask("POST", "/console/openid/start", `{"token":"`+linkText+`","return":"/console/keys"}`).want(t, 200, `{"url":"`+p.url)
	at := strings.TrimSuffix(strings.TrimPrefix(begun.body, `{"url":"`), `"}`)
	if strings.Contains(at, linkText) {
		t.Error("the provider is told the link")
	}
	if page := b.back(p.authorize(at)); page != "/console/keys" {
		t.Errorf("the sign-in ends at %s", page)
	}
	b.ask("GET", "/console/session", "").want(t, 200, "")
	again := r.browser()
	again.ask("POST", "/console/openid/start", `{"token":"`+linkText+`"}`)
	begun = again.ask("POST", "/console/openid/start", `{"token":"`+linkText+`"}`).want(t, 200, "")
	at = strings.TrimSuffix(strings.TrimPrefix(begun.body, `{"url":"`), `"}`)
	if page := again.back(p.authorize(at)); page != "/console/sign-in?error=link_invalid" {
		t.Errorf("the used invitation ends at %s", page)
	}
	b.ask("POST", "/console/openid/start", `{"token":"short"}`).want(t, 401, "This sign-in link was used")
	b.ask("POST", "/console/openid/start", `{}`, "Sec-Fetch-Site", "cross-site").want(t, 403, "")
}

// spec: openid-sign-in, return-page
func TestASignInLeadsToPagesOfTheConsoleAlone(t *testing.T) {
	t.Parallel()
	r, p := startOpenID(t)
	for page, want := range map[string]string{
		"/console/results/1?x=y": "/console/results/1?x=y", "": "/console/", "https://evil.example.com/console/": "/console/",
		"///evil.example/../console/x": "/console/x",
	} {
		b := r.browser()
		at := b.ask("GET", "/console/openid/start?return="+url.QueryEscape(page), "").Header.Get("Location")
		if got := b.back(p.authorize(at)); got != want {
			t.Errorf("%q leads to %q, want %q", page, got, want)
		}
	}
}
