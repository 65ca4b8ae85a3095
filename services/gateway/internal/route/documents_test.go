package route

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/services/gateway/internal/apidoc"
)

func documentsOf(t *testing.T) *fiber.App {
	t.Helper()
	d, err := ReadDocuments(fstest.MapFS{
		"docs.html": {Data: []byte("<!doctype html>")}, "index.html": {Data: []byte("the console")},
		"assets/docs-1f.js": {Data: []byte("export {}")}, "assets/docs-2e.css": {Data: []byte("p {}")},
		"assets/sans-3d.woff2": {Data: []byte("wOF2")},
	})
	if err != nil {
		t.Fatal(err)
	}
	app := fiber.New()
	apiDocuments(app, d, false)
	return app
}

func got(t *testing.T, app *fiber.App, path string) (*http.Response, []byte) {
	t.Helper()
	response, err := app.Test(httptest.NewRequest(http.MethodGet, path, nil))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	return response, body
}

// spec: docs-page
func TestThePageIsServedWithAStrictPolicy(t *testing.T) {
	t.Parallel()
	response, body := got(t, documentsOf(t), "/docs")
	if response.StatusCode != fiber.StatusOK || string(body) != "<!doctype html>" {
		t.Errorf("%d with %q", response.StatusCode, body)
	}
	for header, want := range map[string]string{
		"Content-Type":           "text/html; charset=utf-8",
		"X-Content-Type-Options": "nosniff",
		"Referrer-Policy":        "no-referrer",
		"Cache-Control":          "no-cache",
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
			"font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
	} {
		if got := response.Header.Get(header); got != want {
			t.Errorf("%s is %q, want %q", header, got, want)
		}
	}
}

func TestTheFilesOfThePageAreServedAndNothingElseIs(t *testing.T) {
	t.Parallel()
	app := documentsOf(t)
	for path, want := range map[string]string{
		"/docs/assets/docs-1f.js": "text/javascript; charset=utf-8", "/docs/assets/docs-2e.css": "text/css; charset=utf-8",
		"/docs/assets/sans-3d.woff2": "font/woff2",
	} {
		response, _ := got(t, app, path)
		if response.StatusCode != fiber.StatusOK || response.Header.Get("Content-Type") != want {
			t.Errorf("%s: %d with %s", path, response.StatusCode, response.Header.Get("Content-Type"))
		}
		if got := response.Header.Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
			t.Errorf("%s is kept as %q", path, got)
		}
	}
	for _, path := range []string{"/docs/assets/", "/docs/assets/other.js", "/docs/assets/..%2Findex.html", "/docs/index.html", "/docs/docs.html"} {
		if response, body := got(t, app, path); response.StatusCode == fiber.StatusOK {
			t.Errorf("%s is %q", path, body)
		}
	}
}

// spec: openapi-document
func TestTheDocumentIsServedAsItIs(t *testing.T) {
	t.Parallel()
	if response, body := got(t, documentsOf(t), "/openapi.json"); !bytes.Equal(body, apidoc.Document()) ||
		response.Header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("%d bytes of %s", len(body), response.Header.Get("Content-Type"))
	}
}

func TestPagesThatAreNotBuiltAreAnError(t *testing.T) {
	t.Parallel()
	if _, err := ReadDocuments(fstest.MapFS{"index.html": {}}); err == nil {
		t.Error("they are served")
	}
}

// spec: console-root
func TestABrowserBeginsAtTheConsoleIfThereIsOne(t *testing.T) {
	t.Parallel()
	for console, want := range map[bool]string{true: "/console/", false: "/docs"} {
		app := fiber.New()
		apiDocuments(app, Documents{}, console)
		request := httptest.NewRequest(fiber.MethodGet, "/", nil)
		request.Header.Set(fiber.HeaderAccept, "text/html,application/xhtml+xml,*/*;q=0.8")
		response, err := app.Test(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := response.Header.Get(fiber.HeaderLocation); response.StatusCode != fiber.StatusSeeOther || got != want {
			t.Errorf("%d %s, want %s", response.StatusCode, got, want)
		}
	}
}

// spec: no-cookie-for-the-api
func TestACookieIsNoKey(t *testing.T) {
	t.Parallel()
	app := fiber.New()
	Register(app, Deps{Results: noResults{}})
	for _, name := range []string{"prism", "__Host-prism", "Authorization"} {
		request := httptest.NewRequest(fiber.MethodGet, "/v1/keys", nil)
		request.Header.Set(fiber.HeaderCookie, name+"=prism_Y0iENc6a7mXhVdYk8wVb8m1bS6mT4x2Y0aK3Zq")
		response, err := app.Test(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || !bytes.Contains(body, []byte("Authentication required")) {
			t.Errorf("with the cookie %s: %s (%v)", name, body, err)
		}
	}
}
