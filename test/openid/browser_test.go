package openid

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

// browser is a browser with cookies of its own. It follows no redirect by itself.
type browser struct {
	*world
	t    *testing.T
	http *http.Client
	jar  *cookiejar.Jar
}

func (w *world) browser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &browser{w, t, &http.Client{Jar: jar, CheckRedirect: stay}, jar}
}

// response is a response, and the address to which it leads.
type response struct {
	status   int
	location string
	body     string
}

func (b *browser) do(method, address, contentType, body string) response {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", contentType)
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := b.http.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	r := response{status: res.StatusCode, body: string(text)}
	if at, err := res.Location(); err == nil {
		r.location = at.String()
	}
	return r
}

// ask makes a request of the console's pages.
func (b *browser) ask(method, path, body string) response {
	b.t.Helper()
	return b.do(method, b.prism.URL()+path, "application/json", body)
}

// begin starts a sign-in, and returns the address at the provider.
func (b *browser) begin() string {
	b.t.Helper()
	return b.beginAt("return=/console/keys")
}

// beginAt is begin with the parameters of a link.
func (b *browser) beginAt(parameters string) string {
	b.t.Helper()
	r := b.ask("GET", "/console/openid/start?"+parameters, "")
	if r.status != http.StatusSeeOther || !strings.HasPrefix(r.location, b.issuer+"/") {
		b.t.Fatalf("the sign-in begins with %d, %s", r.status, r.location)
	}
	return r.location
}

// beginInvited starts the sign-in of somebody who has an invitation.
func (b *browser) beginInvited(link client.Secret) string {
	b.t.Helper()
	_, token, _ := strings.Cut(link.Reveal(), "#")
	return b.beginFor(fmt.Sprintf(`{"token":%q,"return":"/console/keys"}`, token))
}

// beginFor starts a sign-in as the page of sign-ins does.
func (b *browser) beginFor(body string) string {
	b.t.Helper()
	r := b.ask("POST", "/console/openid/start", body)
	var begun struct{ URL string }
	if err := json.Unmarshal([]byte(r.body), &begun); err != nil || !strings.HasPrefix(begun.URL, b.issuer+"/") {
		b.t.Fatalf("the sign-in begins with %d, %s", r.status, r.body)
	}
	return begun.URL
}

var (
	form  = regexp.MustCompile(`<form[^>]* action="([^"]+)" method="post">\s*<input type="hidden" name="prompt" value="(\w+)"/>`)
	abort = regexp.MustCompile(`href="([^"]+/abort)"`)
)

// authorize is a person at the provider, who signs in and consents, or with the login "" refuses. It returns the address to which
// the provider sends the browser.
func (b *browser) authorize(address, login string) (callback string) {
	b.t.Helper()
	r := b.do("GET", address, "", "")
	for range 10 {
		if strings.HasPrefix(r.location, b.prism.URL()+"/") {
			return r.location
		}
		found := form.FindStringSubmatch(r.body)
		refuse := abort.FindStringSubmatch(r.body)
		switch {
		case r.location != "":
			r = b.do("GET", r.location, "", "")
		case found == nil || refuse == nil:
			b.t.Fatalf("the provider shows %d, %s", r.status, r.body)
		case login == "":
			r = b.do("GET", refuse[1], "", "")
		default:
			filled := url.Values{"prompt": {found[2]}, "login": {login}, "password": {"any"}}
			r = b.do("POST", found[1], "application/x-www-form-urlencoded", filled.Encode())
		}
	}
	b.t.Fatalf("the provider leads from page to page, and now to %s", r.location)
	return ""
}

// finish opens the address to which the provider sends the browser, and returns the page of the console that it leads to.
func (b *browser) finish(callback string) (page string) {
	b.t.Helper()
	r := b.do("GET", callback, "", "")
	if r.status != http.StatusSeeOther {
		b.t.Fatalf("the provider's answer is answered with %d, %s", r.status, r.body)
	}
	return strings.TrimPrefix(r.location, b.prism.URL())
}

// signIn signs a person in, whose page is the one that was asked for.
func (b *browser) signIn(login string) {
	b.t.Helper()
	if page := b.finish(b.authorize(b.begin(), login)); page != ownPage {
		b.t.Fatalf("the sign-in of %s leads to %s", login, page)
	}
}

// cookie is the value of a cookie that the browser sends to Prism.
func (b *browser) cookie(name string) string {
	for _, c := range b.jar.Cookies(b.at()) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (b *browser) setCookie(name, value string) {
	b.jar.SetCookies(b.at(), []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}

func (b *browser) at() *url.URL {
	u, err := url.Parse(b.prism.URL() + "/console/")
	if err != nil {
		b.t.Fatal(err)
	}
	return u
}

// wantSession fails unless somebody is signed in, and returns the name and role.
func (b *browser) wantSession(name string, role client.Role) {
	b.t.Helper()
	r := b.ask("GET", "/console/session", "")
	var session struct {
		Member struct {
			Name string
			Role client.Role
		}
	}
	if err := json.Unmarshal([]byte(r.body), &session); err != nil || r.status != http.StatusOK ||
		session.Member.Name != name || session.Member.Role != role {
		b.t.Errorf("the session is %d, %s", r.status, r.body)
	}
}

// account is an account of a session.
type account struct{ ID, Name string }

func (b *browser) accounts() []account {
	b.t.Helper()
	r := b.ask("GET", "/console/session", "")
	var session struct{ Accounts []account }
	if err := json.Unmarshal([]byte(r.body), &session); err != nil || r.status != http.StatusOK {
		b.t.Fatalf("the session is %d, %s", r.status, r.body)
	}
	return session.Accounts
}

// wantAccounts fails unless the session is of these accounts in this order.
func (b *browser) wantAccounts(names ...string) {
	b.t.Helper()
	var got []string
	for _, a := range b.accounts() {
		got = append(got, a.Name)
	}
	if !slices.Equal(got, names) {
		b.t.Errorf("the session is of %q, want %q", got, names)
	}
}

func (b *browser) wantNobody() {
	b.t.Helper()
	if r := b.ask("GET", "/console/session", ""); r.status != http.StatusUnauthorized {
		b.t.Errorf("somebody is signed in: %d, %s", r.status, r.body)
	}
}

// api is the API with a key of the browser's session.
func (b *browser) api() *client.Client {
	b.t.Helper()
	r := b.ask("POST", "/console/session/key", "{}")
	var made struct{ Key string }
	if err := json.Unmarshal([]byte(r.body), &made); err != nil || r.status != http.StatusOK {
		b.t.Fatalf("a key is %d, %s", r.status, r.body)
	}
	return newClient(b.t, b.prism.URL(), made.Key)
}
