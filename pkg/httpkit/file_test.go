package httpkit

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
)

// spec: docs-page
func TestAFileIsSentOnceAndCompressed(t *testing.T) {
	t.Parallel()
	long := []byte(strings.Repeat("export const a = 1;\n", 500))
	app := fiber.New()
	for path, c := range map[string]struct {
		name      string
		body      []byte
		immutable bool
	}{"/page": {"page.html", long, false}, "/asset": {"a-1f.js", long, true}, "/short": {"a.txt", []byte("a"), false}} {
		f, err := NewFile(c.name, c.body, c.immutable)
		if err != nil {
			t.Fatal(err)
		}
		app.Get(path, f.Send)
	}
	get := func(t *testing.T, path string, header ...string) (*http.Response, []byte) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		response, err := app.Test(r)
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
	plain, body := get(t, "/page")
	tag := plain.Header.Get("Etag")
	if plain.StatusCode != 200 || !bytes.Equal(body, long) || plain.Header.Get("Content-Encoding") != "" || tag == "" {
		t.Errorf("%d with %d bytes and %v", plain.StatusCode, len(body), plain.Header)
	}
	for header, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache", "Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff",
	} {
		if got := plain.Header.Get(header); got != want {
			t.Errorf("%s is %q, want %q", header, got, want)
		}
	}
	zipped, body := get(t, "/page", "Accept-Encoding", "gzip")
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if opened, err := io.ReadAll(r); err != nil || !bytes.Equal(opened, long) || len(body) > len(long)/10 || zipped.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("%d bytes, which are %d (%v), with %v", len(body), len(opened), err, zipped.Header)
	}
	for _, tags := range []string{tag, `"other", ` + tag, strings.TrimPrefix(tag, "W/"), "*"} {
		if known, body := get(t, "/page", "If-None-Match", tags); known.StatusCode != 304 || len(body) != 0 || known.Header.Get("Etag") != tag {
			t.Errorf("%s: %d with %d bytes", tags, known.StatusCode, len(body))
		}
	}
	if other, _ := get(t, "/page", "If-None-Match", `"other"`); other.StatusCode != 200 {
		t.Errorf("another tag: %d", other.StatusCode)
	}
	if asset, _ := get(t, "/asset"); asset.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" ||
		asset.Header.Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("the asset has %v", asset.Header)
	}
	if short, body := get(t, "/short", "Accept-Encoding", "gzip"); string(body) != "a" || short.Header.Get("Content-Encoding") != "" {
		t.Errorf("a short file is %q with %v", body, short.Header)
	}
}

func TestAFileOfAnUnknownTypeIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := NewFile("a.exe", nil, false); err == nil {
		t.Error("it is taken")
	}
}
