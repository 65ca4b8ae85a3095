package console

import (
	"compress/gzip"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/services/console/internal/site"
	"github.com/prism-results/prism/web"
)

// spec: console-files
func TestPagesAndFilesOfTheApp(t *testing.T) {
	t.Parallel()
	r := start(t, Settings{})
	page, script := string(build["index.html"].Data), string(build["assets/index-abc1.js"].Data)
	const html, never, year = "text/html; charset=utf-8", "no-cache", "public, max-age=31536000, immutable"
	for _, test := range []struct {
		path, body, media, cache string
	}{
		{"/console/", page, html, never},
		{"/console/index.html", page, html, never},
		{"/console/sign-in", page, html, never},
		{"/console/prisms/tickets/results", page, html, never},
		{"/console/results?version=1.5&q=a.b", page, html, never},
		{"/console/assets/index-abc1.js", script, "text/javascript; charset=utf-8", year},
		{"/console/assets/icon-abc2.svg", "<svg/>", "image/svg+xml", year},
		{"/console/assets/sans-abc.woff2", "wOF2 letters", "font/woff2", year},
		{"/console/licenses.txt", "who made the letters", "text/plain; charset=utf-8", never},
	} {
		res := r.ask("GET", test.path, "")
		if res.StatusCode != 200 || res.body != test.body {
			t.Errorf("%s: %d %s", test.path, res.StatusCode, res.body)
		}
		for name, want := range map[string]string{"Content-Type": test.media, "Cache-Control": test.cache, "Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff"} {
			if got := strings.Join(res.Header.Values(name), ","); got != want {
				t.Errorf("%s: %s is %q, want %q", test.path, name, got, want)
			}
		}
		head := r.ask("HEAD", test.path, "")
		if head.StatusCode != 200 || head.body != "" || head.ContentLength != int64(len(test.body)) || head.Header.Get("ETag") != res.Header.Get("ETag") {
			t.Errorf("HEAD %s: %d, %d bytes", test.path, head.StatusCode, head.ContentLength)
		}
		same := r.ask("GET", test.path, "", "If-None-Match", `"other", `+res.Header.Get("ETag"))
		if same.StatusCode != 304 || same.body != "" || same.Header.Get("ETag") == "" || same.Header.Get("Cache-Control") != test.cache {
			t.Errorf("%s again: %d %q", test.path, same.StatusCode, same.body)
		}
		if changed := r.ask("GET", test.path, "", "If-None-Match", `W/"other"`); changed.StatusCode != 200 {
			t.Errorf("%s with another tag: %d", test.path, changed.StatusCode)
		}
	}
	for _, path := range []string{
		"/console/assets/index-old.js", "/console/assets/index", "/console/robots.txt", "/console/docs.html", "/console/..%2Findex.html",
		"/console/assets/", "/console/assets/../../console.go",
	} {
		r.ask("GET", path, "").want(t, 404, "Route not found")
	}
	if res := r.ask("GET", "/console", ""); res.StatusCode != 308 || res.Header.Get("Location") != "/console/" {
		t.Errorf("/console: %d %s", res.StatusCode, res.Header.Get("Location"))
	}
	r.ask("POST", "/console/", "{}").want(t, 404, "Route not found")
}

// spec: console-files
func TestFilesAreCompressedOnce(t *testing.T) {
	t.Parallel()
	r := start(t, Settings{})
	res := r.ask("GET", "/console/assets/index-abc1.js", "", "Accept-Encoding", "br, gzip")
	if res.Header.Get("Content-Encoding") != "gzip" || len(res.body) > 200 {
		t.Fatalf("%q, %d bytes", res.Header.Get("Content-Encoding"), len(res.body))
	}
	z, err := gzip.NewReader(strings.NewReader(res.body))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil || string(plain) != string(build["assets/index-abc1.js"].Data) {
		t.Errorf("%d bytes: %v", len(plain), err)
	}
	for name, accepts := range map[string]string{"/console/assets/icon-abc2.svg": "gzip", "/console/assets/index-abc1.js": "gzip;q=0"} {
		if got := r.ask("GET", name, "", "Accept-Encoding", accepts).Header.Get("Content-Encoding"); got != "" {
			t.Errorf("%s with %s is %s", name, accepts, got)
		}
	}
}

