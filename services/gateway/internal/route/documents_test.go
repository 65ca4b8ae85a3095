package route

import (
	"bytes"
	"io"
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/services/gateway/internal/apidoc"
)

// spec: docs-page
func TestThePageIsServedWithAStrictPolicy(t *testing.T) {
	t.Parallel()
	app := fiber.New()
	apiDocuments(app, false)
	want := map[string]string{
		"/docs": "text/html; charset=utf-8", "/docs/page.css": "text/css; charset=utf-8", "/docs/page.js": "text/javascript; charset=utf-8",
	}
	if len(apidoc.Page()) != len(want) {
		t.Fatalf("the page has %d files", len(apidoc.Page()))
	}
	for _, file := range apidoc.Page() {
		response, err := app.Test(httptest.NewRequest(fiber.MethodGet, file.Path, nil))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != fiber.StatusOK || !bytes.Equal(body, file.Content) {
			t.Errorf("%s: %d with %d bytes (%v)", file.Path, response.StatusCode, len(body), err)
		}
		for header, value := range map[string]string{
			"Content-Type":           want[file.Path],
			"X-Content-Type-Options": "nosniff",
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
				"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		} {
			if got := response.Header.Get(header); got != value {
				t.Errorf("%s: %s is %q, want %q", file.Path, header, got, value)
			}
		}
	}
}

// spec: console-root
func TestABrowserBeginsAtTheConsoleIfThereIsOne(t *testing.T) {
	t.Parallel()
	for console, want := range map[bool]string{true: "/console/", false: "/docs"} {
		app := fiber.New()
		apiDocuments(app, console)
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
