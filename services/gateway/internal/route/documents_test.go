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
	apiDocuments(app)
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