// spec: console-policy
func TestEveryPageHasTheStrictPolicy(t *testing.T) {
	t.Parallel()
	r := start(t, Settings{})
	for _, path := range []string{"/console/", "/console/prisms", "/console/assets/index-abc1.js", "/console/config"} {
		res := r.ask("GET", path, "")
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
				"font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
			"Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
		} {
			if got := strings.Join(res.Header.Values(name), "|"); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
}

func TestTheBuildThatIsShippedCanBeServed(t *testing.T) {
	t.Parallel()
	r := start(t, Settings{}, func(d *Deps) { d.Build = web.Dist() })
	if page := r.ask("GET", "/console/prisms", ""); page.StatusCode != 200 || !strings.Contains(page.body, `src="/console/assets/`) {
		t.Error("the page loads no script below /console/assets/")
	}
	for _, words := range []string{"@fontsource-variable/inter", "@fontsource-variable/jetbrains-mono", "SIL OPEN FONT LICENSE", "react-dom"} {
		if text := r.ask("GET", "/console/licenses.txt", ""); text.StatusCode != 200 || !strings.Contains(text.body, words) {
			t.Errorf("the licenses do not have %q: %d", words, text.StatusCode)
		}
	}
}

func TestABuildThatCannotBeServedIsAnError(t *testing.T) {
	t.Parallel()
	for part, files := range map[string]fs.FS{
		"not built":             fstest.MapFS{"assets/a.js": {}},
		"its type is not known": fstest.MapFS{"index.html": {}, "a.exe": {}},
	} {
		if _, err := site.New(files); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v, want %q", err, part)
		}
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	t.Parallel()
	https, here := address(t, "https://prism.example.com"), address(t, "http://127.0.0.1:8080")
	issuer := address(t, "https://login.example.com")
	full := OpenID{Issuer: issuer, ClientID: "prism", ClientSecret: "secret", Scopes: "openid"}
	with := func(change func(*OpenID)) OpenID { o := full; change(&o); return o }
	for _, test := range []struct {
		part string
		s    Settings
	}{
		{"", Settings{}},
		{"", Settings{PublicURL: https, OpenID: full}},
		{"", Settings{PublicURL: here, OpenID: full}},
		{"PRISM_PUBLIC_URL: must begin with https://", Settings{PublicURL: address(t, "http://prism.example.com")}},
		{"PRISM_PUBLIC_URL: must have the form", Settings{PublicURL: address(t, "https://prism.example.com/path")}},
		{"PRISM_PUBLIC_URL: is required", Settings{OpenID: full}},
		{"PRISM_OPENID_ISSUER: is required", Settings{PublicURL: https, OpenID: with(func(o *OpenID) { o.Issuer = config.URL{} })}},
		{"PRISM_OPENID_ISSUER: must begin", Settings{PublicURL: https, OpenID: with(func(o *OpenID) { o.Issuer = address(t, "http://login.example.com") })}},
		{"PRISM_OPENID_CLIENT_SECRET: are required", Settings{PublicURL: https, OpenID: with(func(o *OpenID) { o.ClientSecret = "" })}},
		{"PRISM_OPENID_SCOPES: must have openid", Settings{PublicURL: https, OpenID: with(func(o *OpenID) { o.Scopes = "email" })}},
	} {
		public, err := test.s.publicURL()
		if err == nil {
			_, err = test.s.OpenID.client(public, Deps{Now: time.Now, Log: slog.New(slog.DiscardHandler)}, func(bool) {})
		}
		if (err == nil) != (test.part == "") || err != nil && !strings.Contains(err.Error(), test.part) {
			t.Errorf("%v, want %q", err, test.part)
		}
	}
}
